"""What a store answers about its history: immutable versions, pages of them, moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from memoranda.light_dataclasses import dataclass
from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath

if TYPE_CHECKING:
    from datetime import datetime

Operation: TypeAlias = Literal["created", "modified", "deleted"]


class Version(NamedTuple):
    """One immutable version of one memory.

    ``path`` is the path at that write, None when redacted. ``sha256`` and ``size_bytes`` are None
    on ``deleted`` and when redacted. ``content`` is None unless asked for (and on ``deleted`` and
    when redacted). Times are nanoseconds since 1970 in UTC and never go back within a store.
    ``seq`` orders the versions of a store.
    """

    id: str
    memory_id: str
    operation: Operation
    path: MemoryPath | None
    actor: str
    command: str
    created_at_ns: int
    seq: int
    size_bytes: int | None
    sha256: str | None
    trace_id: str | None = None
    redacted_at_ns: int | None = None
    redacted_by: str | None = None
    content: bytes | None = None
    late: bool = False
    """Text that a person saved into a file that was already replaced: in history, never head."""
    batch: int = 0
    """Versions of one ``apply`` share this number and ``created_at_ns``, and no other version has
    the number: it is the ``seq`` of the first event."""

    @property
    def created_at(self) -> datetime:
        """``created_at_ns`` as an aware datetime (microseconds)."""
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.created_at_ns / 1e9, tz=UTC)


class VersionPage(NamedTuple):
    """A page of versions, newest first; ``after`` continues it, None on the last page."""

    versions: tuple[Version, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class VersionFilter:
    """Which versions to list; all given fields have to hold. Times are inclusive, in ns."""

    memory_id: str | None = None
    path: MemoryPath | None = None
    """Versions of every memory that was ever at this path, or beneath it."""
    operation: Operation | None = None
    actor: str | None = None
    from_ns: int | None = None
    to_ns: int | None = None


class Moment(NamedTuple):
    """A point in a store's history: the state right after version ``seq``."""

    seq: int
