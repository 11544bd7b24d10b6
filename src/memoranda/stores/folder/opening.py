"""Opening one store: its descriptors, its database, and what ``recovery`` makes of what it finds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import apsw

from memoranda.errors import Unavailable
from memoranda.stores.folder import meta
from memoranda.stores.folder.descriptor import Descriptor
from memoranda.stores.folder.file_port import LISTING
from memoranda.stores.folder.home import HISTORY, INCOMING, LOCK, MEMORIES
from memoranda.stores.folder.layout import (
    New,
    open_or_make_directory,
    put_new_history,
    set_history_aside,
)
from memoranda.stores.folder.opened import OpenStore
from memoranda.stores.folder.probes import Host, is_on_network, probe_host
from memoranda.stores.folder.recovery import recover
from memoranda.stores.folder.turns import boot_id
from memoranda.stores.log import schema
from memoranda.stores.log.database import connect
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.store_log import StoreLog

if TYPE_CHECKING:
    from memoranda.stores.folder.home import Home, Whose

_CACHE_KIB: Final = 512


class _Damaged(Exception):
    """The database can be opened, but what is in it can't be used."""


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
            _lay_out(opened, store_id, whose)
        try:
            _find_log(opened, home, store_id, whose)
            if is_new:
                opened.is_new = True
                opened.set_applied(opened.log.last_seq())
                _make_durable(opened, home)
            recover(opened, whose)
        except BaseException:
            opened.close_database()
            raise
    finally:
        opened.lock.give_back()
    return opened


def _directory(home: Home, *, make: bool) -> Descriptor | None:
    stores = home.stores.number
    if make:
        return Descriptor(open_or_make_directory(home.files, home.name, stores, LISTING))
    try:
        return Descriptor(home.files.open(home.name, LISTING, stores))
    except FileNotFoundError:
        return None


def _descriptors(home: Home, directory: Descriptor) -> OpenStore:
    files, number = home.files, directory.number
    lock = Descriptor(files.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, number))
    files.own(lock.number, files.fstat(lock.number))
    memories = Descriptor(open_or_make_directory(files, MEMORIES, number, LISTING))
    incoming = Descriptor(open_or_make_directory(files, INCOMING, number, LISTING))
    opened = OpenStore(files, home.clock, directory, lock, memories, incoming, home.directory)
    opened.boot_id = boot_id()
    return opened


def _lay_out(opened: OpenStore, store_id: str | None, whose: Whose) -> None:
    set_history_aside(opened.files, opened.directory.number, opened.clock.now_ns())
    put_new_history(
        opened.files,
        opened.directory.number,
        opened.incoming.number,
        New(
            store_id=store_id or new_store_id(opened.clock.now_ns()),
            now_ns=opened.clock.now_ns(),
            memories_inode=opened.files.fstat(opened.memories.number).st_ino,
            notes={
                meta.INSTANCE: os.urandom(8).hex(),
                meta.HOST: probe_host(opened.files, opened.incoming.number),
                meta.WHOSE: whose,
            },
        ),
    )


def _connect(opened: OpenStore, home: Home) -> None:
    opened.history_inode = opened.inode_of(HISTORY) or 0
    opened.db = connect(
        os.path.join(home.directory, HISTORY),
        cache_kib=_CACHE_KIB,
        vfs=home.vfs,
        exclusive=opened.lock.kept,
    )


def _find_log(opened: OpenStore, home: Home, store_id: str | None, whose: Whose) -> None:
    """The store in its database; a damaged one is salvaged, or begun anew."""
    try:
        _connect(opened, home)
        _check_database(opened)
    except (_Damaged, apsw.CorruptError, apsw.NotADBError):
        from memoranda.stores.folder.salvage import salvage

        opened.close_database()
        aside = set_history_aside(opened.files, opened.directory.number, opened.clock.now_ns())
        _lay_out(opened, store_id, whose)
        _connect(opened, home)
        salvage(opened.db, os.path.join(home.directory, aside), opened.clock.now_ns())
    log = StoreLog.open(opened.db)
    assert log is not None  # checked, or just laid out
    opened.log = log
    opened.created_at_ns = opened.db.execute("SELECT created FROM store").get
    opened.host = Host(*meta.get(opened.db, meta.HOST))
    opened.load_shared()


def _check_database(opened: OpenStore) -> None:
    """See that the database is one of ours and can be read.

    A file in another place than before (a copy, a restored backup) is checked page by page.
    Raises ``_Damaged`` or an apsw.Error; ``Corrupt`` for another program's database, and
    ``Unavailable`` for another version's, which are not ours to set aside.
    """
    db = opened.db
    if not schema.check_format(db) or StoreLog.open(db) is None:
        raise _Damaged
    if meta.get(db, meta.HOST) is None:
        raise _Damaged
    if meta.get(db, meta.PLACE) != opened.place():
        said = db.execute("PRAGMA quick_check(1)").fetchall()
        if said != [("ok",)]:
            raise _Damaged


def _make_durable(opened: OpenStore, home: Home) -> None:
    for descriptor in (opened.directory.number, home.stores.number):
        opened.files.fsync(descriptor)
