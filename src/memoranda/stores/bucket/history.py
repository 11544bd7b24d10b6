"""Versions and moments: what the history shows of the events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt, UnknownId
from memoranda.stores.base import Moment, Version, VersionPage
from memoranda.stores.bucket.sight import END_OF_EVENTS, path_of
from memoranda.stores.log import ids
from memoranda.stores.sealing import OPERATIONS, clean, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.base import VersionFilter
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.kept import Kept
    from memoranda.stores.bucket.sight import Sight

READ_AT_ONCE: Final = 128


async def versions(
    sight: Sight, where: VersionFilter, after: str | None, limit: int, *, content: bool
) -> VersionPage:
    """What ``Store.versions`` promises; ``after`` is the id of the last version of the page before,
    and ``UnknownId`` is raised for one that this store never gave.

    Of one memory, or of a path, it costs those versions; else the history from the end back.
    """
    head = sight.head
    before = END_OF_EVENTS
    if after is not None:
        numbers = ids.event_of(head, after)
        if numbers is None:
            raise UnknownId("version")
        before = numbers[0]
    memories = await _memories(sight, where)
    found: list[Kept] = []
    if memories is not None:
        seqs = [seq for number in memories for seq in await sight.versions_of(number, 0, before)]
        seqs.sort(reverse=True)
        for start in range(0, len(seqs), READ_AT_ONCE):
            some = seqs[start : start + READ_AT_ONCE]
            events = await sight.events_of(some)
            found += _matching(where, [events[seq] for seq in some if seq in events])
            if len(found) > limit:
                break
    else:
        while len(found) <= limit:
            some_events = await sight.last_events(before, READ_AT_ONCE)
            found += _matching(where, some_events)
            if len(some_events) < READ_AT_ONCE or some_events[-1].event.at < (where.from_ns or 0):
                break
            before = some_events[-1].event.seq
    shown = await _shown(sight, found[:limit], content=content)
    return VersionPage(shown, shown[-1].id if len(found) > limit and shown else None)


async def _memories(sight: Sight, where: VersionFilter) -> Sequence[int] | None:
    """The memories whose versions are wanted; None for all."""
    wanted: set[int] | None = None
    if where.path is not None and not where.path.is_root:
        wanted = await sight.ever_at(where.path)
    if where.memory_id is not None:
        number = ids.node_of(sight.head, where.memory_id)
        one: set[int] = set() if number is None else {number}
        wanted = one if wanted is None else wanted & one
    return None if wanted is None else sorted(wanted)


def _matching(where: VersionFilter, events: Sequence[Kept]) -> list[Kept]:
    actor = None if where.actor is None else clean(where.actor)
    return [
        kept
        for kept in events
        if kept.event.memory is not None
        and (where.from_ns is None or kept.event.at >= where.from_ns)
        and (where.to_ns is None or kept.event.at <= where.to_ns)
        and (where.operation is None or OPERATIONS[kept.event.op or 0] == where.operation)
        and (actor is None or kept.event.actor == actor)
    ]


async def one(sight: Sight, version_id: str) -> Version:
    """What ``Store.version`` promises."""
    numbers = ids.event_of(sight.head, version_id)
    if numbers is not None:
        kept = await sight.event(numbers[0])
        if kept is not None and kept.event.memory == numbers[1]:
            return (await _shown(sight, [kept], content=True))[0]
    raise UnknownId("version")


async def moment(sight: Sight, at_ns: int) -> Moment:
    """What ``Store.moment`` promises: a search by halves, since time never goes back."""
    low, high = 0, sight.head.state.seq
    while low < high:
        middle = (low + high + 1) // 2
        found = await sight.first_events(middle, 1)
        if found and found[0].event.at <= at_ns:
            low = found[0].event.seq
        else:
            high = middle - 1
    before = low + 1
    while True:
        some = await sight.last_events(before, READ_AT_ONCE)
        for kept in some:
            if kept.event.memory is not None and kept.event.at <= at_ns:
                return Moment(kept.event.seq)
        if len(some) < READ_AT_ONCE:
            return Moment(0)
        before = some[-1].event.seq


async def _shown(sight: Sight, events: Sequence[Kept], *, content: bool) -> tuple[Version, ...]:
    contents: dict[str, bytes] = {}
    if content:
        contents = await sight.shelf.contents(
            (kept.place, kept.event.size or 0) for kept in events if kept.place is not None
        )
    return tuple(_version(sight.head, kept, contents) for kept in events)


def _version(head: Head, kept: Kept, contents: dict[str, bytes]) -> Version:
    event = kept.event
    version = version_of(head, event, None if event.path is None else path_of(event.path))
    if kept.redacted_at is not None:
        return version._replace(redacted_at_ns=kept.redacted_at, redacted_by=kept.redacted_by)
    if contents and kept.place is not None:
        try:
            return version._replace(content=contents[kept.place])
        except KeyError:
            raise Corrupt("The content of a version is missing.") from None
    return version
