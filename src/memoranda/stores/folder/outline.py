"""The outline that a view shows, read from the tree: no lock, and most often no database.

Names come sorted and are looked at one by one, only as far as they are shown: a listing of a
hundred thousand files costs what reading and sorting their names costs. Sizes and the total are those
of what lies there, as long as that takes ``MOST_COUNTED`` looks more than the lines themselves; what
lies in a larger tree is told by the counters of the log.
"""

from __future__ import annotations

from heapq import heappop, heappush
from stat import S_IFDIR, S_IFREG
from typing import TYPE_CHECKING, Final

from memoranda.errors import NotFound
from memoranda.stores.base import BESIDE_PATH_CHARS, Outline
from memoranda.stores.folder.file_port import LISTING
from memoranda.stores.folder.found_names import PLAIN, is_litter, is_memory_name
from memoranda.stores.folder.reading import holds_memories
from memoranda.stores.folder.tree import ABSENT

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Listed
    from memoranda.stores.folder.open_tree import OpenTree
    from memoranda.stores.folder.totals import Totals
    from memoranda.stores.folder.tree import Place

LEVELS: Final = 2
"""How deep a listing looks."""

_KIND: Final = 0o170000
"""The bits of a mode that tell a file from a directory."""

_UNKNOWN: Final = ("", 0)

MOST_COUNTED: Final = 200
"""How many entries are looked at only to be counted: 0.6 ms at most, where a first question to the
log costs 1 ms and loads SQLite."""


def outline(opened: OpenTree, totals: Totals, path: MemoryPath, line_chars: int) -> Outline:
    """What ``Store.outline`` promises; raises OSError where the disk fails."""
    place = path.segments
    descriptor = opened.tree.list_directory(place)
    if descriptor is None:
        raise NotFound(path)
    try:
        listing = _Listing(opened, totals, opened.files.fstat(descriptor).st_dev)
        listing.base_chars = len(path.text) + 1 + BESIDE_PATH_CHARS
        listing.room = line_chars
        size_bytes = listing.look(descriptor, place, "", LEVELS)
    finally:
        opened.files.close(descriptor)
    if not listing.n_files and place and not holds_memories(opened.tree, place):
        raise NotFound(path)
    items, n_items = tuple(listing.items), listing.n_items
    if size_bytes is None or not listing.is_counted:
        total = totals.of(place)
        if total is not None:  # else somebody emptied it just now
            n_items = max(n_items, total.items)
            size_bytes = total.size_bytes if size_bytes is None else size_bytes
    return Outline(size_bytes or 0, items, n_items)


class _Listing:
    """What was seen so far: ``items`` that are shown, ``n_items`` that would be if there was room
    (unless not ``is_counted``), and ``n_files`` at any depth. ``room`` is left, in characters of
    lines; of each line ``base_chars`` are not its name's."""

    base_chars = room = 0

    def __init__(self, opened: OpenTree, totals: Totals, device: int) -> None:
        self.items: list[Listed] = []
        self.n_items = self.n_files = 0
        self.is_counted = True
        self._opened = opened
        self._files = opened.files
        self._totals = totals
        self._device = device
        self._looks_left = MOST_COUNTED

    def look(self, descriptor: int, place: Place, prefix: str, levels: int) -> int | None:
        """List what lies in a directory, in listing order, as far as there is room, ``prefix``
        before each name; how many bytes lie in it, None if that would be too much to count."""
        names = [
            name
            for name in self._files.names(descriptor)
            if name[0] != "." and name != "node_modules"
        ]
        waiting: list[str] = []  # directories: with their slash they may come after longer names
        size_bytes = n_seen = 0
        if levels and self.room > 0:
            names.sort()
            n_seen, size_bytes = self._show(descriptor, place, prefix, levels, names, waiting)
        if n_seen == len(names) and not waiting:
            return size_bytes
        rest = self._count(descriptor, place, names[n_seen:], waiting, levels)
        return None if rest is None else size_bytes + rest

    def _show(
        self,
        descriptor: int,
        place: Place,
        prefix: str,
        levels: int,
        names: list[str],
        waiting: list[str],
    ) -> tuple[int, int]:
        """List entries as long as there is room; how many of the names, and how many bytes. Leaves
        directories for which there is none in ``waiting``."""
        size_bytes = n_files = n_seen = 0
        add, is_plain = self.items.append, PLAIN.fullmatch
        chars = self.base_chars + len(prefix)
        room = self.room
        for name, found in self._files.stats(names, descriptor):
            while waiting and waiting[0] < name and room > 0:
                self.room = room
                size_bytes += self._directory(descriptor, place, prefix, heappop(waiting), levels)
                room = self.room
            if room <= 0:
                n_seen = names.index(name)
                break
            kind = found.st_mode & _KIND
            if kind == S_IFREG:
                if is_plain(name) or self._is_memory(place, name):
                    size = found.st_size
                    size_bytes += size
                    n_files += 1
                    add((prefix + name, size))
                    room -= chars + len(name)
            elif kind == S_IFDIR and found.st_dev == self._device and is_memory_name(name):
                heappush(waiting, name + "/")
        else:
            n_seen = len(names)
        self.n_files += n_files
        self.n_items += n_files
        self.room = room
        while waiting and self.room > 0:
            size_bytes += self._directory(descriptor, place, prefix, heappop(waiting), levels)
        return n_seen, size_bytes

    def _count(
        self, descriptor: int, place: Place, names: list[str], directories: list[str], levels: int
    ) -> int | None:
        """Look at entries, and at ``directories`` among them, only to count them."""
        self._looks_left -= len(names)
        if self._looks_left < len(directories):
            return None
        size_bytes = n_files = 0
        for name, found in self._files.stats(names, descriptor):
            kind = found.st_mode & _KIND
            if kind == S_IFREG:
                if self._is_memory(place, name):
                    size_bytes += found.st_size
                    n_files += 1
            elif kind == S_IFDIR and found.st_dev == self._device and is_memory_name(name):
                directories.append(name + "/")
        self.n_files += n_files
        self.n_items += n_files if levels else 0
        for name in directories:
            self._looks_left -= 1
            if self._looks_left < 0:
                return None
            size_bytes += self._directory(descriptor, place, "", name, levels)
        return size_bytes

    def _is_memory(self, place: Place, name: str) -> bool:
        return is_memory_name(name) and (
            not is_litter(name) or self._totals.knows_file((*place, name))
        )

    def _directory(self, descriptor: int, place: Place, prefix: str, name: str, levels: int) -> int:
        """List a directory (``name`` has its slash) and what lies in it; how many bytes that is."""
        place = (*place, name[:-1])
        try:
            inside = self._files.open(name[:-1], LISTING, descriptor)
        except OSError as error:
            if error.errno in ABSENT:
                return 0
            raise
        n_shown, n_items, n_files, room = len(self.items), self.n_items, self.n_files, self.room
        prefix += name
        if levels:
            self.n_items += 1
            if room > 0:
                # Its place, before what lies in it; how large it is, or whether it counts as there
                # at all, is known afterwards.
                self.items.append(_UNKNOWN)
                self.room = room - self.base_chars - len(prefix)
            levels -= 1
            is_listed = True
        else:
            is_listed = False
        try:
            size_bytes = self.look(inside, place, prefix, levels)
        finally:
            self._files.close(inside)
        if size_bytes is None:
            total = self._totals.of(place)
            self.is_counted = self.is_counted and not levels
            is_there = total is not None
            size_bytes = 0 if total is None else total.size_bytes
        else:
            is_there = self.n_files > n_files or (
                is_listed and holds_memories(self._opened.tree, place)
            )
        if not is_there:
            del self.items[n_shown:]
            self.n_items, self.room = n_items, room
        elif len(self.items) > n_shown:
            self.items[n_shown] = (prefix, size_bytes)
        return size_bytes
