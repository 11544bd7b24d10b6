"""Removing what has expired: batches of normal removals, which can be restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import Conflict, Refused
from memoranda.operations.listing import list_all
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.audit import OUTCOME
from memoranda.stores.base import Context, Entry, IfVersion, Remove, Store

if TYPE_CHECKING:
    from memoranda.operations.export import Progress
    from memoranda.policies.expiry import Expiry

ACTOR: Final = "expiry"
COMMAND: Final = "sweep"
SKIPPED: Final = "skipped"
"""The outcome of a sweep that did nothing because the clock had jumped."""

_BATCH: Final = 100
_JUMP_NS: Final = 30 * 86_400 * 1_000_000_000
_LOOK_BACK: Final = 1000


class Swept(NamedTuple):
    """What a sweep removed, or would; ``held`` were kept by a hold. ``skipped`` if the clock seems
    to have jumped: then nothing is removed this time."""

    removed: tuple[MemoryPath, ...]
    held: tuple[MemoryPath, ...]
    skipped: bool = False


async def sweep(
    store: Store,
    rules: Sequence[Expiry],
    now_ns: int,
    *,
    dry_run: bool,
    progress: Progress | None,
) -> Swept:
    """Remove the memories whose time is over; each only if nobody changed it meanwhile.

    After more than 30 days without any entry in the audit the clock may have jumped: that round
    removes nothing and leaves an entry; the next one goes on.
    """
    # Who set the rules has decided: nothing that expires waits for a person once more.
    context = Context(ACTOR, COMMAND, approval=ACTOR)
    if await _clock_jumped(store, now_ns):
        if not dry_run:
            await _leave_entry(store, context, {OUTCOME: SKIPPED})
        return Swept((), (), skipped=True)
    holds, used = await store.holds(), await store.uses()
    over: list[Entry] = []
    held: list[MemoryPath] = []
    for entry in await list_all(store, ROOT) if rules else ():
        assert isinstance(entry, Entry)  # all of them, at every depth
        last = used.get(entry.path, 0)
        if any(
            rule.fits(entry.path) and rule.is_over(entry.updated_at_ns, last, now_ns)
            for rule in rules
        ):
            if any(hold.covers(entry.path) for hold in holds):
                held.append(entry.path)
            else:
                over.append(entry)
    if dry_run:
        return Swept(tuple(entry.path for entry in over), tuple(held))
    removed: list[MemoryPath] = []
    for start in range(0, len(over), _BATCH):
        removed += await _remove(store, over[start : start + _BATCH], context)
        if progress is not None:
            progress(min(start + _BATCH, len(over)), len(over))
    await _leave_entry(store, context, {"removed": len(removed), "held": len(held)})
    return Swept(tuple(removed), tuple(held))


async def _remove(store: Store, entries: Sequence[Entry], context: Context) -> list[MemoryPath]:
    try:
        await store.apply([_removal(entry) for entry in entries], context)
    except (Conflict, Refused):
        if len(entries) == 1:  # somebody changed or removed it meanwhile
            return []
        return [path for entry in entries for path in await _remove(store, (entry,), context)]
    return [entry.path for entry in entries]


def _removal(entry: Entry) -> Remove:
    return Remove(entry.path, IfVersion(entry.version_id))


async def _clock_jumped(store: Store, now_ns: int) -> bool:
    """Whether more than 30 days went by unseen since the last sweep."""
    later = now_ns
    for entry in reversed(await store.audit(None, _LOOK_BACK)):
        if later - entry.at_ns > _JUMP_NS:
            return True
        if entry.command == COMMAND and entry.operation is None:
            return False
        later = entry.at_ns
    return False


async def _leave_entry(store: Store, context: Context, draft: dict[str, object]) -> None:
    await store.record(Context(context.actor, context.command, audit=draft))
    await store.flush()
