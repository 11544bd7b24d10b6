"""Somebody deleted or replaced ``history.db`` while it was open: it is written anew from here."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import apsw

from memoranda.stores.folder.home import HISTORY, INCOMING
from memoranda.stores.folder.layout import set_history_aside

if TYPE_CHECKING:
    from memoranda.stores.folder.opened import OpenStore


def rescue_history(opened: OpenStore) -> None:
    """Put a copy of the open database in the place of what lies there. Under the lock; the store
    has to be opened anew afterwards."""
    files, incoming = opened.files, opened.incoming.number
    with suppress(FileNotFoundError):
        files.remove(HISTORY, incoming)
    copy = apsw.Connection(os.path.join(opened.path, INCOMING, HISTORY))
    try:
        with copy.backup("main", cast("apsw.Connection", opened.db), "main") as backup:
            backup.step()
    finally:
        copy.close()
    # SQLite sees that the file has moved, and leaves the -wal of that name alone.
    opened.db.close()
    opened.is_closed = True
    set_history_aside(files, opened.directory.number, opened.clock.now_ns())
    descriptor = files.open(HISTORY, os.O_RDWR, incoming)
    try:
        found = files.fstat(descriptor)
        files.own(descriptor, found)
        files.fsync(descriptor)
    finally:
        files.close(descriptor)
    files.move(HISTORY, incoming, HISTORY, opened.directory.number)
    files.fsync(opened.directory.number)
    opened.history_inode = found.st_ino
