"""Opening one store: its descriptors, its database, and what ``recovery`` makes of what it finds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from memoranda.errors import Corrupt, Unavailable
from memoranda.stores.folder import meta
from memoranda.stores.folder.descriptor import Descriptor
from memoranda.stores.folder.file_port import LISTING
from memoranda.stores.folder.home import HISTORY, INCOMING, LOCK, MEMORIES
from memoranda.stores.folder.layout import (
    SALVAGED,
    New,
    make_history,
    name_aside,
    open_or_make_directory,
    set_history_aside,
)
from memoranda.stores.folder.opened import OpenStore
from memoranda.stores.folder.probes import Host, is_on_network, probe_host
from memoranda.stores.folder.recovery import recover
from memoranda.stores.folder.turns import boot_id
from memoranda.stores.log import schema
from memoranda.stores.log.database import connect, is_beyond_use
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.store_log import StoreLog

if TYPE_CHECKING:
    from memoranda.stores.folder.file_port import Files
    from memoranda.stores.folder.home import Home, Whose
    from memoranda.stores.origin import Origin

_CACHE_KIB: Final = 512
_SALVAGING: Final = "salvaging.db"
"""In ``incoming/``: a new database while it takes over what a damaged one holds."""


class TakenUp(NamedTuple):
    """What a store begins with that is to take over another one's history."""

    origin: Origin
    created_at_ns: int


class Maker(NamedTuple):
    """How a store is made where there is none: its id (None: it isn't), whose it is, and what it
    begins with."""

    store_id: str | None
    whose: Whose
    taken_up: TakenUp | None


class _Damaged(Exception):
    """The database can be opened, but what is in it can't be used."""


def open_store(
    home: Home,
    store_id: str | None,
    whose: Whose,
    *,
    anew: bool = False,
    taken_up: TakenUp | None = None,
) -> OpenStore | None:
    """The store, in order and ready; None if there is none and ``store_id`` is None, too.

    With a ``store_id`` a missing store is made, durably, and begins with what was ``taken_up``. A damaged database is set aside and
    salvaged; ``anew`` does that with any. Raises OSError, apsw.Error, and ``Unavailable`` where
    another process holds it alone.
    """
    directory = _directory(home, make=store_id is not None)
    if directory is None:
        return None
    opened = _descriptors(home, directory)
    if is_on_network(home.files, directory.number) and not opened.lock.keep():
        raise Unavailable("The memory is in use by another process.")
    try:
        opened.lock.take()
        try:
            maker = Maker(store_id, whose, taken_up)
            return opened if _open(opened, home, maker, anew=anew) else None
        finally:
            opened.lock.give_back()
    except BaseException:
        # Not left to the garbage: whoever tries again waits for the lock that it holds.
        opened.abandon()
        raise


def _open(opened: OpenStore, home: Home, maker: Maker, *, anew: bool) -> bool:
    """Find the store in its place, or make it; False if there is none and none is made."""
    is_new = opened.inode_of(HISTORY) is None and not _finish_salvage(opened)
    if is_new and maker.store_id is None and not opened.tree.holds_anything():
        return False
    if is_new:
        _lay_out(opened, maker)
    try:
        if anew and not is_new:
            raise _Damaged
        _use(opened, home, maker.whose, is_new=is_new)
    except (_Damaged, apsw.Error) as error:
        opened.close_database()
        if isinstance(error, apsw.Error) and not is_beyond_use(error):
            raise
        _begin_anew(opened, home, maker)
    return True


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
    memories, is_lost = _memories(files, number)
    incoming = Descriptor(open_or_make_directory(files, INCOMING, number, LISTING))
    opened = OpenStore(files, home.clock, directory, lock, memories, incoming, home.directory)
    opened.boot_id = boot_id()
    opened.is_tree_lost = is_lost
    return opened


def _memories(files: Files, directory: int) -> tuple[Descriptor, bool]:
    """The directory of the files, and whether it had to be made."""
    try:
        return Descriptor(files.open(MEMORIES, LISTING, directory)), False
    except FileNotFoundError:
        return Descriptor(open_or_make_directory(files, MEMORIES, directory, LISTING)), True


def _lay_out(opened: OpenStore, maker: Maker) -> None:
    files, directory, incoming = opened.files, opened.directory.number, opened.incoming.number
    set_history_aside(files, directory, opened.clock.now_ns())
    make_history(files, incoming, HISTORY, _new(opened, maker))
    files.move(HISTORY, incoming, HISTORY, directory)


def _new(opened: OpenStore, maker: Maker) -> New:
    taken_up = maker.taken_up
    return New(
        store_id=maker.store_id or new_store_id(opened.clock.now_ns()),
        now_ns=opened.clock.now_ns() if taken_up is None else taken_up.created_at_ns,
        memories_inode=opened.files.fstat(opened.memories.number).st_ino,
        notes={
            meta.INSTANCE: os.urandom(8).hex(),
            meta.HOST: probe_host(opened.files, opened.incoming.number),
            meta.WHOSE: maker.whose,
        },
        origin=None if taken_up is None else taken_up.origin,
    )


def _connect(opened: OpenStore, home: Home) -> None:
    opened.history_inode = opened.inode_of(HISTORY) or 0
    opened.db = connect(
        os.path.join(home.directory, HISTORY),
        cache_kib=_CACHE_KIB,
        vfs=home.vfs,
        exclusive=opened.lock.kept,
    )


def _use(opened: OpenStore, home: Home, whose: Whose, *, is_new: bool = False) -> None:
    """The store in its database, brought into order; raises ``_Damaged`` or an apsw.Error if it
    can't be."""
    _connect(opened, home)
    opened.log, notes = _checked(opened)
    opened.created_at_ns = opened.db.execute("SELECT created FROM store").get
    opened.host = Host(*notes[meta.HOST])
    opened.load_shared()
    if is_new:
        opened.is_new = True
        opened.set_applied(opened.log.last_seq())
        _make_durable(opened, home)
    recover(opened, whose)


def _begin_anew(opened: OpenStore, home: Home, maker: Maker) -> None:
    """Take over what is whole in a damaged database, set it aside, and take in the files as they
    lie.

    The new database is whole before the old one leaves its place, so that whoever comes after a
    crash anywhere in between either begins again or finishes (``_finish_salvage``).
    """
    from memoranda.stores.folder.salvage import note_damage, salvage

    files, incoming = opened.files, opened.incoming.number
    now = opened.clock.now_ns()
    make_history(files, incoming, _SALVAGING, _new(opened, maker))
    db = connect(os.path.join(home.directory, INCOMING, _SALVAGING), vfs=home.vfs)
    try:
        versions = salvage(db, os.path.join(home.directory, HISTORY))
        notices = note_damage(db, now, name_aside(now), versions)
    finally:
        db.close()
    files.replace(_SALVAGING, incoming, SALVAGED, incoming)
    files.fsync(incoming)
    set_history_aside(files, opened.directory.number, now)
    _finish_salvage(opened)
    opened.notices = notices
    _use(opened, home, maker.whose)


def _finish_salvage(opened: OpenStore) -> bool:
    """Put a salvaged database into its place, if one waits."""
    files, directory = opened.files, opened.directory.number
    try:
        files.stat(SALVAGED, opened.incoming.number)
    except FileNotFoundError:
        return False
    set_history_aside(files, directory, opened.clock.now_ns())  # what is left of the old one
    files.move(SALVAGED, opened.incoming.number, HISTORY, directory)
    files.fsync(directory)
    return True


def _checked(opened: OpenStore) -> tuple[StoreLog, dict[str, Any]]:
    """The log and the notes, if the database is one of ours and can be read.

    A file in another place than before (a copy, a restored backup) is checked page by page.
    Raises ``_Damaged`` or an apsw.Error; ``Corrupt`` for another program's database, and
    ``Unavailable`` for another version's, which are not ours to set aside.
    """
    db = opened.db
    log = StoreLog.open(db) if schema.check_format(db) else None
    try:
        notes = {} if log is None else meta.all_of(db)
    except Corrupt as error:
        raise _Damaged from error
    if log is None or meta.HOST not in notes or meta.WHOSE not in notes:
        raise _Damaged
    if db.execute("SELECT 1 FROM node WHERE id = ?", (log.base,)).get is None:
        raise _Damaged
    if notes.get(meta.PLACE) != opened.place():
        said = db.execute("PRAGMA quick_check(1)").fetchall()
        if said != [("ok",)]:
            raise _Damaged
    return log, notes


def _make_durable(opened: OpenStore, home: Home) -> None:
    for descriptor in (opened.directory.number, home.stores.number):
        opened.files.fsync(descriptor)
