"""What lies beneath a directory, for listings that would have to look too far: the log's counters,
or, where there is no log to ask or it doesn't know the directory, what a walk counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.light_named_tuples import NamedTuple

if TYPE_CHECKING:
    from memoranda.stores.folder.counters import Counters
    from memoranda.stores.folder.forking import ForkGate
    from memoranda.stores.folder.open_tree import OpenTree
    from memoranda.stores.folder.tree import Place


class Total(NamedTuple):
    """What lies beneath a directory: bytes without hidden names, and how many items a listing of
    it has."""

    size_bytes: int
    items: int


class Totals:
    """Answers the questions of one listing; call ``close`` at its end.

    Loads the log's side with the first question: most listings ask none.
    """

    def __init__(self, opened: OpenTree, gate: ForkGate) -> None:
        self._opened = opened
        self._gate = gate
        self._made: Counters | None = None
        self._unknown: list[Place] = []

    @property
    def _counters(self) -> Counters:
        if self._made is None:
            from memoranda.stores.folder.counters import Counters

            self._made = Counters(self._opened, self._gate)
        return self._made

    def of(self, place: Place) -> Total | None:
        """The total of a directory that lies there; None if it holds no memories at all.

        Ask for a directory after those beneath it: where the log did not know one of them, what it
        has of those above lacks that one.
        """
        if not any(each[: len(place)] == place for each in self._unknown):
            found = self._counters.of_directory(place)
            if found is not None and found.files:
                return Total(found.shown, found.items)
        self._unknown.append(place)
        return self._walked(place)

    def knows_file(self, place: Place) -> bool:
        """Whether the log has a memory at a place."""
        return self._counters.knows_file(place)

    def close(self) -> None:
        """Give back what was lent."""
        if self._made is not None:
            self._made.close()

    def _walked(self, place: Place) -> Total | None:
        from memoranda.stores.folder.found_names import is_litter, is_memory_name
        from memoranda.stores.folder.outline import LEVELS
        from memoranda.stores.log.node import is_hidden

        length = len(place)
        size_bytes = items = 0
        directories: set[Place] = set()
        is_there = False
        for here in self._opened.tree.walk(place):
            below = here.place[length:]
            sizes = {
                name: seen.size
                for name, seen in here.files.items()
                if is_memory_name(name) and not is_litter(name)
            }
            is_there = is_there or bool(sizes)
            for depth in range(1, min(len(below), LEVELS) + 1 if sizes else 0):
                if is_hidden(below[depth - 1]):
                    break
                directories.add(below[:depth])
            if not any(map(is_hidden, below)):
                shown = [size for name, size in sizes.items() if not is_hidden(name)]
                size_bytes += sum(shown)
                items += len(shown) if len(below) < LEVELS else 0
        return Total(size_bytes, items + len(directories)) if is_there else None
