"""Reading a memory: a walk, an open, a look, a read. No lock, no database."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from memoranda.errors import IsADirectory, NotFound
from memoranda.path import MemoryPath
from memoranda.stores.base import Content
from memoranda.stores.folder.file_port import READING, Files
from memoranda.stores.folder.found_names import is_litter, is_memory_name
from memoranda.stores.folder.tree import ABSENT, Place, Tree, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.folder.open_tree import OpenTree
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.log.store_log import StoreLog


def read_file(opened: OpenTree, path: MemoryPath, start: int, length: int | None) -> Content:
    """What ``Store.read`` promises; raises OSError where the disk fails."""
    place, files = path.segments, opened.files
    if not place:
        raise IsADirectory(path)
    try:
        descriptor = files.open_beneath(opened.memories.number, "/".join(place), READING)
    except OSError as error:
        if error.errno in ABSENT:
            raise NotFound(path) from None
        raise
    try:
        found = files.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            if stat.S_ISDIR(found.st_mode) and holds_memories(opened.tree, place):
                raise IsADirectory(path)
            raise NotFound(path)
        size = found.st_size
        stamp = (found.st_ino, found.st_mtime_ns, size)
        if length is None and start <= 0:
            data = read_whole(files, descriptor, size)
            return Content(data, len(data), stamp)
        begin = min(max(start, 0), size)
        end = size if length is None else min(size, begin + max(length, 0))
        return Content(_read_range(files, descriptor, begin, end), size, stamp)
    finally:
        files.close(descriptor)


def read_by_log(
    opened: OpenStore, log: StoreLog, path: MemoryPath, start: int, length: int | None
) -> Content:
    """The same while places lag: the log says which, and what they hold."""
    from memoranda.stores.folder.heads import is_beneath
    from memoranda.stores.log import bodies
    from memoranda.stores.log.tree import Tree as LogTree

    found = LogTree(log, 0).walk(path)
    node = found.node
    if node is None:
        if is_beneath(path.segments, opened.left):
            raise NotFound(path)  # what lies there still should be gone
        return read_file(opened, path, start, length)
    if opened.lag.isdisjoint(each.id for each in (*found.chain, node)):
        return read_file(opened, path, start, length)
    if node.is_directory:
        raise IsADirectory(path)
    data = bodies.content(log, node.body)
    begin = max(start, 0)
    part = data[begin:] if length is None else data[begin : begin + max(length, 0)]
    return Content(part, len(data), ("log", node.body))


def contents_beneath(
    opened: OpenStore, log: StoreLog, prefix: MemoryPath
) -> Iterator[tuple[MemoryPath, bytes]]:
    """The memory at ``prefix``, or all beneath it in listing order, with their contents."""
    from memoranda.stores.folder.survey import rows_of
    from memoranda.stores.log import bodies

    rows = rows_of(log)
    length = len(prefix.segments)
    for place in sorted(rows, key="/".join):
        if place[:length] == prefix.segments:
            row = rows[place]
            found = opened.tree.read(place)
            if found is None or found[1] != row.image:
                yield MemoryPath.of(place), bodies.content(log, row.body)
            else:
                yield MemoryPath.of(place), found[0]


def _read_range(files: Files, descriptor: int, begin: int, end: int) -> bytes:
    data = files.read_at(descriptor, end - begin, begin)
    while len(data) < end - begin:
        more = files.read_at(descriptor, end - begin - len(data), begin + len(data))
        if not more:
            break  # somebody cut the file meanwhile
        data += more
    return data


def holds_memories(tree: Tree, place: Place) -> bool:
    """Whether a memory lies anywhere beneath a directory."""
    return any(
        is_memory_name(name) and not is_litter(name)
        for here in tree.walk(place)
        for name in here.files
    )
