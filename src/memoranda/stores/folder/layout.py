"""What lies in a store's directory, and how a new one is laid out."""

from __future__ import annotations

import contextlib
from functools import lru_cache
from typing import Final

import apsw

from memoranda.stores.folder.file_port import NEW_FILE, Files
from memoranda.stores.log import schema
from memoranda.stores.log.connection import Connection

HISTORY: Final = "history.db"
WAL: Final = "history.db-wal"
SHM: Final = "history.db-shm"
LOCK: Final = "lock"
MEMORIES: Final = "memories"
INCOMING: Final = "incoming"
TRASH: Final = "trash"
RECOVERED: Final = "recovered"

_WRITE_VERSION: Final = 18
_READ_VERSION: Final = 19
_WAL_MODE: Final = 2


@lru_cache(maxsize=1)
def empty_database() -> bytes:
    """A database with our tables and nothing in them.

    Running the statements in each new store would take three times as long as copying this.
    """
    memory = apsw.Connection(":memory:")
    _fill(memory)
    image: bytes = memory.serialize("main")
    memory.close()
    return image


def _fill(db: Connection) -> None:
    db.execute("PRAGMA page_size=4096; PRAGMA auto_vacuum=2")
    schema.create(db)


def empty_history() -> bytes:
    """The file of an empty ``history.db``: the same in WAL mode."""
    image = bytearray(empty_database())
    # https://sqlite.org/fileformat2.html#file_format_version_numbers
    image[_WRITE_VERSION] = image[_READ_VERSION] = _WAL_MODE
    return bytes(image)


def open_or_make_directory(files: Files, name: str, directory: int, flags: int) -> int:
    """A descriptor of a directory, which is made if it is not there."""
    try:
        return files.open(name, flags, directory)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            files.close(files.make_directory(name, directory))
        return files.open(name, flags, directory)


def put_empty_history(files: Files, directory: int, incoming: int) -> None:
    """Make ``history.db``, whole and on disk before SQLite opens it."""
    with contextlib.suppress(FileNotFoundError):
        files.remove(HISTORY, incoming)
    descriptor = files.open(HISTORY, NEW_FILE, incoming)
    try:
        files.write(descriptor, [empty_history()])
        files.own(descriptor, files.fstat(descriptor))
        files.fsync(descriptor)
    finally:
        # Before it gets its name: closing a file that SQLite has open drops SQLite's locks.
        files.close(descriptor)
    files.move(HISTORY, incoming, HISTORY, directory)
