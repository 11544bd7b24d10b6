"""What a report says of a memory, gathered through its own methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import Unsupported
from memoranda.stores.base import Entry, VersionFilter

if TYPE_CHECKING:
    from memoranda.memory import Memory
    from memoranda.policies.limits import Limits
    from memoranda.stores.base import AuditEntry, Usage, Version

SHOWN: Final = 12
"""How many of the largest, the stalest and the newest are listed."""

MOST_VERSIONS: Final = 50_000
"""How far back a report looks, in versions; and in entries of the audit."""

MOST_DAYS: Final = 400

TELLING: Final = frozenset(
    (
        *("awaits_approval", "bad_path", "corrupt", "file_too_large", "held", "memory_full"),
        *("read_only", "secret_found", "too_many_commands", "too_many_files", "unavailable"),
    )
)
"""Outcomes that a person should know of; to ask for what isn't there is everyday."""

_PAGE: Final = 1000


class Day(NamedTuple):
    """One day, in UTC: how many changes of each kind, and how much there was at its end."""

    day: date
    created: int
    modified: int
    deleted: int
    size_bytes: int

    @property
    def changes(self) -> int:
        """All of them."""
        return self.created + self.modified + self.deleted


class Flag(NamedTuple):
    """Something that a person should look at: when, what (``refused`` or ``marked``), who, where,
    and how it is called in the audit."""

    at: datetime
    what: str
    actor: str
    path: str
    detail: str


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows of one memory. Paths and names may hold anything."""

    name: str
    made_at: datetime
    usage: Usage
    limits: Limits
    days: tuple[Day, ...]
    largest: tuple[Entry, ...]
    stalest: tuple[Entry, ...]
    newest: tuple[Version, ...]
    actors: tuple[tuple[str, int], ...]
    flags: tuple[Flag, ...]
    is_whole: bool
    """Whether all versions that are kept were looked at."""


def facts_of(memory: Memory, name: str, limits: Limits) -> Facts:
    """Gather the facts of a memory that is to be called ``name``.

    Reads the listing, the versions without their contents, and the audit; no content.
    """
    entries = [one for one in memory.list() if isinstance(one, Entry)]
    versions, is_whole = _versions(memory)
    by_size = sorted(entries, key=lambda one: (-one.size_bytes, str(one.path)))
    by_age = sorted(entries, key=lambda one: (one.updated_at_ns, str(one.path)))
    actors = Counter(version.actor for version in versions)
    return Facts(
        name,
        datetime.now(UTC),
        memory.usage(),
        limits,
        tuple(_days(versions)),
        tuple(by_size[:SHOWN]),
        tuple(by_age[:SHOWN]),
        tuple(versions[:SHOWN]),
        tuple(actors.most_common(SHOWN)),
        tuple(_flags(memory)),
        is_whole,
    )


def _versions(memory: Memory) -> tuple[list[Version], bool]:
    """Versions newest first, and whether these are all."""
    found: list[Version] = []
    after: str | None = None
    while len(found) < MOST_VERSIONS:
        page = memory.versions(VersionFilter(), after=after, limit=_PAGE)
        found += page.versions
        after = page.after
        if after is None:
            return found, True
    return found, False


def _days(versions: Iterable[Version]) -> list[Day]:
    """Every day from the first change on, those without one too; the last ``MOST_DAYS``."""
    counts: dict[date, Counter[str]] = {}
    ends: dict[date, int] = {}
    sizes: dict[str, int] = {}
    total = 0
    for version in reversed(list(versions)):
        day = version.created_at.date()
        counts.setdefault(day, Counter())[version.operation] += 1
        size = 0 if version.operation == "deleted" else version.size_bytes
        if size is not None:  # else it was redacted, and nobody knows any more
            total += size - sizes.get(version.memory_id, 0)
            sizes[version.memory_id] = size
        ends[day] = total
    if not counts:
        return []
    days: list[Day] = []
    day, size = min(counts), 0
    while day <= max(counts):
        size = ends.get(day, size)
        n = counts.get(day, Counter())
        days.append(Day(day, n["created"], n["modified"], n["deleted"], size))
        day += timedelta(days=1)
    return days[-MOST_DAYS:]


def _flags(memory: Memory) -> list[Flag]:
    """Refusals and marks, newest first."""
    flags: list[Flag] = []
    after: int | None = None
    n_seen = 0
    while n_seen < MOST_VERSIONS:
        try:
            entries = memory.audit(after=after, limit=_PAGE)
        except Unsupported:
            return flags
        if not entries:
            break
        n_seen += len(entries)
        after = entries[-1].seq
        for entry in entries:
            flags += _flags_of(entry)
    return sorted(flags, key=lambda flag: flag.at, reverse=True)[: 2 * SHOWN]


def _flags_of(entry: AuditEntry) -> list[Flag]:
    found: list[Flag] = []
    if entry.outcome in TELLING:
        found.append(Flag(entry.at, "refused", entry.actor, entry.path or "", entry.outcome))
    marks: Mapping[str, Sequence[str]] = entry.details.get("flags", {})
    found += [
        Flag(entry.at, "marked", entry.actor, path, ", ".join(kinds))
        for path, kinds in marks.items()
    ]
    return found
