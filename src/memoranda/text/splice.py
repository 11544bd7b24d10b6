"""A change to a file as data: which bytes go, and what takes their place."""

from __future__ import annotations

from typing import NamedTuple


class Splice(NamedTuple):
    """Replace bytes ``start`` to ``end`` (end exclusive, both byte offsets) by ``middle``.

    A splice is what an edit yields instead of a whole new text, so that a large file is neither
    copied nor compared again: a store can write three slices and log only the middle.
    """

    start: int
    end: int
    middle: bytes

    def apply(self, old: bytes) -> bytes:
        """The text after the change. Costs one copy of the result."""
        return b"".join((old[: self.start], self.middle, old[self.end :]))

    def changes(self, old: bytes) -> bool:
        """Whether the text after the change differs from ``old``."""
        return old[self.start : self.end] != self.middle

    def size_after(self, size_bytes: int) -> int:
        """How many bytes a file of ``size_bytes`` has after the change."""
        return size_bytes - (self.end - self.start) + len(self.middle)
