"""The outline of a directory, made of all the memories beneath it: for stores without counters, or
whose counters count something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memoranda.path import MemoryPath
from memoranda.stores.base import BESIDE_PATH_CHARS, Outline

LEVELS: Final = 2


def outline_of(
    directory: MemoryPath, sizes: Iterable[tuple[MemoryPath, int]], line_chars: int
) -> Outline:
    """What ``Store.outline`` promises, from the paths and plain sizes of all that lies beneath."""
    shown: dict[str, int] = {}
    total_bytes = 0
    above = len(directory.segments)
    for path, size_bytes in sizes:
        names = path.segments[above:]
        n_visible = next((n for n, name in enumerate(names) if _is_hidden(name)), len(names))
        is_visible = n_visible == len(names)
        counted = size_bytes if is_visible else 0
        total_bytes += counted
        for level in range(1, min(LEVELS, n_visible, len(names) - 1) + 1):
            name = "/".join(names[:level]) + "/"
            shown[name] = shown.get(name, 0) + counted
        if is_visible and len(names) <= LEVELS:
            shown["/".join(names)] = size_bytes
    items: list[tuple[str, int]] = []
    room = line_chars
    for item in sorted(shown.items()):
        if room <= 0:
            break
        items.append(item)
        room -= len(directory.text) + 1 + BESIDE_PATH_CHARS + len(item[0])
    return Outline(total_bytes, tuple(items), len(shown))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "node_modules"
