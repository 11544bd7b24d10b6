"""Comparing the whole tree with the log and mending it: after a power cut, as a copy, and places
that lag.

Expected is what the log says. A file that is not as expected is either a *stale image*, something
that the log once had there or a torn piece of it, or a person's work. Stale images are written
anew from the log or removed; a person's work is left for adoption. Nothing of unknown content is
unlinked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.digests import sha256
from memoranda.stores.folder.heads import temporary_name
from memoranda.stores.folder.known import past_of
from memoranda.stores.folder.survey import Row
from memoranda.stores.folder.tree import Place, Seen, Tree
from memoranda.stores.log import bodies
from memoranda.stores.log.store_log import Image
from memoranda.stores.log.text import Text
from memoranda.stores.log.turn import Turn

if TYPE_CHECKING:
    from memoranda.stores.folder.opened import OpenStore


class Plan(NamedTuple):
    """What has to be done: heads to write (over the stale file that was seen), images to refresh,
    stale files to remove."""

    write: dict[Place, tuple[Row, Seen | None]]
    refresh: dict[Place, tuple[Row, Seen]]
    remove: list[Place]


class Stale:
    """Decides whether a file that is not as expected is an old or torn image of ours.

    ``given`` are the latest times that we gave to inodes, after a power cut: a torn file may hold
    anything, but a person's write is later. ``cut`` counts zeros and the beginning of a head, too.
    """

    def __init__(self, opened: OpenStore, *, given: dict[int, int], cut: bool) -> None:
        self._opened = opened
        self._given = given
        self._cut = cut

    def has_our_inode(self, seen: Seen) -> bool:
        """Whether nobody can have written this file since we did."""
        return seen.mtime_ns <= self._given.get(seen.ino, -1)

    def is_stale(self, node: int, head: int | None, seen: Seen, data: bytes) -> bool:
        """Whether the text at a place is the log's of before. ``head`` is the event that holds
        what is expected there, None where nothing is."""
        if self.has_our_inode(seen):
            return True
        digest = sha256(data).digest()
        for past in past_of(self._opened.log, node):
            if past.sha == digest or past.image == seen:
                return True
        if not self._cut:
            return False
        if not any(data):
            return True
        return head is not None and bodies.content(self._opened.log, head).startswith(data)


def given_times(opened: OpenStore, after_seq: int) -> dict[int, int]:
    """The latest time that we gave to each inode after an event."""
    rows = opened.db.execute(
        "SELECT ino, max(mtime) FROM event WHERE seq > ? AND ino IS NOT NULL GROUP BY ino",
        (after_seq,),
    )
    return {row[0]: row[1] for row in rows}


def plan(
    opened: OpenStore,
    rows: dict[Place, Row],
    files: dict[Place, Seen],
    stale: Stale,
    *,
    is_touched: Callable[[Place, Row], bool],
) -> Plan:
    """Compare, by text, the rows that ``is_touched`` tells, and all files that the log lacks."""
    found = Plan({}, {}, [])
    tree = opened.tree
    for place, row in rows.items():
        if not is_touched(place, row):
            continue
        seen = files.get(place)
        if seen is None:
            found.write[place] = (row, None)
            continue
        content = tree.read(place)
        if content is None:
            continue
        data, seen = content
        if sha256(data).digest() == row.sha:
            if seen != row.image:
                found.refresh[place] = (row, seen)
        elif stale.is_stale(row.node, row.body, seen, data) or any(
            stale.is_stale(node, None, seen, data) for node in residents(opened, place)
        ):
            found.write[place] = (row, seen)
    for place in files.keys() - rows.keys():
        if stale.has_our_inode(files[place]):
            found.remove.append(place)
            continue
        nodes = residents(opened, place)
        content = tree.read(place) if nodes else None
        if content is not None and any(
            stale.is_stale(node, None, content[1], content[0]) for node in nodes
        ):
            found.remove.append(place)
    return found


_WERE_THERE: Final = (
    "SELECT id FROM node WHERE parent = ?1 AND name = ?2"
    " UNION SELECT node FROM event WHERE oparent = ?1 AND oname = ?2"
    " AND (oparent <> parent OR oname <> name OR parent IS NULL)"
)


def residents(opened: OpenStore, place: Place) -> set[int]:
    """The files that ever were at a place, as far as history tells."""
    nodes: set[int] = {opened.log.base}
    for name in [*(each + "/" for each in place[:-1]), place[-1]]:
        nodes = {
            row[0]
            for parent in nodes
            for row in opened.db.execute(_WERE_THERE, (parent, name)).fetchall()
        }
    return nodes


def carry_out(opened: OpenStore, found: Plan) -> set[Place]:
    """Do what was planned; gives the places that the disk refused."""
    refused = {place for place in found.remove if not _remove(opened, place)}
    if not found.write and not found.refresh:
        return refused
    heads = opened.heads()
    with opened.transaction():
        turn = Turn(opened.log, heads, opened.clock.now_ns())
        for row, _ in found.write.values():
            text = Text(bodies.content(opened.log, row.body))
            image = heads.write(temporary_name(row.body), text)
            _set_image(turn, row, image)
        for row, seen in found.refresh.values():
            _set_image(turn, row, Image(seen.ino, seen.mtime_ns))
        turn.finish()
    for place, (row, stale) in found.write.items():
        if not _write_back(opened, place, temporary_name(row.body), stale):
            refused.add(place)
    return refused


def _set_image(turn: Turn, row: Row, image: Image) -> None:
    node = turn.tree.get(row.node)
    assert node is not None
    turn.set_image(node, image)


def _remove(opened: OpenStore, place: Place) -> bool:
    try:
        with opened.tree.parent(place) as parent:
            opened.files.remove(place[-1], parent)
        opened.tree.prune(place[:-1])
    except OSError:
        return False
    return True


def _write_back(opened: OpenStore, place: Place, name: str, stale: Seen | None) -> bool:
    """Put a head from ``incoming/`` into its place, over the stale file if that is still there."""
    files, incoming = opened.files, opened.incoming.number
    try:
        with opened.tree.made_parent(place) as parent:
            if stale is None:
                files.move(name, incoming, place[-1], parent)
                return True
            files.exchange(name, incoming, place[-1], parent)
            displaced = Tree(files, incoming).seen((name,))
            if displaced != stale:
                # Somebody saved just then: that goes back, and is adopted. What comes out for it is
                # looked at later: it is ours, unless they saved once more.
                files.exchange(name, incoming, place[-1], parent)
                stale = None
            opened.lingering.add(name, stale, opened.clock.monotonic(), 0)
    except OSError:
        with suppress(OSError):
            files.remove(name, incoming)
        return False
    return True
