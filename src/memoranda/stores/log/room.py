"""Whether what lies beneath a directory still has room in a path once the directory moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.errors import MovedNameTooLong
from memoranda.path import MAX_PATH_BYTES, MAX_SEGMENTS, MemoryPath

if TYPE_CHECKING:
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.tree import Tree


def check_room(tree: Tree, node: Node, source: MemoryPath, target: MemoryPath) -> None:
    """Raise ``MovedNameTooLong`` if anything beneath a directory would get too long a path.

    Costs nothing while the directory's bounds say that all fits; else its names are walked,
    which makes the bounds exact again.
    """
    segments, length = len(target.segments), len(target.store_path.encode())
    if segments + node.deep <= MAX_SEGMENTS and length + node.long <= MAX_PATH_BYTES:
        return
    tree.touch(node)
    node.deep, node.long = _measure(tree, node, source, target, segments, length)


def _measure(
    tree: Tree, node: Node, source: MemoryPath, target: MemoryPath, segments: int, length: int
) -> tuple[int, int]:
    deep = long = 0
    for below in tree.beneath(node):
        path = target.child(below.plain_name)
        longer = length + 1 + len(path.name.encode())
        if segments == MAX_SEGMENTS or longer > MAX_PATH_BYTES:
            raise MovedNameTooLong(source, str(path))
        more, further = (0, 0)
        if below.is_directory:
            more, further = _measure(tree, below, source, path, segments + 1, longer)
        deep = max(deep, more + 1)
        long = max(long, further + longer - length)
    return deep, long
