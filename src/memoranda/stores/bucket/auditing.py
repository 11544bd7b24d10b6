"""Reading and checking the audit: every event of a store as an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.stores.audit import OK, OUTCOME, PATH, AuditEntry, AuditReport
from memoranda.stores.bucket.kept import link_of
from memoranda.stores.bucket.sight import path_of
from memoranda.stores.log.chain import ChainCheck
from memoranda.stores.log.gone import draft_of
from memoranda.stores.log.packs import unpacked
from memoranda.stores.reports import Problem
from memoranda.stores.sealing import MODIFIED, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.audit import AuditHead
    from memoranda.stores.bucket.kept import Kept
    from memoranda.stores.bucket.sight import Sight

READ_AT_ONCE: Final = 256
RESTORE: Final = "Restore the store from a copy, and find out who can write to the bucket."


async def entries(sight: Sight, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
    """What ``Store.audit`` promises."""
    if limit <= 0:
        return ()
    if after is None:
        events = (await sight.last_events(sight.head.state.seq + 1, limit))[::-1]
    else:
        events = await sight.first_events(max(after, 0) + 1, limit)
    await sight.shelf.contents(kept.draft for kept in events if kept.draft is not None)
    read = [await _entries(sight, kept) for kept in events]
    if after is None:
        return tuple([entry for each in read for entry in each][-limit:])
    found: list[AuditEntry] = []
    for each in read:
        if len(found) >= limit:
            break
        found += each
    return tuple(found)


async def _entries(sight: Sight, kept: Kept) -> tuple[AuditEntry, ...]:
    """The entries that an event stands for: one, but for what was noted together."""
    event = kept.event
    draft = draft_of(await sight.draft(kept))
    entry = AuditEntry(
        seq=event.seq,
        batch=event.batch,
        at_ns=event.at,
        actor=event.actor,
        command=event.command,
        outcome=OK,
        trace_id=event.trace,
        is_blanked=kept.digest is not None,
    )
    if event.memory is None:
        return tuple(unpacked(entry, draft))
    draft.pop(PATH, None)  # what the history knows itself is better
    draft.pop(OUTCOME, None)
    left = await _left(sight, kept) if event.op == MODIFIED else None
    changed = entry._replace(
        operation=OPERATIONS[event.op or MODIFIED],
        path=_printed(event.path),
        before=_printed(left),
        size_bytes=event.size,
        sha256=None if event.sha is None else event.sha.hex(),
        details=draft,
    )
    return (changed,)


async def _left(sight: Sight, kept: Kept) -> str | None:
    """The path that a memory left with an event; None if it stayed, or nobody knows any more."""
    event = kept.event
    before = await sight.version_before(event.memory or 0, event.seq)
    older = None if before is None else await sight.event(before)
    path = None if older is None else older.event.path
    return None if path == event.path else path


def _printed(path: str | None) -> str | None:
    return None if path is None else str(path_of(path))


async def follow(sight: Sight, check: ChainCheck) -> tuple[int, int]:
    """Feed every event to a check; how many versions they are, and what they take."""
    versions = taken = low = 0
    while True:
        events = await sight.first_events(low, READ_AT_ONCE)
        await sight.shelf.contents(kept.draft for kept in events if kept.draft is not None)
        for kept in events:
            draft = await sight.draft(kept)
            check.feed(link_of(kept, check.before, sight.head.secret, draft))
            versions += kept.event.memory is not None
            taken += kept.taken
        if len(events) < READ_AT_ONCE:
            check.end()
            return versions, taken
        low = events[-1].event.seq + 1


async def verify(sight: Sight, store_id: str, anchors: Sequence[AuditHead]) -> AuditReport:
    """What ``Store.verify_audit`` promises; reads every event."""
    check = ChainCheck(store_id, anchors)
    counted = await follow(sight, check)
    problems = check.problems
    head = sight.head
    if counted != (head.versions, head.history):
        problems.append(
            Problem("counter", "The store counted other entries than there are.", RESTORE)
        )
    if check.before != head.state.chain:
        problems.append(Problem("chain", "The audit does not end where the store says.", RESTORE))
    return AuditReport(tuple(problems), check.entries, check.head)
