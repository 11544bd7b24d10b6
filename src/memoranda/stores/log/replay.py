"""What a tree of files has to do to follow the log: the events since one, as steps.

The same steps serve right after a commit and for the redo after a crash. Each can be repeated:
whoever follows looks first whether the tree already is as the step wants it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.stores.log import events
from memoranda.stores.log.store_log import Image
from memoranda.stores.log.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.turn import Turn

_ROWS: Final = (
    "SELECT seq, batch, node, op, oparent, oname, parent, name FROM event"
    " WHERE seq > ? AND seq < ? AND node IS NOT NULL AND late IS NULL ORDER BY seq"
)
_IMAGE: Final = "SELECT ino, mtime FROM event WHERE seq = ?"


class Spot(NamedTuple):
    """A place in the tree: the names from the root down, and the number of each one's node."""

    names: tuple[str, ...]
    nodes: tuple[int, ...]


class TreeStep(NamedTuple):
    """One event as a tree of files sees it.

    ``source`` is where the node was right before, None if it was not there; ``target`` where it is
    right after, None if it is gone. Both in terms of the tree at that point of the replay.
    ``write`` tells that the file's content has to be put there: the *last* content of the node in
    the replayed range (``content_seq``; rebuild it by ``bodies.content(log, content_seq)``), with
    its ``image`` where one was given and its ``size`` in bytes. It stands with the first step after
    which the node stays, even if the content came with a later event; later contents give no steps.
    """

    seq: int
    node: int
    directory: bool
    source: Spot | None
    target: Spot | None
    write: bool = False
    content_seq: int | None = None
    image: Image | None = None
    size: int | None = None


class _Row(NamedTuple):
    seq: int
    batch: int
    node: int
    op: int
    oparent: int | None
    oname: str | None
    parent: int | None
    name: str | None


def steps_of(turn: Turn, after_seq: int) -> list[TreeStep]:
    """What ``tree_events`` gives right after a turn's COMMIT, without asking the database."""
    done = {event.seq: event for event in turn.new_events}
    rows = [
        _Row(e.seq, e.batch, e.node, e.op or 0, e.oparent, e.oname, e.parent, e.name)
        for e in turn.new_events
        if e.node is not None and not e.late
    ]

    def image(seq: int) -> Image | None:
        event = done[seq]
        if event.ino is None or event.mtime is None:
            return None
        return Image(event.ino, event.mtime)

    return _Replay(turn.tree, rows, image, after_seq).steps()


def tree_events(log: StoreLog, after_seq: int) -> list[TreeStep]:
    """The steps for all events after ``after_seq`` (a database number), oldest first.

    A file that is made within the range and not there at its end gives none at all, nor does a
    content that was replaced or removed later in the range. Directories that appear or vanish with
    their first or last file give no steps: make the parents of a target, and remove the directories
    that a source left empty (the log knows an empty directory as not there).
    """
    rows = [_Row(*row) for row in log.db.execute(_ROWS, (after_seq, log.end))]

    def image(seq: int) -> Image | None:
        row = log.db.execute(_IMAGE, (seq,)).fetchone()
        return None if row is None or row[0] is None else Image(*row)

    return _Replay(Tree(log, 0), rows, image, after_seq).steps()


class _Replay:
    def __init__(
        self,
        tree: Tree,
        rows: list[_Row],
        image: Callable[[int], Image | None],
        after_seq: int,
    ) -> None:
        self._tree = tree
        self._rows = rows
        self._image = image
        self._after = after_seq
        self._root = tree.root.id
        self._places: dict[int, tuple[int | None, str | None]] = {}
        self._comes: set[int] = set()
        """Events by which a node comes into the tree; other parts of the same batch move it on."""
        self._stays: dict[int, int] = {}
        """For each node that stays, the first event after which it does."""

    def steps(self) -> list[TreeStep]:
        """All steps, oldest first; found from the present back."""
        batches: dict[int, int] = {}
        for row in self._rows:
            if row.op in {events.CREATED, events.REVIVED} and batches.get(row.node) != row.batch:
                self._comes.add(row.seq)
            batches[row.node] = row.batch
            if row.parent is None or row.name is None:
                self._stays.pop(row.node, None)
            else:
                self._stays.setdefault(row.node, row.seq)
        steps = [step for row in reversed(self._rows) if (step := self._step(row)) is not None]
        steps.reverse()
        return steps

    def _step(self, row: _Row) -> TreeStep | None:
        node = self._tree.get(row.node)
        if node is None:
            return None
        target = self._spot(row.node, row.parent, row.name)
        if row.oparent is not None:
            self._places[row.node] = (row.oparent, row.oname)
        source = None
        if row.seq not in self._comes:
            source = self._spot(row.node, row.oparent, row.oname)
        step = TreeStep(row.seq, row.node, node.is_directory, source, target)
        if not node.is_directory:
            is_live = self._tree.chain_of(node) is not None
            if not is_live and row.node > self._after:
                return None  # it came and went
            if is_live and node.body > self._after and self._stays.get(row.node) == row.seq:
                return step._replace(
                    write=True, content_seq=node.body, image=self._image(node.body), size=node.size
                )
        return None if source == target else step

    def _spot(self, number: int, parent: int | None, name: str | None) -> Spot | None:
        """A place, with the directories where they are at this point; None where a name was
        blanked, too: what it named is gone."""
        names: list[str] = []
        nodes: list[int] = []
        while parent is not None and name is not None:
            names.append(name.removesuffix("/"))
            nodes.append(number)
            if parent == self._root:
                return Spot(tuple(reversed(names)), tuple(reversed(nodes)))
            number = parent
            parent, name = self._place(number)
        return None

    def _place(self, number: int) -> tuple[int | None, str | None]:
        place = self._places.get(number)
        if place is None:
            node = self._tree.get(number)
            place = (None, None) if node is None else (node.parent, node.name)
        return place
