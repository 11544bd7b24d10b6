"""Erasing a store's directory: first out of its name, then file by file off the disk."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from memoranda.stores.folder.home import ERASED

if TYPE_CHECKING:
    from memoranda.stores.folder.clock import Clock
    from memoranda.stores.folder.file_port import Files
    from memoranda.stores.folder.place import Place


def erase_directory(files: Files, stores: int, directory: str, place: Place, clock: Clock) -> None:
    """Remove a store's directory, durably. Other processes that have it open notice at their next
    turn; who writes just now is waited for."""
    from memoranda.stores.folder.leftovers import remove_all

    writer = place.open(clock)
    name = ERASED + os.urandom(8).hex()
    if writer is not None:
        with writer.group.alone(), writer.turn():
            writer.opened.mark_erased()
            writer.opened.close()
            files.move(directory, stores, name, stores)
        place.forget(writer.opened)
    else:
        with contextlib.suppress(FileNotFoundError):
            files.move(directory, stores, name, stores)
    place.is_erased = True
    files.fsync(stores)
    remove_all(files, name, stores)
    files.fsync(stores)


def sweep_erased(files: Files, stores: int) -> None:
    """Go on with what an interrupted erasure left."""
    for name in files.names(stores):
        if name.startswith(ERASED):
            from memoranda.stores.folder.leftovers import remove_all

            remove_all(files, name, stores)
