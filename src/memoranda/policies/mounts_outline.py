"""What a view of a directory shows in which other stores are mounted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memoranda.errors import IsADirectory, NotFound
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import BESIDE_PATH_CHARS, Outline

if TYPE_CHECKING:
    from memoranda.policies.mounted import Mounted
    from memoranda.stores.base import Store


async def outline_with(
    own: Store, mounts: Sequence[Mounted], directory: MemoryPath, line_chars: int
) -> Outline:
    """The outline of ``directory``, beneath which ``mounts`` lie, as ``Store.outline`` gives it.

    Of a mounted store both levels are read whole: how many items there are on its first one no
    counter says.
    """
    try:
        found = await own.outline(directory, line_chars)
    except NotFound:  # nothing but mounts lies there
        found = Outline(0, (), 0)
    n = len(directory.segments)
    hidden_by = [f"{'/'.join(mount.point.segments[n:])}/" for mount in mounts]
    items = {
        name: size_bytes
        for name, size_bytes in found.items
        if not any(name.startswith(point) for point in hidden_by)
    }
    size_bytes, total = found.size_bytes, found.total - (len(found.items) - len(items))
    for mount in mounts:
        names = mount.point.segments[n:]
        if any(_is_hidden(name) for name in names):
            continue
        inside = await mount.call(mount.store.outline(ROOT, sys.maxsize))
        size_bytes += inside.size_bytes
        for depth in range(1, min(len(names), 2) + 1):
            name = f"{'/'.join(names[:depth])}/"
            is_own = depth < len(names) and await _is_directory(
                own, MemoryPath.of((*directory.segments, *names[:depth]))
            )
            if name not in items and not is_own:
                items[name] = 0
                total += 1
            if name in items:
                items[name] += inside.size_bytes
        if len(names) == 1:
            first_level = [row for row in inside.items if "/" not in row[0][:-1]]
            items |= {f"{names[0]}/{name}": size for name, size in first_level}
            total += len(first_level)
    last = found.items[-1][0] if len(found.items) < found.total and found.items else None
    shown: list[tuple[str, int]] = []
    room = line_chars
    for row in sorted(items.items()):
        if room <= 0 or (last is not None and row[0] > last):
            break
        shown.append(row)
        room -= len(directory.text) + 1 + len(row[0]) + BESIDE_PATH_CHARS
    return Outline(size_bytes, tuple(shown), total)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "node_modules"


async def _is_directory(store: Store, path: MemoryPath) -> bool:
    try:
        await store.stat(path)
    except IsADirectory:
        return True
    except NotFound:
        return False
    return False
