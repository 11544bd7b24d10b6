"""How a new store is laid out, and how the remains of an old one make room."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple

import apsw

from memoranda.stores.folder import meta
from memoranda.stores.folder.file_port import LISTING, NEW_FILE, Files
from memoranda.stores.folder.home import HISTORY, RECOVERED
from memoranda.stores.log import schema
from memoranda.stores.log.connection import Connection
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.origin import Origin

SALVAGED: Final = "salvaged.db"
"""In ``incoming/``: what a damaged database gave, whole, until it takes that one's place."""

_WRITE_VERSION: Final = 18
_READ_VERSION: Final = 19
_WAL_MODE: Final = 2


class New(NamedTuple):
    """What a new store's database begins with; ``notes`` are those of ``meta``."""

    store_id: str
    now_ns: int
    memories_inode: int
    notes: Mapping[str, Any]
    origin: Origin | None = None


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


def _first_history(new: New, inode: int) -> bytes:
    """The file of a new store's database: whole, so that making it takes no commit."""
    memory = apsw.Connection(":memory:")
    memory.deserialize("main", empty_database())  # pyright: ignore[reportUnknownMemberType]
    _begin(memory, new, inode)
    image = bytearray(memory.serialize("main"))
    memory.close()
    # https://sqlite.org/fileformat2.html#file_format_version_numbers
    image[_WRITE_VERSION] = image[_READ_VERSION] = _WAL_MODE
    return bytes(image)


def _begin(db: Connection, new: New, inode: int) -> None:
    if new.origin is None:
        StoreLog.make(db, 0, new.store_id, new.now_ns)
    else:
        from memoranda.stores.log.sql_batch import begin

        log = StoreLog.make(db, 0, new.store_id, new.now_ns, new.origin.id_key)
        begin(log, new.origin, new.now_ns)
    for key, value in new.notes.items():
        meta.put(db, key, value)
    meta.put(db, meta.PLACE, [inode, new.memories_inode])


def open_or_make_directory(files: Files, name: str, directory: int, flags: int) -> int:
    """A descriptor of a directory, which is made if it is not there."""
    try:
        return files.open(name, flags, directory)
    except FileNotFoundError:
        with suppress(FileExistsError):
            files.close(files.make_directory(name, directory))
        return files.open(name, flags, directory)


def make_history(files: Files, incoming: int, name: str, new: New) -> None:
    """Make a store's database in ``incoming/``, whole and on disk before SQLite opens it."""
    with suppress(FileNotFoundError):
        files.remove(name, incoming)
    descriptor = files.open(name, NEW_FILE, incoming)
    try:
        found = files.fstat(descriptor)
        files.own(descriptor, found)
        files.write(descriptor, [_first_history(new, found.st_ino)])
        files.fsync(descriptor)
    finally:
        # Before it gets its name: closing a file that SQLite has open drops SQLite's locks.
        files.close(descriptor)


def name_aside(now_ns: int) -> str:
    """Where a database goes that is set aside, from the store's directory."""
    return os.path.join(RECOVERED, f"{now_ns}-{HISTORY}")


def set_history_aside(files: Files, directory: int, now_ns: int) -> None:
    """Move ``history.db`` and what belongs to it to ``recovered/``, as far as it is there, under the
    name that ``name_aside`` tells.

    A left-over -wal has to go in any case: a new database beside it takes pages from it.
    """
    name = os.path.basename(name_aside(now_ns))
    for suffix in ("", "-wal", "-shm"):
        try:
            files.stat(HISTORY + suffix, directory)
        except FileNotFoundError:
            continue
        recovered = open_or_make_directory(files, RECOVERED, directory, LISTING)
        try:
            files.move(HISTORY + suffix, directory, name + suffix, recovered)
        finally:
            files.close(recovered)
