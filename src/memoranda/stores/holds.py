"""A hold: nothing of a path goes by itself until it is lifted."""

from __future__ import annotations

from typing import NamedTuple

from memoranda.path import MemoryPath


class Hold(NamedTuple):
    """``path`` is a memory, a directory with all beneath it, or the root for the whole store."""

    path: MemoryPath
    reason: str
    actor: str
    at_ns: int

    def covers(self, path: MemoryPath) -> bool:
        """Whether a path is held by it."""
        return path == self.path or path.is_below(self.path)
