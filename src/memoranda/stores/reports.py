"""What a store answers about itself: how much it holds, and whether it is sound."""

from __future__ import annotations

from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath


class Usage(NamedTuple):
    """What a store holds now; ``history_bytes`` is what its history takes on storage,
    the audit of views and refusals included."""

    files: int
    size_bytes: int
    versions: int
    history_bytes: int


class Problem(NamedTuple):
    """Something ``verify`` found: a stable ``code``, what it is, what to do, and where."""

    code: str
    message: str
    remedy: str
    path: MemoryPath | None = None


class Report(NamedTuple):
    """The outcome of ``verify``: ``ok`` means no problem; ``notes`` are harmless findings."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    files: int
    versions: int

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
