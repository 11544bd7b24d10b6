"""The audit: a command layer, a store layer and a trail that keep what changes nothing.

What changes something is an entry by itself: its event, in its own transaction. So only three
things are left to note: what was looked at, what was refused, and changes that came to nothing.
Contents never, nor what was searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from memoranda import reply
from memoranda.command import Command, RefusedInput, Rename, View
from memoranda.errors import (
    BadPath,
    Conflict,
    Corrupt,
    MemorandaError,
    Misuse,
    Refused,
    Unavailable,
)
from memoranda.escape import escape_for_display
from memoranda.light_dataclasses import dataclass
from memoranda.policies.handler import Handler
from memoranda.reply import Failure, ToolResult
from memoranda.stores.audit import OUTCOME, PATH, TARGET, UNCHANGED
from memoranda.stores.base import Change, Context, Move, Remove, Store, Version, WrapperStore

Reads: TypeAlias = Literal["off", "batched", "strict"]

Hide: TypeAlias = Callable[[str], str]
"""A path as it may be kept."""

LINES: Final = "lines"
"""Key of a draft: first and last line that were asked for."""
FAILED: Final = "failed"
"""The outcome of a command that met a bug: nobody foresaw the error."""

_CANT_WRITE: Final = (Refused, Conflict, Unavailable, Corrupt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Auditing:
    """What the audit keeps besides changes, which it always keeps, in their own transactions.

    ``reads`` says what becomes of views, and of what programs read: ``"off"`` keeps none,
    ``"batched"`` writes them in batches (with the next change, after a second or 1,000 entries,
    and at the end; a crash may lose those), ``"strict"`` answers only once the entry is durable,
    which costs a commit a view. Refusals are kept in batches in each case.

    Raises ``Misuse`` for values that can't be.
    """

    reads: Reads = "batched"

    def __post_init__(self) -> None:
        if self.reads not in get_args(Reads):
            raise Misuse(
                f'Auditing: reads is {self.reads!r}; it has to be "off", "batched" or "strict".'
            )


class AuditTrail:
    """Where a memory's looks and refusals are noted. Safe to use from many threads at once."""

    __slots__ = ("_hide", "_reads", "_store")

    def __init__(self, store: Store, reads: Reads, hide: Hide = str) -> None:
        self._store = store
        self._reads = reads
        self._hide = hide

    @property
    def keeps_reads(self) -> bool:
        """Whether looks are noted at all."""
        return self._reads != "off"

    async def read(self, context: Context, draft: Mapping[str, Any]) -> None:
        """Note a look, where it ``keeps_reads``; ``draft`` is small and content-free. Raises what
        storage raises where looks have to be noted before they are answered, else nothing."""
        if self._reads == "batched":
            try:  # as ``note`` does, one call less: this is every view
                await self._store.record(_with(context, draft))
            except MemorandaError:
                pass
        else:
            await self._store.record(_with(context, draft))
            await self._store.flush()

    async def note(self, context: Context, draft: Mapping[str, Any]) -> None:
        """Note something in a batch. What can't be written now waits, and a store that is gone has
        no audit: this never fails a command."""
        try:
            await self._store.record(_with(context, self.hidden(draft)))
        except MemorandaError:
            pass

    def hidden(self, draft: Mapping[str, Any]) -> Mapping[str, Any]:
        """The draft with what may not be kept taken out of its paths: they may be of nothing that
        is stored, so nobody judged them yet."""
        paths = {name: self._hide(draft[name]) for name in (PATH, TARGET) if name in draft}
        return {**draft, **paths}


def _with(context: Context, draft: Mapping[str, Any]) -> Context:
    if context.audit:
        draft = {**context.audit, **draft}
    return Context(context.actor, context.command, context.trace_id, audit=draft)


class Audit:
    """A command layer: notes views and whatever was refused or failed. Changes note themselves."""

    def __init__(self, inner: Handler, trail: AuditTrail) -> None:
        self._inner = inner
        self._trail = trail
        self._keeps_reads = trail.keeps_reads

    async def __call__(self, command: Command | RefusedInput, context: Context) -> ToolResult:
        try:
            result = await self._inner(command, context)
        except Exception:  # noted and raised again: a command that fails is an entry, too
            await self._trail.note(context, {**_asked(command), OUTCOME: FAILED})
            raise
        if result.is_error:
            error = result.error if isinstance(result, Failure) else None
            outcome = FAILED if error is None else error.code
            await self._trail.note(context, {**_asked(command), OUTCOME: outcome})
        elif self._keeps_reads and type(command) is View:
            draft: dict[str, Any] = {PATH: command.path.text}
            if command.view_range is not None:
                draft[LINES] = list(command.view_range)
            try:
                await self._trail.read(context, draft)
            except _CANT_WRITE as error:  # what can't be noted isn't shown
                return reply.unavailable(error)
        return result


def _asked(command: Command | RefusedInput) -> dict[str, Any]:
    """Where a command wanted to do something."""
    if isinstance(command, RefusedInput):
        error = command.error
        return {PATH: shown_path(error.given)} if isinstance(error, BadPath) else {}
    if isinstance(command, Rename):
        return {PATH: command.old_path.text, TARGET: command.new_path.text}
    return {PATH: command.path.text}


def shown_path(given: object) -> str:
    """A path that was refused, or not read yet, as the audit keeps it: one short line."""
    return escape_for_display(str(given))


class NoteUnchanged(WrapperStore):
    """A store layer: a change that left everything as it was makes no version, so it is noted."""

    def __init__(self, inner: Store, trail: AuditTrail) -> None:
        super().__init__(inner)
        self._trail = trail

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        versions = await self.inner.apply(changes, context)
        if not versions and changes and not any(isinstance(each, _MOVING) for each in changes):
            first = changes[0]
            assert not isinstance(first, _MOVING)
            draft = {PATH: first.path.text, OUTCOME: UNCHANGED}
            await self._trail.note(context, draft)
        return versions


# A directory's removal or move may give no versions, and is never a no-op.
_MOVING: Final = (Move, Remove)
