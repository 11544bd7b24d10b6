"""The SQLite backend: many stores in one file, readable by any SQLite.

WAL with ``synchronous=FULL``: a commit is one fsync. Threads of a process share one writing
connection by group commit; processes take fair turns at a lock file, so that nobody ever polls in
SQLite's busy handler. Readers have connections of their own and wait for nobody.
"""

from __future__ import annotations

import os
import time
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from memoranda.errors import Misuse, Unavailable
from memoranda.stores import control, forks
from memoranda.stores.base import Capabilities, Retention
from memoranda.stores.log import schema
from memoranda.stores.log.database import connect
from memoranda.stores.log.retention import DEFAULT_RETENTION
from memoranda.stores.log.sql_backend import SqlBackend
from memoranda.stores.log.transaction import Transaction
from memoranda.stores.reader_pool import Lent, ReaderPool
from memoranda.stores.sqlite_file import DatabaseFile
from memoranda.stores.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from memoranda.stores.log.connection import Connection


class SqliteBackend(SqlBackend):
    """Stores in the file at ``path``, which is made, private to its owner, at the first change.

    Safe to use from many threads and processes of one machine; the file has to lie on a local file
    system. ``clock`` gives nanoseconds since 1970; ``vfs`` names a VFS of SQLite's, for tests.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(audits=True, takes_history=True)

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
        forks.watch(self)

    def before_fork(self, seconds: float) -> bool:
        return self._file.hold(seconds) and super().before_fork(seconds)

    def after_fork_in_parent(self) -> None:
        super().after_fork_in_parent()
        self._file.let_go()

    def after_fork_in_child(self, *, is_quiet: bool) -> None:
        super().after_fork_in_child(is_quiet=is_quiet)
        self._file.after_fork(is_quiet=is_quiet)


class SqliteDatabase:
    """The file: one writing connection, a few reading ones, and the turnstile."""

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self._file = DatabaseFile(path)
        self._vfs = vfs
        self._begin()

    def _begin(self) -> None:
        self._readers = ReaderPool(self._reader)
        self._opening = Lock()  # guards the writing connection's making
        self._writer: _Writer | None = None

    def hold(self, seconds: float) -> bool:
        """Have nobody read; whether that was possible within so many seconds."""
        return self._readers.hold(seconds)

    def let_go(self) -> None:
        """Let readers go on."""
        self._readers.let_go()

    def after_fork(self, *, is_quiet: bool) -> None:
        """In the child: close what is the parent's and begin anew."""
        readers, writer = self._readers, self._writer
        self._begin()
        if not is_quiet:
            _copied_at_work[os.path.realpath(self._file.path)] = (readers, writer)
            return
        readers.close()
        if writer is not None:
            writer.let_go()

    def reading(self) -> Lent:
        """A reading connection in a transaction of its own; None while there is no file."""
        return self._readers.lent()

    def _reader(self) -> Connection | None:
        file = self._file
        if not file.is_made():
            return None
        _check_not_copied(file.path)
        try:
            ino = file.know()
        except OSError as error:
            raise Unavailable("The database can't be opened.") from error
        db = connect(file.path, vfs=self._vfs, check=schema.check_format)
        if schema.check_format(db):
            file.opened(ino)
            return db
        db.close()
        return None

    def writing(self) -> Transaction:
        """A transaction; waits for other processes. Makes file and tables if they are missing."""
        with self._opening:
            if self._writer is None:
                self._writer = _Writer(self._file, self._vfs)
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
        self._readers.close()
        with self._opening:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


class _Writer:
    """The writing connection and what goes with it; held by whoever leads."""

    def __init__(self, file: DatabaseFile, vfs: str | None) -> None:
        self._file = file
        _check_not_copied(file.path)
        try:
            file.make_directory()
            self._turnstile = Turnstile(file.path)
        except OSError as error:
            raise Unavailable("The database can't be made or opened.") from error
        try:
            self._turnstile.enter()
            file.make()
            self.db = self._open(vfs)
            self._turnstile.leave()
        except BaseException as error:
            self._turnstile.close()
            if isinstance(error, OSError):
                raise Unavailable("The database can't be made or opened.") from error
            raise

    def _open(self, vfs: str | None) -> Connection:
        file = self._file
        ino = file.know()
        db = connect(file.path, vfs=vfs, check=schema.check_format)
        try:
            with Transaction(db):
                if not schema.check_format(db):
                    schema.create(db)
                    db.execute(control.TABLES)
            file.opened(ino)
            file.opened_for_writing()
        except BaseException:
            db.close()
            raise
        return db

    def transaction(self) -> Transaction:
        """A transaction between two turns of the turnstile."""
        return _Turn(self)

    def enter(self) -> None:
        """Wait for the turn; the file and its log have to be the ones that were opened."""
        self._turnstile.enter()
        try:
            self._file.check()
            if self._file.has_lost_log():
                # What was acknowledged lies in that log, which goes with the last who has it open.
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                raise self._file.log_is_lost()
        except BaseException:
            self._turnstile.leave()
            raise

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

    def let_go(self) -> None:
        """In the child of a fork: close all without a turn. A turn would be the parent's: the
        lock goes with the description of the file, which both have."""
        self.db.close()
        self._turnstile.close()

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
            db = super().__enter__()
        except BaseException:
            self._writer.leave()
            raise
        try:
            schema.check_still_ours(db)
        except BaseException:
            try:
                db.execute("ROLLBACK")
            finally:
                self._writer.leave()
            raise
        return db

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


_copied_at_work: dict[str, object] = {}
"""Files that were in use when this process was forked off, and the parent's connections to them,
which may never be closed: SQLite in this process takes locks for held that the parent has."""


def _check_not_copied(path: str) -> None:
    if _copied_at_work and os.path.realpath(path) in _copied_at_work:
        raise Misuse("This process was forked off amid work on the database; it can't use it.")
