"""The audit: every event of the log as an entry that people and programs can read, and its chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.path import ROOT_TEXT
from memoranda.stores.audit import OK, OUTCOME, PATH, AuditEntry, AuditHead, AuditReport
from memoranda.stores.git import log
from memoranda.stores.log.gone import draft_of
from memoranda.stores.log.packs import unpacked
from memoranda.stores.reports import Problem
from memoranda.stores.sealing import NO_CHAIN, OPERATIONS, chained, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.stores.git.log import Happened, Head
    from memoranda.stores.git.objects import Objects

_RESTORE: Final = "Restore the store from a copy, and find out who can write its files."


def newest_or_next(
    objects: Objects, head: Head, after: int | None, limit: int
) -> tuple[AuditEntry, ...]:
    """What ``Store.audit`` promises."""
    if limit <= 0:
        return ()
    if after is None:
        newest: list[AuditEntry] = []
        for batch in log.batches(objects, head):
            for each in reversed(log.happened_in(objects, batch)):
                newest += reversed(list(_entries(objects, head, each)))
            if len(newest) >= limit:
                break
        return tuple(newest[:limit][::-1])
    found: list[AuditEntry] = []
    seq = max(after, 0) + 1
    while (batch_of := log.with_event(objects, head, seq)) is not None:
        for each in log.happened_in(objects, batch_of):
            if len(found) >= limit:
                return tuple(found)
            if each.event.seq >= seq:
                found += _entries(objects, head, each)
        seq = batch_of.state.seq + 1
    return tuple(found)


def _entries(objects: Objects, head: Head, happened: Happened) -> Iterator[AuditEntry]:
    event = happened.event
    draft = draft_of(event.audit)
    entry = AuditEntry(
        seq=event.seq,
        batch=event.batch,
        at_ns=event.at,
        actor=event.actor,
        command=event.command,
        outcome=OK,
        trace_id=event.trace,
    )
    if event.memory is None or event.op is None:
        yield from unpacked(entry, draft)
        return
    draft.pop(PATH, None)  # what the log knows itself is better
    draft.pop(OUTCOME, None)
    operation = OPERATIONS[event.op]
    left = None
    if operation == "modified" and happened.before:
        earlier = log.happened(objects, head, happened.before)
        if earlier is not None and earlier.event.path != event.path:
            left = earlier.event.path
    yield entry._replace(
        operation=operation,
        path=_printed(event.path),
        before=_printed(left),
        size_bytes=event.size,
        sha256=None if event.sha is None else event.sha.hex(),
        details=draft,
    )


def _printed(path: str | None) -> str | None:
    return None if path is None else ROOT_TEXT + path


def verify(objects: Objects, head: Head, anchors: Sequence[AuditHead]) -> AuditReport:
    """What ``Store.verify_audit`` promises; reads every event."""
    wanted = {
        anchor.seq: anchor.chain
        for anchor in anchors
        if anchor.store_id == head.store_id and anchor.seq
    }
    problems: list[Problem] = []
    commits = [batch.commit for batch in log.batches(objects, head)]
    # A store that took over a history begins after its numbers.
    chain, last = NO_CHAIN, log.read(objects, commits[-1]).state.seq
    entries = versions = 0
    for commit in reversed(commits[:-1]):
        batch = log.read(objects, commit)
        for event, _, _ in log.happened_in(objects, batch):
            if event.seq != last + 1:
                problems.append(_problem("gap", f"Entries before {event.seq} are missing."))
            chain = chained(event, digest_of(event, head.secret), chain)
            last = event.seq
            entries += 1
            versions += event.memory is not None
            if wanted.pop(last, chain.hex()) != chain.hex():
                problems.append(
                    _problem("anchor", f"Entry {last} is another one than its anchor says.")
                )
        if (batch.state.seq, batch.state.chain) != (last, chain):
            problems.append(
                _problem("chain", f"Entry {last} was changed, or one before it is missing.")
            )
            chain, last = batch.state.chain, batch.state.seq
    problems += [
        _problem("cut", f"The audit ends at entry {last}; there was a {seq}.")
        for seq in sorted(wanted)
    ]
    if versions != head.versions:
        problems.append(_problem("counter", "The store counted other entries than there are."))
    return AuditReport(tuple(problems), entries, AuditHead(head.store_id, last, chain.hex()))


def _problem(code: str, message: str) -> Problem:
    return Problem(code, message, _RESTORE)
