"""Secrets and personal data are taken out before anything is kept: a store layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memoranda.errors import AwaitsApproval
from memoranda.light_dataclasses import replace
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    Move,
    Put,
    Removal,
    Store,
    Version,
    WrapperStore,
)

if TYPE_CHECKING:
    from memoranda.policies.redaction import Redaction
    from memoranda.policies.redactor import Redactor
    from memoranda.text.splice import Splice


class RedactSecrets(WrapperStore):
    """A store layer: what is written is judged as the text that would result.

    Contents are masked or refused as the policy says (``SecretFound``); the names of new places are
    refused. An edit is judged inside the store's transaction, on the lines that it changes: what it
    leaves alone was judged when it was written. ``Context.notice`` is told what was taken out. Reads
    are not touched. The rules are loaded with the first write.
    """

    def __init__(self, inner: Store, redaction: Redaction) -> None:
        super().__init__(inner)
        self._redaction = redaction

    @cached_property
    def _redactor(self) -> Redactor:
        from memoranda.policies.redactor import Redactor

        return Redactor(self._redaction)

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        removals: dict[int, Removal] = {}
        cleaned = [self._cleaned(change, place, removals) for place, change in enumerate(changes)]
        try:
            versions = await self.inner.apply(cleaned, context)
        except AwaitsApproval:  # it is kept, too, without what was taken out
            _tell(removals, context)
            raise
        _tell(removals, context)
        return versions

    def _cleaned(self, change: Change, place: int, removals: dict[int, Removal]) -> Change:
        """The change without what may not be kept; ``removals`` gets what was taken out of it."""
        redactor = self._redactor
        if isinstance(change, Put):
            redactor.check_name(change.path)
            masked = redactor.mask(change.content)
            if masked is None:
                return change
            removals[place] = Removal(change.path, masked.whats)
            return replace(change, content=masked.data)
        if isinstance(change, Edit):
            judged = change

            def edit(old: bytes) -> Splice:
                # Only the last run of an edit counts.
                removals.pop(place, None)
                splice = judged.edit(old)
                masked = redactor.mask_edit(old, splice)
                if masked is None:
                    return splice
                removals[place] = Removal(judged.path, masked.whats, masked.splice)
                return masked.splice

            return replace(change, edit=edit)
        if isinstance(change, Move):
            redactor.check_name(change.target)
        return change


def _tell(removals: dict[int, Removal], context: Context) -> None:
    if context.notice is not None:
        for place in sorted(removals):
            context.notice(removals[place])


def hidden_names(redaction: Redaction) -> Callable[[str], str]:
    """What makes a path fit to be noted: secrets in it are masked. Loads the rules when called."""
    if not redaction.looks:
        return str
    redactor: Redactor | None = None

    def hide(path: str) -> str:
        nonlocal redactor
        if redactor is None:
            from memoranda.policies.redactor import Redactor

            redactor = Redactor(redaction)
        return redactor.mask_name(path)

    return hide
