"""Reading and checking the audit: every event of a store as an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.digests import blake2b
from memoranda.errors import UnknownId
from memoranda.stores.audit import OK, OUTCOME, PATH, AuditEntry, AuditReport
from memoranda.stores.log.chain import ChainCheck, Link
from memoranda.stores.log.gone import draft_of
from memoranda.stores.log.packs import unpacked
from memoranda.stores.postgres.history import COLUMNS, event_of
from memoranda.stores.postgres.listing import path_of
from memoranda.stores.reports import Problem
from memoranda.stores.sealing import EVENT_BYTES, MODIFIED, OPERATIONS, chained, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.stores.audit import AuditHead
    from memoranda.stores.postgres.place import Made
    from memoranda.stores.postgres.port import Row, Session
    from memoranda.stores.sealing import Event

BLANKS: Final = "e.digest, e.redacted_at, e.redacted_by"
"""Columns beside ``COLUMNS`` that tell what of an event was blanked."""

_LEFT: Final = (
    "(SELECT p.path FROM memoranda.event p WHERE p.store = e.store AND p.memory = e.memory"
    " AND p.seq < e.seq ORDER BY p.seq DESC LIMIT 1)"
)
_ENTRIES: Final = f"SELECT {COLUMNS}, {BLANKS}, {_LEFT} FROM memoranda.event e WHERE e.store = %s"
_NEWEST: Final = f"{_ENTRIES} ORDER BY e.seq DESC LIMIT %s"
_NEXT: Final = f"{_ENTRIES} AND e.seq > %s ORDER BY e.seq LIMIT %s"
_LINKS: Final = (
    f"SELECT {COLUMNS}, {BLANKS}, e.chain, e.link FROM memoranda.event e"
    " WHERE e.store = %s AND e.seq > %s ORDER BY e.seq LIMIT %s"
)
_STATE: Final = "SELECT chain, versions, history FROM memoranda.state WHERE store = %s"
_CONTENTS: Final = "SELECT coalesce(sum(length(data)), 0) FROM memoranda.content WHERE store = %s"
_READ_AT_ONCE: Final = 256
_LARGEST: Final = 2**62
_RESTORE: Final = "Restore the store from a copy, and find out who can write to the database."


async def entries(
    session: Session, made: Made, after: int | None, limit: int
) -> tuple[AuditEntry, ...]:
    """What ``Store.audit`` promises."""
    if limit <= 0:
        return ()
    most = min(limit, _LARGEST)
    if after is None:
        rows = (await session.run(_NEWEST, (made.number, most)))[::-1]
        return tuple([entry for row in rows for entry in _entries(row)][-limit:])
    start = max(0, min(after, _LARGEST))
    found: list[AuditEntry] = []
    for row in await session.run(_NEXT, (made.number, start, most)):
        if len(found) >= limit:
            break
        found += _entries(row)
    return tuple(found)


def _entries(row: Row) -> Iterator[AuditEntry]:
    """The entries that an event stands for: one, but for what was noted together."""
    event = event_of(row)
    digest, _, _, before = row[-4:]
    draft = draft_of(event.audit)
    entry = AuditEntry(
        seq=event.seq,
        batch=event.batch,
        at_ns=event.at,
        actor=event.actor,
        command=event.command,
        outcome=OK,
        trace_id=event.trace,
        is_blanked=digest is not None,
    )
    if event.memory is None:
        yield from unpacked(entry, draft)
        return
    draft.pop(PATH, None)  # what the history knows itself is better
    draft.pop(OUTCOME, None)
    left = before if event.op == MODIFIED and before != event.path else None
    yield entry._replace(
        operation=OPERATIONS[event.op or MODIFIED],
        path=_printed(event.path),
        before=_printed(left),
        size_bytes=event.size,
        sha256=None if event.sha is None else event.sha.hex(),
        details=draft,
    )


def _printed(path: str | None) -> str | None:
    return None if path is None else str(path_of(path))


async def verify(
    session: Session, made: Made, store_id: str, anchors: Sequence[AuditHead]
) -> AuditReport:
    """What ``Store.verify_audit`` promises; reads every event, in a transaction that sees one moment."""
    rows = await session.run(_STATE, (made.number,))
    if not rows:
        raise UnknownId("store")
    chain, *counted = rows[0]
    check = ChainCheck(store_id, anchors)
    versions = last = 0
    while True:
        links = await session.run(_LINKS, (made.number, last, _READ_AT_ONCE))
        for row in links:
            link = _link_of(row, check.before, made.secret)
            check.feed(link)
            versions += row[2] is not None
            last = link.seq
        if len(links) < _READ_AT_ONCE:
            break
    check.end()
    ((contents,),) = await session.run(_CONTENTS, (made.number,))
    problems = check.problems
    if counted != [versions, EVENT_BYTES * check.entries + contents]:
        problems.append(
            Problem("counter", "The store counted other entries than there are.", _RESTORE)
        )
    if check.before != bytes(chain):
        problems.append(Problem("chain", "The audit does not end where the store says.", _RESTORE))
    return AuditReport(tuple(problems), check.entries, check.head)


def _link_of(row: Row, before: bytes, secret: bytes) -> Link:
    event = event_of(row)
    digest, redacted_at, redacted_by, chain, link = row[-5:]
    link = None if link is None else bytes(link)
    kept = digest_of(event, secret) if digest is None else bytes(digest)
    return Link(
        event.seq,
        event.at,
        bytes(chain),
        chained(event, kept, link or before),
        link,
        None if digest is None else rest_of(event, redacted_at, redacted_by, secret),
        event.audit if event.memory is None else None,
    )


def rest_of(event: Event, redacted_at: int | None, redacted_by: str | None, secret: bytes) -> str:
    """A keyed digest, in hex, of what can still be read of an event that was blanked."""
    said = repr((event.path, event.size, event.audit, redacted_at, redacted_by))
    return blake2b(
        said.encode() + (event.sha or b""), digest_size=16, key=secret, person=b"rest"
    ).hexdigest()


async def rests(session: Session, made: Made, seqs: Sequence[int]) -> dict[int, str]:
    """By number, what is left of those events that were blanked."""
    rows = await session.run(
        f"SELECT {COLUMNS}, {BLANKS} FROM memoranda.event e"
        " WHERE e.store = %s AND e.seq = ANY(%s::bigint[]) AND e.digest IS NOT NULL",
        (made.number, list(seqs)),
    )
    return {row[0]: rest_of(event_of(row), row[-2], row[-1], made.secret) for row in rows}
