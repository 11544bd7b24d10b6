"""Adopting what people do in the tree: their edits, files, moves and removals become versions.

A file whose image is not the log's is only a reason to look: the same text refreshes the image
and makes no version. Before anything changed, empty or missing is believed, two looks have to
agree, since editors truncate first and write then.
"""

from __future__ import annotations

from typing import Final

from memoranda.digests import sha256
from memoranda.errors import Refused
from memoranda.path import MemoryPath
from memoranda.stores.base import Context, Move, Put, Remove
from memoranda.stores.folder.clock import Clock
from memoranda.stores.folder.found_names import is_litter, path_of
from memoranda.stores.folder.heads import TreeHeads
from memoranda.stores.folder.survey import Differences, Row, compare, files_of, rows_of
from memoranda.stores.folder.tree import Place, Seen, Tree
from memoranda.stores.log.store_log import Image
from memoranda.stores.log.turn import Turn

EXTERNAL: Final = Context(actor="external", command="edit")

LOOK_AGAIN_SECONDS: Final = 0.010
MOST_LOOKS: Final = 10


class Adoption:
    """Takes people's work in, at the start of a transaction in which nothing was done yet."""

    def __init__(self, turn: Turn, heads: TreeHeads, clock: Clock, lag: frozenset[int]) -> None:
        self._turn = turn
        self._heads = heads
        self._tree: Tree = heads.tree
        self._clock = clock
        self._lag = lag
        self.changed = False

    # ---- one file

    def adopt(self, place: Place) -> None:
        """Take in what happened at a place: a changed file alone, anything else with a look at
        all there is."""
        path = path_of(place)
        node = None if path is None else self._turn.find(path)
        if path is not None and node is not None and not node.is_directory:
            if self._is_same(place, Row(node.id, node.size, node.sha or b"", node.body, None)):
                return
            if self._settled(place) is not None:
                self._take(place, path)
                return
        self.scan(wanted=place)

    def _is_same(self, place: Place, row: Row) -> bool:
        """Whether the text at a place is the log's after all; then its image is refreshed."""
        seen = self._tree.seen(place)
        if seen is None or seen.size != row.size:
            return False
        found = self._read(place)
        if found is None or sha256(found[0]).digest() != row.sha:
            return False
        self._refresh(place, row.node, found[1])
        return True

    def _refresh(self, place: Place, number: int, seen: Seen) -> None:
        node = self._turn.tree.get(number)
        assert node is not None
        if (node.ino, node.mtime) != (seen.ino, seen.mtime_ns):
            self._turn.set_image(node, Image(seen.ino, seen.mtime_ns))
            self.changed = True
        self._heads.trust(node, seen, place)

    def _settled(self, place: Place) -> Seen | None:
        """What a file is once two looks agree."""
        seen = self._tree.seen(place)
        for _ in range(MOST_LOOKS):
            self._clock.sleep(LOOK_AGAIN_SECONDS)
            before, seen = seen, self._tree.seen(place)
            if seen == before:
                break
        return seen

    def _read(self, place: Place) -> tuple[bytes, Seen] | None:
        """A file's text and the image that goes with it, read while nobody wrote."""
        found = self._tree.read(place)
        for _ in range(MOST_LOOKS):
            if found is None or self._tree.seen(place) == found[1]:
                break
            self._clock.sleep(LOOK_AGAIN_SECONDS)
            found = self._tree.read(place)
        return found

    def _take(self, place: Place, path: MemoryPath) -> None:
        """Make the text at a place the head of its memory, which may be new."""
        found = self._read(place)
        if found is None:
            return
        data, seen = found
        turn = self._turn
        node = turn.find(path)
        keep = None
        if node is None:
            removed = turn.last_removed(path)
            if removed is not None and removed[1] == EXTERNAL.actor:
                keep = removed[0]
        elif node.sha == sha256(data).digest():
            self._refresh(place, node.id, seen)
            return
        else:
            self._heads.rebuild(node)
        image = Image(seen.ino, seen.mtime_ns)
        turn.adopt(Put(path, data, keep_id=keep), image, EXTERNAL)
        self.changed = True
        node = turn.find(path)
        assert node is not None, "it was adopted just now"
        self._heads.trust(node, seen, place)

    # ---- all files

    def scan(self, wanted: Place | None = None) -> None:
        """Take in every difference there is. ``wanted`` is a place that a command names: a file
        there is adopted even if its name looks like litter."""
        rows = rows_of(self._turn.log)
        found = self._look(rows, wanted)
        if found.any:
            found = self._settled_differences(rows, found, wanted)
        moves = self._moves(rows, found)
        self._remove(found.missing - moves.keys())
        extra = dict(found.extra)
        for source, target in moves.items():
            if self._move(source, target, rows[source], extra[target]):
                del extra[target]
        for place in sorted({**found.changed, **extra}):
            self._take(place, MemoryPath.of(place))

    def _look(self, rows: dict[Place, Row], wanted: Place | None) -> Differences:
        files = files_of(self._tree)
        directories = {place[:end] for place in files for end in range(1, len(place))}
        found = compare(rows, files)
        return Differences(
            {p: seen for p, seen in found.changed.items() if rows[p].node not in self._lag},
            frozenset(
                place
                for place in found.missing
                if place in directories or self._is_gone(place, rows, files)
            ),
            {
                place: seen
                for place, seen in found.extra.items()
                if (place == wanted or not is_litter(place[-1]))
                and path_of(place) is not None
                and not self._heads.is_left(place)
            },
        )

    def _is_gone(self, place: Place, rows: dict[Place, Row], files: dict[Place, Seen]) -> bool:
        """Whether a person removed a file that the tree does not show."""
        if any(place[:end] in files for end in range(1, len(place))):
            return True  # they put a file where its directory was
        return not self._lag or self._lag.isdisjoint(self._heads.ancestry(rows[place].node))

    def _settled_differences(
        self, rows: dict[Place, Row], found: Differences, wanted: Place | None
    ) -> Differences:
        for _ in range(MOST_LOOKS):
            self._clock.sleep(LOOK_AGAIN_SECONDS)
            before, found = found, self._look(rows, wanted)
            if found == before:
                break
        return found

    def _moves(self, rows: dict[Place, Row], found: Differences) -> dict[Place, Place]:
        """Missing files that lie elsewhere now: the same inode with the same time or text."""
        by_inode = {
            image.ino: place for place in found.missing if (image := rows[place].image) is not None
        }
        moves: dict[Place, Place] = {}
        for target, seen in found.extra.items():
            source = by_inode.get(seen.ino)
            if (
                source is not None
                and source not in moves
                and self._is_moved(rows[source], target, seen)
            ):
                moves[source] = target
        return moves

    def _is_moved(self, row: Row, target: Place, seen: Seen) -> bool:
        if row.image == seen:
            return True
        # Inode numbers are used again: another text under the same number is another file.
        found = self._read(target) if seen.size == row.size else None
        return found is not None and sha256(found[0]).digest() == row.sha

    def _remove(self, places: frozenset[Place]) -> None:
        changes = [Remove(MemoryPath.of(place)) for place in sorted(places)]
        if changes:
            self._turn.run(changes, EXTERNAL)
            self.changed = True

    def _move(self, source: Place, target: Place, row: Row, seen: Seen) -> bool:
        change = Move(MemoryPath.of(source), MemoryPath.of(target))
        try:
            self._turn.run([change], EXTERNAL, adopts=True)
        except Refused:
            # The new place lies beneath a file that moves as well, or the like: two events tell it.
            self._remove(frozenset([source]))
            return False
        self.changed = True
        self._refresh(target, row.node, seen)
        return True
