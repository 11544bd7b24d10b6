"""Checking the whole tree against the log: as a copy, and after a power cut."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memoranda.stores.base import Context
from memoranda.stores.folder import meta
from memoranda.stores.folder.follow import Lag
from memoranda.stores.folder.leftovers import sweep_torn
from memoranda.stores.folder.repair import Stale, carry_out, given_times, plan
from memoranda.stores.folder.survey import Row, files_of, rows_of
from memoranda.stores.folder.tree import Place
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.replay import tree_events
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.log.turn import Turn
from memoranda.tenant import store_of_directory

if TYPE_CHECKING:
    from memoranda.stores.folder.home import Whose
    from memoranda.stores.folder.opened import OpenStore

_OPENING: Final = Context(actor="memoranda", command="open")


def check_copy(opened: OpenStore, whose: Whose) -> None:
    """The store lies elsewhere than where it was written: check every file by its text."""
    rows, files = rows_of(opened.log), files_of(opened.tree)
    stale = Stale(opened, given={}, cut=True)
    found = plan(opened, rows, files, stale, is_touched=lambda _place, _row: True)
    refused = carry_out(opened, found)
    with opened.transaction():
        turn = Turn(opened.log, opened.heads(), opened.clock.now_ns())
        instance = os.urandom(8).hex()
        before = meta.get(opened.db, meta.INSTANCE)
        turn.audit(_found_as_copy(before, instance, len(found.write)), opened.clock.now_ns())
        turn.finish()
        meta.put(opened.db, meta.INSTANCE, instance)
        meta.put(opened.db, meta.PLACE, opened.place())
        _name_anew(opened, whose)
    _checked(opened, rows, refused)


def _name_anew(opened: OpenStore, whose: Whose) -> None:
    """A copy under another name is another store, so it has to have an id of its own."""
    if whose.user is None:
        new_id = store_of_directory(os.path.basename(opened.path))
    elif meta.get(opened.db, meta.WHOSE)[:2] != [whose.workspace, whose.user]:
        new_id = new_store_id(opened.clock.now_ns())
        meta.put(opened.db, meta.WHOSE, whose)
    else:
        new_id = None
    if new_id is not None:
        opened.db.execute("UPDATE store SET id = ?", (new_id,))
        log = opened.log
        opened.log = StoreLog(log.db, log.number, new_id, log.secret)


def _found_as_copy(before: str, instance: str, written: int) -> Context:
    audit = {"found": "copy", "of": before, "instance": instance, "written": written}
    return Context(_OPENING.actor, _OPENING.command, audit=audit)


def check_after_power_cut(opened: OpenStore) -> None:
    """The machine went down: check by its text whatever changed since the last sync."""
    durable = opened.durable
    _move_directories_again(opened, durable)
    touched = {
        row[0]
        for row in opened.db.execute("SELECT DISTINCT node FROM event WHERE seq > ?", (durable,))
    }
    heads = opened.heads()
    rows, files = rows_of(opened.log), files_of(opened.tree)

    def is_touched(_: Place, row: Row) -> bool:
        return not touched.isdisjoint(heads.ancestry(row.node))

    stale = Stale(opened, given=given_times(opened, durable), cut=True)
    refused = carry_out(opened, plan(opened, rows, files, stale, is_touched=is_touched))
    sweep_torn(opened, stale)
    _checked(opened, rows, refused)


def _checked(opened: OpenStore, rows: dict[Place, Row], refused: set[Place]) -> None:
    lags = [Lag(rows[place].node, None) for place in sorted(refused & rows.keys())]
    if lags or opened.lags:
        opened.keep_lags(lags)
    opened.set_applied(opened.log.last_seq())


def _move_directories_again(opened: OpenStore, durable: int) -> None:
    """Renames of directories that the disk forgot: one rename instead of writing all beneath.

    What this leaves undone is mended file by file.
    """
    steps = [
        step
        for step in tree_events(opened.log, durable)
        if step.directory and step.target and opened.inode_of_node(step.node) is not None
    ]
    if steps:
        opened.follow(steps, durable)
