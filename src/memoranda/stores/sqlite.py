"""The SQLite backend: many stores in one file, readable by any SQLite.

WAL with ``synchronous=FULL``: a commit is one fsync. Threads of a process share one writing
connection by group commit; processes take fair turns at a lock file, so that nobody ever polls in
SQLite's busy handler. Readers have connections of their own and wait for nobody.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakSet

import apsw

from memoranda.errors import Corrupt, Unavailable
from memoranda.stores import control
from memoranda.stores.base import Capabilities
from memoranda.stores.log import schema
from memoranda.stores.log.database import as_ours, connect
from memoranda.stores.log.sql_backend import SqlBackend
from memoranda.stores.log.transaction import Transaction
from memoranda.stores.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

MOST_READERS: Final = 8
"""Reading connections that are kept; more are opened when needed and closed again."""


class SqliteBackend(SqlBackend):
    """Stores in the file at ``path``, which is made, private to its owner, at the first change.

    Safe to use from many threads and processes of one machine; the file has to lie on a local file
    system. ``clock`` gives nanoseconds since 1970; ``vfs`` names a VFS of SQLite's, for tests.
    """

    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], int] = time.time_ns,
        vfs: str | None = None,
    ) -> None:
        self._file = SqliteDatabase(os.fspath(path), vfs)
        super().__init__(self._file, clock=clock)
        _backends.add(self)

    def after_fork(self) -> None:
        """In the child: open everything anew, close nothing of the parent's."""
        super().after_fork()
        self._file.after_fork()


class SqliteDatabase:
    """The file: one writing connection, a few reading ones, and the turnstile."""

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self._path = path
        self._vfs = vfs
        self._begin()

    def _begin(self) -> None:
        self._writer: apsw.Connection | None = None
        self._turnstile: Turnstile | None = None
        self._idle: list[apsw.Connection] = []
        self._opening = Lock()  # guards the making of the first connection to an existing file
        self._is_known = False

    def after_fork(self) -> None:
        """See ``SqliteBackend.after_fork``."""
        _of_the_parent.append((self._writer, self._turnstile, self._idle))
        self._begin()

    # ---- reading

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection | None]:
        """A reading connection in a transaction of its own; None while there is no file."""
        try:
            db = self._idle.pop()
        except IndexError:
            db = self._open_reader()
            if db is None:
                yield None
                return
        try:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")
        except apsw.Error:
            db.close()
            raise
        if len(self._idle) < MOST_READERS:
            self._idle.append(db)
        else:
            db.close()
