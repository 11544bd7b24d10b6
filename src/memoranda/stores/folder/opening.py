"""Opening one store: its descriptors, its database, and what ``recovery`` makes of what it finds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import Unavailable
from memoranda.stores.folder import meta
from memoranda.stores.folder.descriptor import Descriptor
from memoranda.stores.folder.file_port import LISTING, Files
from memoranda.stores.folder.layout import (
    HISTORY,
    INCOMING,
    LOCK,
    MEMORIES,
    RECOVERED,
    SHM,
    WAL,
    open_or_make_directory,
    put_empty_history,
)
from memoranda.stores.folder.opened import OpenStore, roll_back
from memoranda.stores.folder.probes import Host, is_on_network, probe_host
from memoranda.stores.folder.recovery import recover
from memoranda.stores.folder.turns import boot_id
from memoranda.stores.log.database import connect
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.store_log import StoreLog

if TYPE_CHECKING:
    from memoranda.stores.folder.clock import Clock

_CACHE_KIB: Final = 512


class Home(NamedTuple):
    """Where a store lies: ``name`` in the directory ``stores``, whose path on the host is
    ``path``. ``vfs`` is a SQLite VFS for tests."""

    files: Files
    clock: Clock
    stores: Descriptor
    path: str
    name: str
    vfs: str | None = None


class Whose(NamedTuple):
    """Whose a store is: a user's in a workspace, or (``user`` None) one made through the API."""

    workspace: str
    user: str | None
    name: str


def open_store(home: Home, store_id: str | None, whose: Whose) -> OpenStore | None:
    """The store, in order and ready; None if there is none and ``store_id`` is None, too.

    With a ``store_id`` a missing store is made, durably. Raises OSError, apsw.Error, and
    ``Unavailable`` where another process holds it alone.
    """
    directory = _directory(home, make=store_id is not None)
    if directory is None:
        return None
    opened = _descriptors(home, directory)
    if is_on_network(home.files, directory.number) and not opened.lock.keep():
        raise Unavailable("The memory is in use by another process.")
    opened.lock.take()
    try:
        is_new = opened.inode_of(HISTORY) is None
        if is_new and store_id is None and not opened.tree.holds_anything():
            return None
        if is_new:
            _lay_out(opened)
        _connect(opened, home)
        try:
            _begin(opened, store_id, whose)
            recover(opened)
            if is_new:
                _make_durable(opened, home)
        except BaseException:
            opened.db.close()
            raise
    finally:
        opened.lock.give_back()
    return opened


def _directory(home: Home, *, make: bool) -> Descriptor | None:
    if make:
        return Descriptor(
            open_or_make_directory(home.files, home.name, home.stores.number, LISTING)
        )
    try:
        return Descriptor(home.files.open(home.name, LISTING, home.stores.number))
    except FileNotFoundError:
        return None


def _descriptors(home: Home, directory: Descriptor) -> OpenStore:
    files, number = home.files, directory.number
    lock = Descriptor(files.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, number))
    files.own(lock.number, files.fstat(lock.number))
    memories = Descriptor(open_or_make_directory(files, MEMORIES, number, LISTING))
    incoming = Descriptor(open_or_make_directory(files, INCOMING, number, LISTING))
    return OpenStore(files, home.clock, directory, lock, memories, incoming)


def _lay_out(opened: OpenStore) -> None:
    """A new database. What is left of another one would corrupt it: a new database beside an old
    -wal takes pages from it."""
    files, directory = opened.files, opened.directory.number
    for name in (WAL, SHM):
        if opened.inode_of(name) is not None:
            recovered = open_or_make_directory(files, RECOVERED, directory, LISTING)
            try:
                files.move(name, directory, f"{opened.clock.now_ns()}-{name}", recovered)
            finally:
                files.close(recovered)
    put_empty_history(files, directory, opened.incoming.number)


def _connect(opened: OpenStore, home: Home) -> None:
    path = os.path.join(home.path, home.name, HISTORY)
    opened.history_inode = opened.inode_of(HISTORY) or 0
    opened.db = connect(path, cache_kib=_CACHE_KIB, vfs=home.vfs)


def _begin(opened: OpenStore, store_id: str | None, whose: Whose) -> None:
    """Find the store in its database, or make it there."""
    opened.boot_id = boot_id()
    log = StoreLog.open(opened.db)
    if log is None:
        opened.host = probe_host(opened.files, opened.incoming.number)
        opened.db.execute("BEGIN IMMEDIATE")
        try:
            now = opened.clock.now_ns()
            log = StoreLog.make(opened.db, 0, store_id or new_store_id(now), now)
            meta.put(opened.db, meta.HOST, opened.host)
            meta.put(opened.db, meta.PLACE, opened.place())
            meta.put(opened.db, meta.WHOSE, whose)
            opened.db.execute("COMMIT")
        except BaseException:
            roll_back(opened.db)
            raise
        opened.log = log
        opened.is_new, opened.created_at_ns = True, now
        opened.set_applied(log.last_seq())
    else:
        opened.host = Host(*(meta.get(opened.db, meta.HOST) or Host()))
        opened.log = log
    opened.load_shared()


def _make_durable(opened: OpenStore, home: Home) -> None:
    for descriptor in (opened.directory.number, home.stores.number):
        opened.files.fsync(descriptor)
