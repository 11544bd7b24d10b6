"""Present contents in the database itself, whole: reading one is a single cheap access.

While the present content is a whole body in the log it is read from there and kept only once; the
tables ``head`` and ``head_piece`` hold those whose newest body is a delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt
from memoranda.stores.log.bodies import join
from memoranda.stores.log.heads import Heads
from memoranda.stores.log.pieces import PIECE_BYTES, number_of_pieces, pieces_of

if TYPE_CHECKING:
    from memoranda.stores.log.connection import Connection
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.text import Text

_WHOLE: Final = "SELECT body FROM event WHERE seq = ?"
_HEAD: Final = "SELECT data FROM head WHERE node = ?"
_WHOLE_PIECES: Final = "SELECT data FROM piece WHERE seq = ? AND n BETWEEN ? AND ? ORDER BY n"
_HEAD_PIECES: Final = "SELECT data FROM head_piece WHERE node = ? AND n BETWEEN ? AND ? ORDER BY n"


class SqlHeads(Heads):
    """The ``Heads`` of RAM and SQLite."""

    __slots__ = ("_db",)

    def __init__(self, log: StoreLog) -> None:
        self._db = log.db

    def read(self, node: Node) -> bytes:
        """The whole present content."""
        return read_range(self._db, node.id, node.body, node.full, node.size, 0, node.size)

    def store(self, node: Node, seq: int, text: Text) -> None:
        """Keep a content that is not whole in the log."""
        execute = self._db.execute
        if seq == node.full:
            if seq != node.first:  # else there never was a delta, so nothing lies here
                self.drop(node)
        elif text.size <= PIECE_BYTES:
            execute("DELETE FROM head_piece WHERE node = ?", (node.id,))
            execute("INSERT OR REPLACE INTO head VALUES(?, ?)", (node.id, text.whole()))
        else:
            self._store_pieces(node, text)

    def drop(self, node: Node) -> None:
        """Forget the content of a file that went."""
        self._db.execute("DELETE FROM head WHERE node = ?", (node.id,))
        self._db.execute("DELETE FROM head_piece WHERE node = ?", (node.id,))

    def _store_pieces(self, node: Node, text: Text) -> None:
        """Write the pieces from the first change on; up to its end where the length stays."""
        self._db.execute("DELETE FROM head WHERE node = ?", (node.id,))
        before = self._db.execute(
            "SELECT sum(length(data)) FROM head_piece WHERE node = ?", (node.id,)
        ).get
        count = number_of_pieces(text.size)
        first, end = 0, count
        if before is not None:
            first = text.same_before // PIECE_BYTES
            if before == text.size:
                end = number_of_pieces(text.size - text.same_after)
        self._db.execute("DELETE FROM head_piece WHERE node = ? AND n >= ?", (node.id, count))
        for number, data in pieces_of(text.parts, first):
            if number >= end:
                break
            self._db.execute(
                "INSERT OR REPLACE INTO head_piece VALUES(?, ?, ?)", (node.id, number, data)
            )


def read_range(
    db: Connection, node: int, body: int, full: int, size: int, start: int, end: int
) -> bytes:
    """Bytes ``start`` to ``end`` (exclusive, within ``size``) of the present content of a file
    whose content is that of event ``body`` and whose newest whole body is that of ``full``."""
    is_whole = body == full
    if size <= PIECE_BYTES:
        row = db.execute(_WHOLE if is_whole else _HEAD, (body if is_whole else node,)).fetchone()
        if row is None or not isinstance(row[0], bytes) or len(row[0]) != size:
            raise Corrupt("The content of a memory is missing.")
        data = row[0]
        return data if end - start == size else data[start:end]
    if start >= end:
        return b""
    first, last = start // PIECE_BYTES, (end - 1) // PIECE_BYTES
    rows = db.execute(
        _WHOLE_PIECES if is_whole else _HEAD_PIECES, (body if is_whole else node, first, last)
    ).fetchall()
    data = join(piece for (piece,) in rows)
    offset = first * PIECE_BYTES
    if len(data) < end - offset:
        raise Corrupt("A piece of a memory is missing.")
    return data if len(data) == end - start else data[start - offset : end - offset]
