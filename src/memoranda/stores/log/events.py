"""Writing events: rows of the history, each with its link in the hash chain.

The digest keys everything that can identify somebody (names, size, hash, the audit draft) with
the store's secret, so that redaction can blank the values and the chain still holds. It is stored
only once something was blanked; until then it can be computed.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal

from memoranda.digests import blake2b, sha256
from memoranda.errors import Corrupt
from memoranda.light_dataclasses import dataclass, field_names
from memoranda.stores.log import bodies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.stores.log.store_log import StoreLog

CREATED: Final = 1
"""With a place before it: a memory that had gone with its directory came back under its id, or
one was made and then moved in the same batch."""
MODIFIED: Final = 2
DELETED: Final = 3
REVIVED: Final = 4
"""Shown as created: a memory that had been removed by itself came back under its id."""

OPERATIONS: Final[dict[int, Literal["created", "modified", "deleted"]]] = {
    CREATED: "created",
    MODIFIED: "modified",
    DELETED: "deleted",
    REVIVED: "created",
}

ROW_BYTES: Final = 200
"""What an event takes beside its body, in bytes: a round figure for the history budget."""

NO_CHAIN: Final = bytes(32)
"""What the first event of a store is chained to."""


@dataclass(slots=True)
class Event:
    """A row of the table ``event``: something that happened to a node, or an audit entry.

    ``oparent`` and ``oname`` are the place before, ``parent`` and ``name`` the place after; None
    where the node was not there (before) or is gone (after). ``prev`` is the node's event before.
    ``batch`` is the number of the command's first event. ``link`` stands in for the chain of the event
    before where that one is not kept any more.
    """

    seq: int
    batch: int
    at: int
    actor: str
    command: str
    trace: str | None = None
    node: int | None = None
    prev: int | None = None
    op: int | None = None
    late: int | None = None
    oparent: int | None = None
    oname: str | None = None
    parent: int | None = None
    name: str | None = None
    size: int | None = None
    sha: bytes | None = None
    ino: int | None = None
    mtime: int | None = None
    audit: str | None = None
    chain: bytes = NO_CHAIN
    link: bytes | None = None
    digest: bytes | None = None
    redacted_at: int | None = None
    redacted_by: str | None = None
    base: int | None = None
    pre: int | None = None
    suf: int | None = None
    next: int | None = None
    """Of a whole body: the node's next whole body."""
    pieces: int | None = None
    body: bytes | None = None
    kept: bodies.Body | None = None
    """The body until it is written; no column."""


FIELDS: Final = field_names(Event)[:-1]
COLUMNS: Final = ", ".join(FIELDS)
_values = attrgetter(*FIELDS)
_BY_SEQ: Final = f"SELECT {COLUMNS} FROM event WHERE seq = ?"
_OF_STORE: Final = f"SELECT {COLUMNS} FROM event WHERE seq > ? AND seq < ? ORDER BY seq"
_INSERT: Final = f"INSERT INTO event({COLUMNS}) VALUES({', '.join('?' * len(FIELDS))})"


def find(log: StoreLog, seq: int) -> Event | None:
    """An event by its number; None where it is not kept."""
    row = log.db.execute(_BY_SEQ, (seq,)).fetchone()
    return None if row is None else Event(*row)


def load(log: StoreLog, seq: int) -> Event:
    """An event that has to be there; raises ``Corrupt``."""
    event = find(log, seq)
    if event is None:
        raise Corrupt("An event is missing.")
    return event


def of_store(log: StoreLog) -> Iterator[Event]:
    """The events of a store, oldest first."""
    for row in log.db.execute(_OF_STORE, (log.base, log.end)):
        yield Event(*row)


def of_node(log: StoreLog, last: int) -> Iterator[Event]:
    """The events of a node, newest first, from its newest one back."""
    seq: int | None = last or None
    while seq is not None:
        event = find(log, seq)
        if event is None:
            return
        yield event
        seq = event.prev


def stored_bytes(log: StoreLog, event: Event) -> int:
    """What an event counts for in ``Node.history``."""
    if event.pieces is None:
        return ROW_BYTES + len(event.body or b"")
    pieces = log.db.execute("SELECT sum(length(data)) FROM piece WHERE seq = ?", (event.seq,)).get
    return ROW_BYTES + (pieces or 0)


def digest_of(log: StoreLog, event: Event) -> bytes:
    """The keyed digest of what can identify; the stored one where something was blanked."""
    if event.digest is not None:
        return event.digest
    names = f"{_sized(event.oname)}{_sized(event.name)}{event.size} {_sized(event.audit)}"
    return blake2b(
        names.encode() + (event.sha or b""), digest_size=32, key=log.secret, person=b"digest"
    ).digest()


def rest_of(log: StoreLog, event: Event) -> str:
    """A keyed digest, in hex, of what can still be read of an event that was blanked."""
    said = (
        f"{_sized(event.oname)}{_sized(event.name)}{event.size} {_sized(event.audit)}"
        f"{event.redacted_at} {_sized(event.redacted_by)}"
    )
    return blake2b(
        said.encode() + (event.sha or b""), digest_size=16, key=log.secret, person=b"rest"
    ).hexdigest()


def chained(log: StoreLog, event: Event, before: bytes) -> bytes:
    """The chain value of an event that follows one with the chain value ``before``."""
    said = (
        f"{event.seq} {event.batch} {event.node} {event.op} {event.late} {event.at}"
        f" {event.oparent} {event.parent}"
        f" {len(event.actor)} {event.actor} {len(event.command)} {event.command} {_sized(event.trace)}"
    )
    return sha256(before + digest_of(log, event) + said.encode()).digest()


def _sized(text: str | None) -> str:
    return "- " if text is None else f"{len(text)} {text} "


def write(log: StoreLog, events: Iterable[Event], before: bytes) -> int:
    """Chain events to what was last and write them, bodies too; returns the bytes they take."""
    taken = 0
    for event in events:
        event.chain = before = chained(log, event, before)
        if event.kept is not None:
            event.base, event.pre, event.suf, text = event.kept
            event.pieces, event.body = bodies.save(log.db, event.seq, event.kept)
            taken += text.size
        taken += ROW_BYTES
        log.db.execute(_INSERT, _values(event))
    return taken
