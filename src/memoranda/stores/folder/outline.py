"""The outline that a view shows: read from the tree, sizes and totals from the log's counters.

Names come sorted and are looked at one by one, only as far as they are shown: a listing of a
hundred thousand files costs what reading and sorting their names costs.
"""

from __future__ import annotations

import heapq
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from memoranda.errors import NotFound
from memoranda.stores.base import Listed, Outline
from memoranda.stores.folder.file_port import LISTING
from memoranda.stores.folder.found_names import is_litter, is_memory_name
from memoranda.stores.folder.reading import holds_memories
from memoranda.stores.folder.tree import ABSENT
from memoranda.stores.log.node import is_hidden
from memoranda.stores.log.tree import Tree as LogTree

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.log.store_log import StoreLog

LEVELS: Final = 2

_DIRECTORIES: Final = (
    "SELECT name, id, shown FROM node WHERE parent = ? AND gone IS NULL AND files > 0"
)
_FILE: Final = "SELECT 1 FROM node WHERE parent = ? AND name = ? AND gone IS NULL"


def outline(opened: OpenStore, log: StoreLog, path: MemoryPath, path_chars: int) -> Outline:
    """What ``Store.outline`` promises; raises OSError where the disk fails."""
    place = path.segments
    descriptor = opened.tree.list_directory(place)
    if descriptor is None:
        raise NotFound(path)
    node = LogTree(log, 0).walk(path).node
    known = node if node is not None and node.is_directory else None
    listing = _Listing(opened, log)
    try:
        if place and known is None and not holds_memories(opened.tree, place):
            raise NotFound(path)
        items: list[Listed] = []
        room = path_chars
        below = listing.items(path, descriptor, known.id if known else None, LEVELS)
        is_whole = True
        for item in below:
            if room <= 0:
                is_whole = False
                break
            items.append(item)
            room -= len(item.path.text) + item.is_directory
    finally:
        opened.files.close(descriptor)
    counted = known.children + known.grandchildren if known else 0
    size = known.shown if known else listing.size_of(path)
    return Outline(size, tuple(items), len(items) if is_whole else max(counted, len(items)))


class _Listing:
    def __init__(self, opened: OpenStore, log: StoreLog) -> None:
        self._opened = opened
        self._files = opened.files
        self._db = log.db

    def items(
        self, path: MemoryPath, descriptor: int, node: int | None, levels: int
    ) -> Iterator[Listed]:
        """What lies in a directory, in listing order; ``node`` is None where the log does not know
        it."""
        known: dict[str, tuple[int, int]] | None = None
        waiting: list[str] = []  # directories: with their slash they may come after longer names
        names = [name for name in self._files.names(descriptor) if not is_hidden(name)]
        names.sort()
        for name in (*names, None):
            while waiting and (name is None or waiting[0] < name):
                if known is None:
                    known = self._known_directories(node)
                directory = heapq.heappop(waiting)[:-1]
                yield from self._directory(path, descriptor, directory, known, levels)
            if name is None or not is_memory_name(name):
                continue
            try:
                found = self._files.stat(name, descriptor)
            except OSError as error:
                if error.errno in ABSENT:
                    continue
                raise
            if stat.S_ISDIR(found.st_mode):
                heapq.heappush(waiting, name + "/")
            elif stat.S_ISREG(found.st_mode) and not self._is_litter(node, name):
                yield Listed(path.child(name), found.st_size, False)

    def _known_directories(self, node: int | None) -> dict[str, tuple[int, int]]:
        if node is None:
            return {}
        return {row[0]: (row[1], row[2]) for row in self._db.execute(_DIRECTORIES, (node,))}

    def _is_litter(self, node: int | None, name: str) -> bool:
        if not is_litter(name):
            return False
        return node is None or self._db.execute(_FILE, (node, name)).fetchone() is None

    def _directory(
        self,
        path: MemoryPath,
        descriptor: int,
        name: str,
        known: dict[str, tuple[int, int]],
        levels: int,
    ) -> Iterator[Listed]:
        below = path.child(name)
        node, size = known.get(name + "/", (None, None))
        if size is None:
            if not holds_memories(self._opened.tree, below.segments):
                return
            size = self.size_of(below)
        if levels == 1:
            yield Listed(below, size, True)
            return
        try:
            inside = self._files.open(name, LISTING, descriptor)
        except OSError as error:
            if error.errno in ABSENT:
                return
            raise
        try:
            yield Listed(below, size, True)
            yield from self.items(below, inside, node, levels - 1)
        finally:
            self._files.close(inside)

    def size_of(self, path: MemoryPath) -> int:
        """How many bytes lie beneath a directory that the log does not know yet."""
        length = len(path.segments)
        return sum(
            seen.size
            for here in self._opened.tree.walk(path.segments)
            if not any(map(is_hidden, here.place[length:]))
            for name, seen in here.files.items()
            if not is_hidden(name) and is_memory_name(name) and not is_litter(name)
        )
