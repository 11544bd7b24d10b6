"""Places that do not follow the log yet, because the disk refused a step; tried again and again.

Until it works, what is read there comes out of the log.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import apsw

from memoranda.stores.folder.follow import Lag
from memoranda.stores.folder.heads import place_in_database
from memoranda.stores.folder.repair import Stale, carry_out, plan
from memoranda.stores.folder.survey import Row, rows_of
from memoranda.stores.folder.tree import Place, Seen

if TYPE_CHECKING:
    from memoranda.stores.folder.opened import OpenStore

LONGEST_PAUSE_SECONDS: Final = 1.0
"""A try may cost a commit, so a disk that refuses for long is asked once a second."""


def mend(opened: OpenStore) -> None:
    """Try to bring every lagging place to where the log is; never raises what a disk may answer."""
    now = opened.clock.monotonic()
    if now < opened.mend_again_at:
        return
    try:
        lags = _mend(opened)
        if lags != opened.lags:
            opened.keep_lags(lags)
            opened.set_applied(opened.log.last_seq())
    except (OSError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError):
        pass
    opened.mend_again_at = now + LONGEST_PAUSE_SECONDS if opened.lags else 0.0


def _mend(opened: OpenStore) -> list[Lag]:
    rows: dict[Place, Row] = {}
    files: dict[Place, Seen] = {}
    wanted: dict[Lag, set[Place]] = {}
    all_rows = rows_of(opened.log)
    for lag in opened.lags:
        place = place_in_database(opened.log, lag.node)
        if lag.source is not None and not _rows_at(all_rows, lag.source):
            # Nothing new lives there, so all that lies there is what has to move.
            _try_to_move_directory(opened, lag, place)
        places = {each for each in (place, lag.source) if each is not None}
        lying = _files_at(opened, places)
        mine = {} if place is None else _rows_at(all_rows, place)
        files.update(lying)
        rows.update(mine)
        wanted[lag] = {*lying, *mine}
    # Files that live where an old image is looked for are not old.
    rows.update({place: all_rows[place] for place in files if place in all_rows})
    blocked = {place for place in rows.keys() - files.keys() if opened.tree.look(place)}
    for place in blocked:
        del rows[place]
    stale = Stale(opened, given={}, cut=False)
    found = plan(opened, rows, files, stale, is_touched=lambda _place, _row: True)
    refused = carry_out(opened, found) | blocked
    return [lag for lag in opened.lags if not refused.isdisjoint(wanted[lag])]


def _rows_at(rows: dict[Place, Row], place: Place) -> dict[Place, Row]:
    return {each: row for each, row in rows.items() if each[: len(place)] == place}


def _files_at(opened: OpenStore, places: set[Place]) -> dict[Place, Seen]:
    found: dict[Place, Seen] = {}
    for place in places:
        seen = opened.tree.seen(place)
        if seen is not None:
            found[place] = seen
        elif opened.tree.has_directory(place):
            for here in opened.tree.walk(place):
                found.update({(*here.place, name): each for name, each in here.files.items()})
    return found


def _try_to_move_directory(opened: OpenStore, lag: Lag, place: Place | None) -> None:
    """A directory whose rename failed: try the rename again before all files are written anew."""
    source = lag.source
    if source is None or place is None or source == place or not opened.tree.has_directory(source):
        return
    with (
        suppress(OSError),
        opened.tree.parent(source) as old,
        opened.tree.made_parent(place) as new,
    ):
        opened.files.move(source[-1], old, place[-1], new)
