"""Writes to chosen paths, and marked ones, wait for a person: a store layer."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Final

from memoranda.errors import AwaitsApproval, IsADirectory, NotFound, Refused
from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.policies.proposal import Proposal, proposal_id
from memoranda.policies.proposing import Prepared, moved, prepare
from memoranda.stores.audit import FLAGS, OUTCOME, PATH, PROPOSAL, PROPOSED, TARGET
from memoranda.stores.base import (
    Ceiling,
    Change,
    Context,
    Edit,
    Move,
    Remove,
    Store,
    Version,
    WrapperStore,
)
from memoranda.stores.beneath import memories_beneath

if TYPE_CHECKING:
    from memoranda.policies.approval import Approval
    from memoranda.policies.desk import ProposalDesk
    from memoranda.text.splice import Splice

REVIEW_DAYS: Final = 30
"""How long a write may wait that waits for its marks and not for its path."""

_DAY_NS: Final = 86_400 * 1_000_000_000


class AwaitApproval(WrapperStore):
    """A store layer: a batch that ``rules`` are about becomes a proposal, and ``AwaitsApproval`` is
    raised; nothing of it is stored.

    With ``reviews`` the same happens to a batch that gets a mark (``policies/mark.py``). What the
    store would refuse now is refused now, and so is what would pass ``ceiling``; both are checked
    again when the proposal is approved. A batch that would change nothing does not wait.
    """

    def __init__(
        self,
        inner: Store,
        rules: Sequence[Approval],
        desk: ProposalDesk,
        *,
        ceiling: Ceiling = Ceiling(),
        reviews: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        super().__init__(inner)
        self._rules = rules
        self._desk = desk
        self._ceiling = ceiling
        self._reviews = reviews
        self._clock = clock

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        if context.approval is not None:
            return await self.inner.apply(changes, context)
        days = await self._days_to_wait(changes)
        if days is None and self._reviews:
            if not context.audit.get(FLAGS):
                watched = [_watched(change, context) for change in changes]
                try:
                    return await self.inner.apply(watched, context)
                except _Marked:
                    pass
            days = REVIEW_DAYS
        if days is None:
            return await self.inner.apply(changes, context)
        ceiling = self._ceiling if context.ceiling == Ceiling() else context.ceiling
        prepared = await prepare(self.inner, changes, context, ceiling)
        if not prepared.changes_something:
            return await self.inner.apply(prepared.batch, context)
        raise AwaitsApproval(
            _first_path(changes), await self._propose(changes, prepared, context, days)
        )

    async def _propose(
        self, changes: Sequence[Change], prepared: Prepared, context: Context, days: int
    ) -> str:
        now = self._clock()
        made = proposal_id(now, context.actor, prepared.proposed)
        path = _first_path(changes)
        proposal = Proposal(
            made,
            path,
            prepared.proposed,
            context.actor,
            context.command,
            context.trace_id,
            now,
            now + days * _DAY_NS,
            context.audit.get(FLAGS, {}),
        )
        kept = await self._desk.add(proposal)
        if self.inner.capabilities.audits:
            draft = {**context.audit, PATH: path.text, OUTCOME: PROPOSED, PROPOSAL: kept}
            first = changes[0]
            if isinstance(first, Move):
                draft[TARGET] = first.target.text
            await self.inner.record(
                Context(context.actor, context.command, context.trace_id, audit=draft)
            )
            await self.inner.flush()
        return kept

    async def _days_to_wait(self, changes: Sequence[Change]) -> int | None:
        """For how long a batch may wait; None if no rule is about it."""
        days = [
            rule.expires_days
            for change in (changes if self._rules else ())
            async for path in self._paths(change)
            for rule in self._rules
            if rule.fits(path)
        ]
        return min(days, default=None)

    async def _paths(self, change: Change) -> AsyncIterator[MemoryPath]:
        """Every path at which a change makes, changes or removes a memory."""
        if not isinstance(change, Move | Remove):
            yield change.path
            return
        source = change.source if isinstance(change, Move) else change.path
        target = change.target if isinstance(change, Move) else None
        try:
            await self.inner.stat(source)
            found = [source]
        except NotFound:
            return  # and so the store will say
        except IsADirectory:
            found = [entry.path for entry in await memories_beneath(self.inner, source)]
        for path in found:
            yield path
            if target is not None:
                yield moved(path, source, target)


def _first_path(changes: Sequence[Change]) -> MemoryPath:
    first = changes[0]
    return first.source if isinstance(first, Move) else first.path


class _Marked(Refused):
    """An edit got a mark, so it waits; caught by the layer itself."""


def _watched(change: Change, context: Context) -> Change:
    """The change, which stops its batch once it gets a mark."""
    if not isinstance(change, Edit):
        return change
    judged = change

    def edit(old: bytes) -> Splice:
        splice = judged.edit(old)
        if context.audit.get(FLAGS):
            raise _Marked
        return splice

    return replace(change, edit=edit)
