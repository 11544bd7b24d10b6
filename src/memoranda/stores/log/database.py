"""Opening a database, and what SQLite's errors mean to us."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, cast

import apsw

from memoranda.errors import Corrupt, MemorandaError, Misuse, Unavailable
from memoranda.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.stores.log.connection import Connection

_STATEMENTS: Final = 200
"""Prepared statements kept for each connection; the log has fewer."""
BUSY_MILLISECONDS = 5000
"""How long to wait for whoever holds the database: a checkpoint, a recovery, another program."""
JOURNAL_LIMIT_BYTES: Final = 4 * 1024 * 1024


def connect(
    path: str,
    *,
    cache_kib: int = 2048,
    vfs: str | None = None,
    exclusive: bool = False,
    check: Callable[[Connection], object] | None = None,
) -> Connection:
    """A connection for reading and writing, set up for durable commits.

    ``check`` looks at the file before anything is changed in it; what it raises closes the
    connection.

    WAL with ``synchronous=FULL``: a commit is one fsync and survives power loss. Blanked and
    deleted contents are overwritten (``secure_delete=FAST``: wherever that costs no write of its
    own). The caller serialises writers, so that nobody ever waits in SQLite's busy handler for
    long; five seconds cover checkpoints and recovery. ``exclusive`` locks everybody else out and
    does without shared memory, which network disks don't have.
    """
    db = open_connection(path, vfs)
    try:
        _set_up(db, cache_kib, check, exclusive=exclusive)
    except BaseException:
        db.close()
        raise
    return db


def _set_up(
    db: Connection,
    cache_kib: int,
    check: Callable[[Connection], object] | None,
    *,
    exclusive: bool,
) -> None:
    db.set_busy_timeout(BUSY_MILLISECONDS)
    if exclusive:
        db.pragma("locking_mode", "exclusive")
    if check is not None:
        check(db)
    if not db.pragma("page_count"):
        # Incremental. In a file that has it already this would write, and wait for the writer.
        db.pragma("auto_vacuum", 2)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", 2)  # full
    if sys.platform == "darwin":  # pragma: no cover - only macOS tells a flush from a sync
        db.pragma("fullfsync", 1)
        db.pragma("checkpoint_fullfsync", 1)
    db.pragma("secure_delete", "fast")
    db.pragma("cache_size", -cache_kib)
    db.pragma("journal_size_limit", JOURNAL_LIMIT_BYTES)
    db.pragma("trusted_schema", 0)


def open_connection(path: str, vfs: str | None = None) -> Connection:
    """A connection as SQLite gives it, with the types that we need of it.

    Plans are made once and for any values: this SQLite otherwise plans a statement anew for each
    value that an index could matter for (20 us for a small read instead of 6).
    """
    db = apsw.Connection(path, vfs=vfs, statementcachesize=_STATEMENTS)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return cast("Connection", db)


NONSENSE: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError,
)  # fmt: skip
"""What code comes upon that works with the values of a damaged row; a damaged text is decoded by
apsw and is one of them. Code that works with nothing else translates these: ``raise damaged() from
error``. What a caller's code raises is not among it (``edit_failed.py``)."""

FOREIGN: Final = (apsw.Error, *NONSENSE)
"""What comes out of SQLite besides rows that make sense."""

_DAMAGE: Final = (
    apsw.CorruptError,
    apsw.NotADBError,
    # Every statement is ours, and right for the tables that we made: these are others by now.
    apsw.SQLError,
    apsw.ConstraintError,
    apsw.MismatchError,
    *NONSENSE,
)

_OTHER_TABLES: Final = lazy_pattern(
    r"^no such (table|column)|has no column named|columns but \d+ values were supplied"
)


def damaged() -> Corrupt:
    """The error for rows that can't be, such as a text where a number was written."""
    return Corrupt("The database is damaged.")


def is_beyond_use(error: apsw.Error) -> bool:
    """Whether an error tells for certain of a damaged file: bad pages, or tables that are not ours
    any more (all that we ask for was there when it was made)."""
    if isinstance(error, apsw.SQLError):
        return _OTHER_TABLES.search(str(error)) is not None
    return isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.FormatError))


def as_ours(error: Exception) -> MemorandaError:
    """What one of ``FOREIGN`` means: raise it ``from`` the error.

    Nothing of SQLite's text goes into ours; the cause has it.
    """
    if isinstance(error, _DAMAGE):
        return damaged()
    if isinstance(error, (apsw.FullError,)):
        return Unavailable("The disk is full.")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Unavailable("The database is in use by somebody else.")
    if isinstance(error, apsw.ReadOnlyError):
        return Unavailable("The database can't be written.")
    if isinstance(error, (apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)):
        return Unavailable("The database can't be opened.")
    if isinstance(error, (apsw.IOError, apsw.NoMemError, apsw.InterruptError, apsw.ProtocolError)):
        return Unavailable("The database can't be read or written now.")
    return Misuse("The database refused a statement.")
