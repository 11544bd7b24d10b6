"""One store's part of a database."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from memoranda.stores.log.connection import Connection

NUMBER_BITS: Final = 36
"""A store's numbers (events and nodes) lie in one range of 2**36, so that the history of one store
is one stretch of the table and neither its ids nor its counts tell of other stores."""


class Image(NamedTuple):
    """What ``fstat`` says of a file that nobody touched since we wrote it (size is the node's)."""

    ino: int
    mtime_ns: int


class StoreLog:
    """One store in an open database: which rows are its own, and its secret.

    Cheap to make; never changes and holds no state besides, so one per connection may exist.
    """

    __slots__ = ("base", "db", "end", "id", "number", "secret")

    def __init__(self, db: Connection, number: int, store_id: str, secret: bytes) -> None:
        self.db: Final = db
        self.number: Final = number
        self.id: Final = store_id
        self.secret: Final = secret
        self.base: Final = number << NUMBER_BITS
        """The number of the root node, 0 in a database that holds a single store (``number`` 0);
        events and nodes of the store are above it."""
        self.end: Final = (number + 1) << NUMBER_BITS
        """The first number that is no longer this store's."""

    @classmethod
    def make(
        cls, db: Connection, number: int, store_id: str, now_ns: int, secret: bytes | None = None
    ) -> StoreLog:
        """A new, empty store; inside the caller's transaction. Draws its secret, if none is given."""
        log = cls(db, number, store_id, secret or os.urandom(32))
        db.execute(
            "INSERT INTO store(number, id, secret, created) VALUES(?, ?, ?, ?)",
            (number, store_id, log.secret, now_ns),
        )
        db.execute(
            "INSERT INTO node(id, name, created, updated, head, last, events, size, body, depth,"
            " spent, first, full, files, total, shown, children, grandchildren, deep, long,"
            " versions, history, horizon, swept)"
            " VALUES(?, '', ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            (log.base, now_ns, now_ns),
        )
        return log

    @classmethod
    def open(cls, db: Connection, number: int = 0) -> StoreLog | None:
        """The store with this number, or None."""
        row = db.execute("SELECT id, secret FROM store WHERE number = ?", (number,)).fetchone()
        return None if row is None else cls(db, number, *row)

    def last_event(self) -> tuple[int, int, bytes] | None:
        """Number, time and chain of the newest event; None in a store without any."""
        return self.db.execute(
            "SELECT seq, at, chain FROM event WHERE seq >= ? AND seq < ? ORDER BY seq DESC LIMIT 1",
            (self.base, self.end),
        ).fetchone()

    def last_seq(self) -> int:
        """The newest event's number; ``base`` of an empty store."""
        last = self.last_event()
        return self.base if last is None else last[0]

    def erase(self) -> None:
        """Remove every row of the store; inside the caller's transaction."""
        for table, key in (
            ("node", "id"),
            ("event", "seq"),
            ("piece", "seq"),
            ("head", "node"),
            ("head_piece", "node"),
            ("redacted", "seq"),
        ):
            self.db.execute(
                f"DELETE FROM {table} WHERE {key} >= ? AND {key} < ?",
                (self.base, self.end),
            )
        self.db.execute("DELETE FROM meta WHERE k = ?", (f"holds.{self.number}",))
        self.db.execute("DELETE FROM store WHERE number = ?", (self.number,))
