"""A write transaction that knows for certain whether it took effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from memoranda.stores.log.connection import Connection


class Transaction:
    """BEGIN IMMEDIATE to COMMIT, as a context that gives the connection.

    Set ``wanted`` to False to have everything rolled back at the end though nothing failed.
    ``is_done`` tells afterwards that the end was as wanted, also where an interrupt came in right
    after the COMMIT; everything else was rolled back. ``stands``, if set, is asked whether the
    changes are there when COMMIT fails and leaves no transaction open: what goes wrong right after
    it (SQLite cuts the write-ahead log to size) can come out of the same call.
    """

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.wanted = True
        self.is_done = False
        self.stands: Callable[[], bool] | None = None

    def __enter__(self) -> Connection:
        self.db.execute("BEGIN IMMEDIATE")
        return self.db

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        commits = kind is None and self.wanted
        refused = False
        try:
            if commits:
                self.db.execute("COMMIT")
        except apsw.Error:
            refused = True  # also if asking fails
            refused = self.db.in_transaction or self.stands is None or not self.stands()
            if refused:
                raise
        finally:
            open_still = self.db.in_transaction
            if open_still:
                self.db.execute("ROLLBACK")
            self.is_done = kind is None and not refused and open_still is not commits


class Database(Protocol):
    """Where a ``SqlBackend`` gets its connections."""

    def reading(self) -> AbstractContextManager[Connection | None]:
        """A connection that sees one state; None while nothing was ever written."""
        ...

    def writing(self) -> Transaction:
        """A transaction; the tables are there. Only one at a time."""
        ...

    def scrub(self) -> None:
        """See that what was deleted is gone from storage."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
