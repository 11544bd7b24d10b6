"""Which state a store is found in, and what has to be done before anybody may use it.

no history.db                 new: whatever lies in the tree is adopted
place differs                 copy: another disk, another folder, a restored backup
boot id differs               power cut: the disk may have lost or torn what was not synced
applied < newest event        redo: a process died between commit and tree
otherwise                     clean
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memoranda.stores.base import Context
from memoranda.stores.folder import meta
from memoranda.stores.folder.layout import HISTORY, LOCK, MEMORIES
from memoranda.stores.folder.opened import Reopen
from memoranda.stores.folder.turns import NO_BOOT_ID

if TYPE_CHECKING:
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.folder.repair import Stale
    from memoranda.stores.folder.survey import Row
    from memoranda.stores.folder.tree import Place

_OPENING: Final = Context(actor="memoranda", command="open")


def recover(opened: OpenStore) -> None:
    """Bring a store that was just opened into order. Under the lock."""
    word = opened.lock.word()
    opened.word = word
    opened.load_lags()
    if meta.get(opened.db, meta.PLACE) != opened.place():
        check_copy(opened)
    elif word is None or word.boot_id != opened.boot_id or word.boot_id == NO_BOOT_ID:
        check_after_power_cut(opened)
    else:
        catch_up(opened)
    opened.lingering.find(opened.clock.monotonic())


def catch_up(opened: OpenStore) -> None:
    """At the start of each turn: redo what another process left, try again what lags.

    Raises ``Reopen`` if somebody put other files in the place of those that are open.
    """
    for name, descriptor in ((LOCK, opened.lock.number), (MEMORIES, opened.memories.number)):
        if not opened.is_named(name, descriptor):
            raise Reopen
    if opened.inode_of(HISTORY) != opened.history_inode:
        raise Reopen
    word = opened.lock.word()
    if word is None or word.boot_id != opened.boot_id:
        check_after_power_cut(opened)
        return
    if word != opened.word:
        opened.word = word
        opened.load_shared()
    last = opened.log.last_seq()
    if word.applied < last:
        from memoranda.stores.folder.redo import redo

        outcome = redo(opened, word.applied)
        if outcome.lags:
            opened.keep_lags([*opened.lags, *outcome.lags])
        opened.set_applied(last)
    if opened.lags:
        from memoranda.stores.folder.lagging import mend

        mend(opened)


def check_copy(opened: OpenStore) -> None:
    """The store lies elsewhere than where it was written: check every file by its text."""
    from memoranda.stores.folder.repair import Stale, carry_out, plan
    from memoranda.stores.folder.survey import files_of, rows_of
    from memoranda.stores.log.turn import Turn

    rows, files = rows_of(opened.log), files_of(opened.tree)
    stale = Stale(opened, torn=False, cut=True)
    found = plan(opened, rows, files, stale, is_touched=lambda _place, _row: True)
    refused = carry_out(opened, found)
    with opened.transaction():
        turn = Turn(opened.log, opened.heads(), opened.clock.now_ns())
        instance = os.urandom(8).hex()
        before = meta.get(opened.db, meta.INSTANCE)
        if before is not None:
            turn.audit(_found_as_copy(before, instance, len(found.write)), opened.clock.now_ns())
        turn.finish()
        meta.put(opened.db, meta.INSTANCE, instance)
        meta.put(opened.db, meta.PLACE, opened.place())
    _checked(opened, rows, refused)


def _found_as_copy(before: str, instance: str, written: int) -> Context:
    audit = {"found": "copy", "of": before, "instance": instance, "written": written}
    return Context(_OPENING.actor, _OPENING.command, audit=audit)


def check_after_power_cut(opened: OpenStore) -> None:
    """The machine went down: check by its text whatever changed since the last sync."""
    from memoranda.stores.folder.repair import Stale, carry_out, plan
    from memoranda.stores.folder.survey import files_of, rows_of

    durable = meta.get(opened.db, meta.DURABLE) or opened.log.base
    _move_directories_again(opened, durable)
    touched = {
        row[0]
        for row in opened.db.execute("SELECT DISTINCT node FROM event WHERE seq > ?", (durable,))
    }
    heads = opened.heads()
    rows, files = rows_of(opened.log), files_of(opened.tree)

    def is_touched(_: Place, row: Row) -> bool:
        return not touched.isdisjoint(heads.ancestry(row.node))

    stale = Stale(opened, torn=True, cut=True)
    refused = carry_out(opened, plan(opened, rows, files, stale, is_touched=is_touched))
    _sweep_incoming(opened, stale)
    _checked(opened, rows, refused)


def _checked(opened: OpenStore, rows: dict[Place, Row], refused: set[Place]) -> None:
    from memoranda.stores.folder.follow import Lag

    lags = [Lag(rows[place].node, None) for place in sorted(refused & rows.keys())]
    if lags or opened.lags:
        opened.keep_lags(lags)
    opened.set_applied(opened.log.last_seq())


def _move_directories_again(opened: OpenStore, durable: int) -> None:
    """Renames of directories that the disk forgot: one rename instead of writing all beneath.

    What this leaves undone is mended file by file.
    """
    from memoranda.stores.log.replay import tree_events

    steps = [step for step in tree_events(opened.log, durable) if step.directory and step.target]
    if steps:
        opened.follower(durable, {}, ()).follow(steps)


def _sweep_incoming(opened: OpenStore, stale: Stale) -> None:
    """Torn files that waited in ``incoming/`` are no work of a person's."""
    from memoranda.stores.folder.leftovers import sweep_torn

    sweep_torn(opened, stale)
