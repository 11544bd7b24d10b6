"""Which state a store is found in, and what has to be done before anybody may use it.

Looked for in this order:

    place differs                 copy: another disk, another folder, a restored backup; also
                                  where the directory of the files is missing
    boot id differs               power cut: the disk may have lost or torn what was not synced
    applied < newest event        redo: a process died between commit and tree
    otherwise                     clean

A store without ``history.db`` is laid out before (``opening``), a damaged one salvaged.
"""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Final

from memoranda.stores.folder import meta
from memoranda.stores.folder.home import HISTORY, LOCK, MEMORIES
from memoranda.stores.folder.open_tree import Reopen
from memoranda.stores.folder.turns import NO_BOOT_ID
from memoranda.stores.log import schema

if TYPE_CHECKING:
    from memoranda.stores.folder.home import Whose
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.folder.turns import Word

_TICK_NS: Final = 2_000_000_000
"""File systems tell times in steps of up to two seconds."""

# What a store that is found in order does not need is loaded when it is needed.


def recover(opened: OpenStore, whose: Whose) -> None:
    """Bring a store that was just opened into order. Under the lock."""
    word = opened.lock.word()
    opened.word = word
    opened.load_lags()
    # After a salvage the word still speaks of the database that was damaged.
    is_salvaged = word is not None and word.history != opened.history_inode
    # A directory that was made anew may have got the number of the one that somebody removed.
    is_lost = opened.is_tree_lost and not opened.is_new
    if is_salvaged or is_lost or meta.get(opened.db, meta.PLACE) != opened.place():
        from memoranda.stores.folder.full_check import check_copy

        check_copy(opened, whose)
    elif word is None or word.boot_id != opened.boot_id or word.boot_id == NO_BOOT_ID:
        from memoranda.stores.folder.full_check import check_after_power_cut

        check_after_power_cut(opened)
    else:
        catch_up(opened)
    opened.lingering.find(opened.clock.monotonic())


def take_stock(opened: OpenStore) -> None:
    """At the start of each turn: see that everything lies where it did, and what others did.

    Raises ``Reopen`` if other files lie in the place of those that are open, and ``Unavailable``
    if another process brought the database to another format.
    """
    changed = opened.files.fstat(opened.directory.number).st_ctime_ns
    word = opened.lock.word()
    if changed != opened.looked_through:
        _look_through(opened, word)
        # A change in the same tick of the kernel's clock as the last one would leave no trace. Its
        # clock is the one to ask, whatever the store is told that it is.
        is_long_ago = time_ns() - changed > _TICK_NS
        opened.looked_through = changed if is_long_ago else None
    if word != opened.word:
        # Before any file follows a log that this version can't read.
        schema.check_still_ours(opened.db)
    if word is None or word.boot_id != opened.boot_id:
        from memoranda.stores.folder.full_check import check_after_power_cut

        check_after_power_cut(opened)
    elif word != opened.word:
        opened.word = word
        opened.load_shared()


def _look_through(opened: OpenStore, word: Word | None) -> None:
    """See that the parts of the store are those that are open, by their names in its directory."""
    if opened.inode_of(LOCK) != opened.lock_inode or (
        opened.inode_of(MEMORIES) != opened.memories_inode
    ):
        raise Reopen
    if opened.inode_of(HISTORY) != opened.history_inode:
        if word is None or word.history == opened.history_inode:
            from memoranda.stores.folder.rescue import rescue_history

            rescue_history(opened)
            opened.set_applied(0 if word is None else word.applied)
        raise Reopen


def catch_up(opened: OpenStore) -> None:
    """Redo what another process committed and left there; try again what lags."""
    last = opened.log.last_seq()
    word = opened.word
    if word is None or word.applied < last or word.committing:
        from memoranda.stores.folder.redo import redo

        outcome = redo(opened, 0 if word is None else word.applied)
        if outcome.lags:
            opened.keep_lags([*opened.lags, *outcome.lags])
        opened.set_applied(last)
    if opened.lags:
        from memoranda.stores.folder.lagging import mend

        mend(opened)
