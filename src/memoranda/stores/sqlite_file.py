"""The file of the SQLite backend: made private and durable, and told apart from any other.

An empty file is a new database to SQLite, so one that lost its contents would begin anew as if
nothing had ever been remembered. Whether a database was there says the lock file beside it, which is
marked once the tables are made (``docs/decisions/0030-an-emptied-database-is-damage.md``).
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

from memoranda.errors import Corrupt, Unavailable
from memoranda.stores.turnstile import LOCK

_MARK: Final = b"made\n"
_WAL: Final = "-wal"
_SIDE_FILES: Final = (_WAL, "-shm")

_MOVED: Final = "The database was moved or replaced while it was open; open it anew."
_EMPTIED: Final = "The database is empty though it held something; restore it from a copy."
_GONE: Final = "The database is gone, but its write-ahead log is there; restore both."
_LOG_LOST: Final = (
    "The database's write-ahead log or its index was removed while it was open; "
    "close whatever has the database open, then open it anew."
)


class DatabaseFile:
    """The file at ``path``: whether it holds a database, and whether it is still the same one."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._ino: int | None = None
        self._side_inos: list[int | None] = []

    # ---- before it is opened

    def is_made(self) -> bool:
        """Whether there is a database that can be opened; False for none yet.

        Raises ``Corrupt`` for a file that lost its contents and for a log without its database,
        ``Unavailable`` for another file than the one that was opened before.
        """
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            if self._ino is not None:
                raise Unavailable(_MOVED) from None
            if _size_of(self.path + _WAL):
                # SQLite would play an old log into a new database: in ten of ten tries a corrupt
                # one.
                raise Corrupt(_GONE) from None
            return False
        except OSError as error:
            raise Unavailable("The database can't be opened.") from error
        if self._ino not in {None, found.st_ino}:
            raise Unavailable(_MOVED)
        if found.st_size:
            return True
        if self._ino is not None or _size_of(self.path + LOCK) or _size_of(self.path + _WAL):
            raise Corrupt(_EMPTIED)
        return False

    def make_directory(self) -> None:
        """Make the directories above, for their owner only, durably."""
        _make_directory(os.path.dirname(self.path))

    def make(self) -> None:
        """Make an empty file for its owner only, durably, if there is none; the caller has the
        turn. Raises what ``is_made`` does."""
        if self.is_made() or os.path.exists(self.path):
            return
        # Before the file is there: a kill right after it must not leave an empty marked one.
        with contextlib.suppress(FileNotFoundError):
            os.truncate(self.path + LOCK, 0)
        made = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(made, 0o600)  # whatever the umask is; SQLite's own files follow this one
        finally:
            os.close(made)
        _sync(os.path.dirname(self.path))

    # ---- once it is open

    def know(self) -> int:
        """The file's number; to be asked before it is opened, so that whatever takes its place
        from then on is another file."""
        return os.stat(self.path).st_ino

    def opened(self, ino: int) -> None:
        """The file that had this number holds our tables and is open."""
        self._ino = ino

    def opened_for_writing(self) -> None:
        """The same, by a writer, who has the turn: mark that it was made, and know the log."""
        self._side_inos = [_ino_of(self.path + end) for end in _SIDE_FILES]
        if not _size_of(self.path + LOCK):
            descriptor = os.open(self.path + LOCK, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, _MARK)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def check(self) -> None:
        """See that the open file lies where it lay. Raises ``Unavailable``, and ``Corrupt`` if it
        was emptied."""
        try:
            found = os.stat(self.path)
        except OSError:
            raise Unavailable(_MOVED) from None
        if found.st_ino != self._ino:
            raise Unavailable(_MOVED)
        if not found.st_size:
            raise Corrupt(_EMPTIED)

    def has_lost_log(self) -> bool:
        """Whether the write-ahead log that a writer opened, or its index, lies there no more:
        nobody else would see what is written to it, and a kill would lose it."""
        return [_ino_of(self.path + end) for end in _SIDE_FILES] != self._side_inos

    def log_is_lost(self) -> Unavailable:
        """What to raise then."""
        return Unavailable(_LOG_LOST)


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _ino_of(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def _make_directory(path: str) -> None:
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    _make_directory(above)
    with contextlib.suppress(FileExistsError):  # another process was faster
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
        _sync(above)


def _sync(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
