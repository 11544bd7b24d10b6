"""The past: where every node was, and what it held, right after any event.

A node's place then is its present one with its newer events undone, found along the node's own
chain of events (``prev``); nothing else is read. Of a directory that went with its last file there
is no event: its row says when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from memoranda.errors import UnknownId
from memoranda.path import MemoryPath
from memoranda.stores.base import Page
from memoranda.stores.log import events
from memoranda.stores.log.listing import cut, entries
from memoranda.stores.log.lookup import NEVER
from memoranda.stores.log.node import COLUMNS, Node
from memoranda.stores.log.schema import WENT_AWAY
from memoranda.stores.log.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.log.store_log import StoreLog

_NODE: Final = f"SELECT {COLUMNS} FROM node WHERE id = ?"
_HERE: Final = f"SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NULL"
_GONE: Final = f"SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NOT NULL"
_LEFT: Final = f"SELECT DISTINCT node FROM event WHERE {WENT_AWAY} AND oparent = ?"


class Step(NamedTuple):
    """An event of a node, as far as the past needs it."""

    seq: int
    batch: int
    node: int | None
    prev: int | None
    op: int | None
    late: int | None
    at: int
    actor: str
    command: str
    trace: str | None
    oparent: int | None
    oname: str | None
    parent: int | None
    name: str | None
    size: int | None
    sha: bytes | None
    redacted_at: int | None
    redacted_by: str | None


STEP_COLUMNS: Final = ", ".join(Step._fields)
_STEP: Final = f"SELECT {STEP_COLUMNS} FROM event WHERE seq = ?"


class Track:
    """One node on the way back: its place, and the newest of its events that is not undone.

    ``there`` is the node's own part of being live: nothing says that the directories above are.
    """

    __slots__ = ("_undone", "name", "node", "parent", "step", "there")

    def __init__(self, node: Node, step: Step | None) -> None:
        self.node = node
        self.parent = node.parent
        self.name = node.name
        self.there = True
        self.step = step
        self._undone = False

    def stand_at(self, step: Step) -> None:
        """Be as right after one of the node's events."""
        self.step = step
        self.there = step.op != events.DELETED
        at = (step.parent, step.name) if self.there else (step.oparent, step.oname)
        self.parent, self.name = at
        self._undone = True

    def undo(self, step: Step) -> None:
        """Be as right before one of the node's events."""
        if step.late:
            return
        self._undone = True
        self.there = step.op != events.REVIVED and step.oparent is not None
        if step.oparent is not None:
            self.parent, self.name = step.oparent, step.oname

    def look(self, seq: int) -> None:
        """Take from the row whether the node was there, as long as no event said it better."""
        if not self._undone:
            self.there = self.node.gone is None or self.node.gone > seq


class Past:
    """The state of a store right after event ``seq``; it can only go further back."""

    __slots__ = ("_tracks", "log", "seq")

    def __init__(self, log: StoreLog, seq: int) -> None:
        self.log = log
        self.seq = seq
        self._tracks: dict[int, Track] = {}

    def back_to(self, seq: int) -> None:
        """Go back to right after ``seq``."""
        self.seq = min(seq, self.seq)

    def step(self, seq: int | None) -> Step | None:
        """An event by its number; None where there is none, or it is not kept any more."""
        row = None if seq is None else self.log.db.execute(_STEP, (seq,)).fetchone()
        return None if row is None else Step(*row)

    def track(self, number: int, row: Node | None = None) -> Track | None:
        """A node as it was; None if it did not exist yet, or is not known any more."""
        if number > self.seq:
            return None
        track = self._tracks.get(number)
        if track is None:
            node = row or self._node(number)
            if node is None:
                return None
            track = self._tracks[number] = Track(node, self.step(node.last or None))
        while track.step is not None and track.step.seq > self.seq:
            track.undo(track.step)
            track.step = self.step(track.step.prev)
        track.look(self.seq)
        return track

    def know(self, step: Step) -> None:
        """Begin a node's way back at one of its events instead of walking there."""
        assert step.node is not None, "a version is a node's"
        node = self._node(step.node)
        if node is not None:
            track = self._tracks[node.id] = Track(node, None)
            track.stand_at(step)

    def _node(self, number: int) -> Node | None:
        row = self.log.db.execute(_NODE, (number,)).fetchone()
        return None if row is None else Node(*row)

    # ---- upwards

    def above(self, parent: int | None) -> list[Track]:
        """The directories from ``parent`` up, without the root; ends early where one is unknown."""
        chain: list[Track] = []
        while parent is not None and parent != self.log.base:
            track = self.track(parent)
            if track is None:
                break
            chain.append(track)
            parent = track.parent
        return chain

    def path(self, parent: int | None, name: str | None) -> MemoryPath | None:
        """The path of a name in a directory; None where a name was blanked or is not known."""
        if name is None or parent is None:
            return None
        names = [name]
        for track in self.above(parent):
            if track.name is None:
                return None
            names.append(track.name[:-1])
            parent = track.parent
        if parent != self.log.base:
            return None
        names.reverse()
        return MemoryPath.of(tuple(names))

    def lines_up(self, number: int) -> list[Track]:
        """A node and the directories above it as far as they were there: those whose events are
        versions of the node."""
        track = self.track(number)
        lines: list[Track] = []
        while track is not None:
            lines.append(track)
            if not track.there or track.parent is None or track.parent == self.log.base:
                break
            track = self.track(track.parent)
        return lines

    # ---- downwards

    def children(self, directory: int) -> list[Track]:
        """The nodes in a directory; a directory in it may have had no file, a redacted file may
        have no name."""
        execute = self.log.db.execute
        found: dict[int, Track] = {}

        def look(number: int, row: Node | None) -> None:
            track = self.track(number, row)
            if track is not None and track.there and track.parent == directory:
                found[number] = track

        for statement in (_HERE, _GONE):
            for row in execute(statement, (directory,)).fetchall():
                look(row[0], Node(*row))
        for (number,) in execute(_LEFT, (directory,)).fetchall():
            look(number, None)
        return list(found.values())

    def files_beneath(self, directory: int) -> Iterator[Track]:
        """Every file beneath a directory, in no promised order."""
        for track in self.children(directory):
            if track.node.is_directory:
                yield from self.files_beneath(track.node.id)
            else:
                yield track

    def head(self, track: Track) -> Step | None:
        """The event that gave a file its version (late ones never do); None where it is not kept
        any more."""
        step = track.step
        while step is not None and step.late:
            step = self.step(step.prev)
        return step

    def row(self, track: Track) -> Node | None:
        """A node's row as it would have been; None for a file whose version was redacted."""
        if track.node.is_directory:
            step = track.step
            return Node(
                track.node.id,
                track.parent,
                track.name,
                head=0 if step is None else step.seq,
                updated=0 if step is None else step.at,
                files=1,
            )
        head = self.head(track)
        if head is None or head.sha is None or head.size is None:
            return None
        return Node(
            track.node.id,
            track.parent,
            track.name,
            created=track.node.created,
            head=head.seq,
            updated=head.at,
            size=head.size,
            sha=head.sha,
        )


def page(
    log: StoreLog,
    seq: int,
    prefix: MemoryPath,
    depth: Literal[0, 1],
    after: str | None,
    limit: int,
) -> Page:
    """What ``Store.list`` promises for a moment of the past.

    Raises ``UnknownId`` for a moment that retention does not keep whole any more.
    """
    if seq < Tree(log, 0).root.horizon:
        raise UnknownId("moment")
    past = Past(log, seq)

    def children(directory: Node, start: str) -> Iterator[Node]:
        named = [track for track in past.children(directory.id) if (track.name or "") >= start]
        named.sort(key=lambda track: track.name or "")
        for track in named:
            row = past.row(track)
            if row is None or track.name is None:
                continue
            if row.is_directory and depth == 1:
                sizes = [past.row(below) for below in past.files_beneath(row.id)]
                if not sizes:
                    continue
                row.total = sum(below.size for below in sizes if below is not None)
            yield row

    node = Node(log.base, None, "", files=1)
    newest = NEVER
    for name in prefix.segments:
        found = {row.name: row for row in children(node, name + "/")}.get(name + "/")
        if found is None:
            return Page((), None)
        node = found
        newest = newest.or_of(node.head, node.updated)
    return cut(entries(log, children, prefix, node, newest, depth, after), limit)
