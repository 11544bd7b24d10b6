"""The SQLite backend: many stores in one file, readable by any SQLite.

WAL with ``synchronous=FULL``: a commit is one fsync. Threads of a process share one writing
connection by group commit; processes take fair turns at a lock file, so that nobody ever polls in
SQLite's busy handler. Readers have connections of their own and wait for nobody.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakSet

import apsw

from memoranda.errors import Corrupt, Unavailable
from memoranda.stores import control
from memoranda.stores.base import Capabilities, Retention
from memoranda.stores.log import schema
from memoranda.stores.log.database import connect
from memoranda.stores.log.retention import DEFAULT_RETENTION
from memoranda.stores.log.sql_backend import SqlBackend
from memoranda.stores.log.transaction import Transaction
from memoranda.stores.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from memoranda.stores.log.connection import Connection

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
        retention: Retention = DEFAULT_RETENTION,
        vfs: str | None = None,
    ) -> None:
        self._file = SqliteDatabase(os.path.abspath(path), vfs)
        super().__init__(self._file, clock=clock, retention=retention)
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
        self._idle: list[Connection] = []
        self._opening = Lock()  # guards the writing connection's making
        self._writer: _Writer | None = None

    def after_fork(self) -> None:
        """See ``SqliteBackend.after_fork``."""
        _of_the_parent.append((self._idle, self._writer))
        self._begin()

    @contextmanager
    def reading(self) -> Generator[Connection | None]:
        """A reading connection in a transaction of its own; None while there is no file."""
        db = self._idle.pop() if self._idle else self._reader()
        if db is None:
            yield None
            return
        is_sound = True
        try:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")
        except apsw.Error:
            is_sound = False
            raise
        finally:
            # Also after a refusal: to open a connection costs more than most reads.
            if is_sound and not db.in_transaction and len(self._idle) < MOST_READERS:
                self._idle.append(db)
            else:
                db.close()

    def _reader(self) -> Connection | None:
        try:
            if not os.stat(self._path).st_size:
                return None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable("The database can't be opened.") from error
        db = connect(self._path, vfs=self._vfs)
        try:
            if schema.check_format(db):
                return db
        except BaseException:
            db.close()
            raise
        db.close()
        return None

    def writing(self) -> Transaction:
        """A transaction; waits for other processes. Makes file and tables if they are missing."""
        with self._opening:
            if self._writer is None:
                self._writer = _Writer(self._path, self._vfs)
        return self._writer.transaction()

    def scrub(self) -> None:
        """Empty free pages and the write-ahead log, so that what was deleted is in no file.

        Raises ``Unavailable`` if somebody reads on for so long that the log can't be emptied; then
        a later scrub does it.
        """
        with self.writing() as db:
            db.execute("PRAGMA incremental_vacuum")
        assert self._writer is not None  # made above
        self._writer.empty_log()

    def close(self) -> None:
        """Close every connection; the last one of all processes empties the write-ahead log."""
        while self._idle:
            self._idle.pop().close()
        with self._opening:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


class _Writer:
    """The writing connection and what goes with it; held by whoever leads."""

    def __init__(self, path: str, vfs: str | None) -> None:
        self._path = path
        try:
            _make_file(path)
            self._turnstile = Turnstile(path)
        except OSError as error:
            raise Unavailable("The database can't be made or opened.") from error
        try:
            self._turnstile.enter()
            # Before it is opened: whatever takes its place from now on is another file.
            self._ino = os.stat(path).st_ino
            self.db = self._open(vfs)
            self._turnstile.leave()
        except BaseException as error:
            self._turnstile.close()
            if isinstance(error, OSError):
                raise Unavailable("The database can't be made or opened.") from error
            raise

    def _open(self, vfs: str | None) -> Connection:
        db = connect(self._path, vfs=vfs)
        try:
            with Transaction(db):
                if not schema.check_format(db):
                    schema.create(db)
                    db.execute(control.TABLES)
        except BaseException:
            db.close()
            raise
        return db

    def transaction(self) -> Transaction:
        """A transaction between two turns of the turnstile."""
        return _Turn(self)

    def enter(self) -> None:
        """Wait for the turn; the file has to be the one that was opened."""
        self._turnstile.enter()
        try:
            ino = os.stat(self._path).st_ino
        except OSError:
            ino = None
        if ino != self._ino:
            self._turnstile.leave()
            raise Unavailable("The database was moved or replaced while it was open; open it anew.")

    def leave(self) -> None:
        """Let the next one in."""
        self._turnstile.leave()

    def empty_log(self) -> None:
        """See ``SqliteDatabase.scrub``."""
        self.enter()
        try:
            ((busy, _, _),) = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.leave()
        if busy:
            raise Unavailable("Somebody still reads what was deleted; try again.")

    def close(self) -> None:
        """Close all."""
        self._turnstile.enter()
        try:
            self.db.close()
        finally:
            self._turnstile.leave()
            self._turnstile.close()


class _Turn(Transaction):
    def __init__(self, writer: _Writer) -> None:
        super().__init__(writer.db)
        self._writer = writer

    def __enter__(self) -> Connection:
        self._writer.enter()
        try:
            return super().__enter__()
        except BaseException:
            self._writer.leave()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        finally:
            self._writer.leave()


def _make_file(path: str) -> None:
    """Make an empty file, and the directories above, for their owner only; durably."""
    directory = os.path.dirname(path) or "."
    os.makedirs(directory, mode=0o700, exist_ok=True)
    if os.path.exists(path):
        return
    if os.path.exists(path + "-wal"):
        # SQLite would play an old log into a new database: in ten of ten tries a corrupt one.
        raise Corrupt("The database is gone, but its write-ahead log is there; restore both.")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return  # another process was faster
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_backends: WeakSet[SqliteBackend] = WeakSet()
_of_the_parent: list[object] = []
"""Connections and locks that a fork left in this process: never used and never closed, since
closing would drop locks that SQLite holds in this process on the same file."""


def _after_fork() -> None:
    for backend in tuple(_backends):
        backend.after_fork()


os.register_at_fork(after_in_child=_after_fork)
