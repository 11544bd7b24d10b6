"""The one place that accepts or refuses a path (``docs/paths.md`` has the policy).

A path is parsed once, into segments; nothing after this module builds, joins, decodes or
normalises paths, and nothing takes a path as ``str``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ROOT_TEXT = "/memories"
MAX_PATH_BYTES = 1024
MAX_SEGMENTS = 20
MAX_SEGMENT_BYTES = 255


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """A checked path: the names below ``/memories``, in Unicode NFC; no names is the root.

    Two paths are equal when their names are. ``slash`` tells that the path was given with a
    trailing slash, which says "directory"; it takes no part in comparisons.
    """

    segments: tuple[str, ...]
    text: str = field(compare=False, repr=False)
    slash: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, segments: tuple[str, ...]) -> MemoryPath:
        """The path of names that are known to be good (rows of a store); nothing is checked."""
        return cls(segments, "/".join((ROOT_TEXT, *segments)))

    def __str__(self) -> str:
        """The canonical form that Claude reads: ``/memories/a/b.md``, no trailing slash."""
        return self.text

    @property
    def is_root(self) -> bool:
        """Whether this is ``/memories`` itself."""
        return not self.segments

    @property
    def name(self) -> str:
        """The last name; the root has none and raises IndexError."""
        return self.segments[-1]

    @property
    def parent(self) -> MemoryPath:
        """The directory that holds this path; the root is its own parent."""
        return MemoryPath.of(self.segments[:-1])

    @property
    def store_path(self) -> str:
        """The path as the HTTP API spells it: ``/a/b.md``; the root is ``/``."""
        return "/" + "/".join(self.segments)

    def child(self, name: str) -> MemoryPath:
        """The path of ``name`` in this directory; ``name`` is known to be good."""
        return MemoryPath((*self.segments, name), f"{self.text}/{name}")

    def is_below(self, other: MemoryPath) -> bool:
        """Whether this path lies beneath ``other`` (not at it)."""
        n = len(other.segments)
        return len(self.segments) > n and self.segments[:n] == other.segments


ROOT = MemoryPath.of(())
