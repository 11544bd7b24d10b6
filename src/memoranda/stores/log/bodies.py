"""Bodies of versions: whole, or as a delta against an older one; large ones in pieces.

A delta is what stays the same at the start (``pre`` bytes) and the end (``suf`` bytes) of the
content of event ``base``, and the middle that is new. A move has a delta without a middle. No
content is more than 31 deltas away from a whole one, and the deltas in between take at most half
the content's size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.errors import Corrupt
from memoranda.stores.log.pieces import PIECE_BYTES, number_of_pieces, pieces_of
from memoranda.stores.log.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.stores.log.connection import Connection
    from memoranda.stores.log.store_log import StoreLog

LONGEST_CHAIN: Final = 32
_BODY: Final = "SELECT base, pre, suf, pieces, body FROM event WHERE seq = ?"


class Body(NamedTuple):
    """How a content is kept: ``base`` None means whole."""

    base: int | None
    pre: int
    suf: int
    text: Text

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return self.text.size


def whole(text: Text) -> Body:
    """A content kept as it is."""
    return Body(None, 0, 0, text)


def moved(base: int, size: int) -> Body:
    """The unchanged content of event ``base``."""
    return Body(base, size, 0, Text())


def delta(base: int, new: Text) -> Body:
    """``new`` against the content that it was compared with, that of event ``base``."""
    return Body(base, new.same_before, new.same_after, new.middle())


def save(db: Connection, seq: int, body: Body) -> tuple[int | None, bytes | None]:
    """What belongs into the columns ``pieces`` and ``body`` of an event; writes the pieces."""
    text = body.text
    if text.size <= PIECE_BYTES:
        return None, text.whole() if text.size or body.base is None else None
    db.executemany(
        "INSERT INTO piece VALUES(?, ?, ?)",
        ((seq, n, data) for n, data in pieces_of(text.parts)),
    )
    return number_of_pieces(text.size), None


def content(log: StoreLog, seq: int) -> bytes:
    """The content of the version with this number, rebuilt from the log alone.

    Costs at most 32 rows. Raises ``Corrupt`` if what it stands on is missing. The caller knows that
    the event has a content (it is no removal, not redacted, not a directory's).
    """
    return rebuilt(log, seq, {})


def rebuilt(log: StoreLog, seq: int, known: Mapping[int, bytes]) -> bytes:
    """The same, where some contents are ``known`` by their event."""
    deltas: list[tuple[int, int, bytes]] = []
    base: int | None = seq
    data = b""
    while base is not None:
        if base in known:
            data = known[base]
            break
        row = log.db.execute(_BODY, (base,)).fetchone()
        if row is None or len(deltas) > 2 * LONGEST_CHAIN:
            raise Corrupt("A version stands on one that is missing.")
        at, (base, pre, suf, pieces, body) = base, row
        data = joined(log.db, at, pieces) if pieces else join([body or b""])
        if base is not None:
            deltas.append((pre, suf, data))
    for pre, suf, middle in reversed(deltas):
        if suf or middle or pre != len(data):
            data = join((data[:pre], middle, data[len(data) - suf :]))
    return data


def joined(db: Connection, seq: int, pieces: int) -> bytes:
    """A body that lies in pieces, whole."""
    rows: list[tuple[Any, ...]] = db.execute(
        "SELECT data FROM piece WHERE seq = ? ORDER BY n", (seq,)
    ).fetchall()
    if len(rows) != pieces:
        raise Corrupt("A piece of a version is missing.")
    return join(data for (data,) in rows)


def join(parts: Iterable[Any]) -> bytes:
    """The parts in one; raises ``Corrupt`` where a damaged row has a text or a number in place of
    bytes."""
    try:
        return b"".join(parts)
    except TypeError as error:
        raise Corrupt("Something stands where bytes should be.") from error
