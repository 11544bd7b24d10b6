"""Versions and moments: what the history shows of the log."""

from __future__ import annotations

import heapq
from itertools import islice
from typing import TYPE_CHECKING, Final

from memoranda.errors import UnknownId
from memoranda.stores.base import Moment, Version, VersionFilter, VersionPage
from memoranda.stores.git import log
from memoranda.stores.git.batch import by_number, path_of
from memoranda.stores.git.listing import numbers_at
from memoranda.stores.log import ids
from memoranda.stores.sealing import CREATED, DELETED, MODIFIED, clean, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.git.log import Happened, Head
    from memoranda.stores.git.objects import Objects

_OPS: Final = {"created": CREATED, "modified": MODIFIED, "deleted": DELETED}


def versions(
    objects: Objects,
    head: Head,
    where: VersionFilter,
    after: str | None,
    limit: int,
    *,
    content: bool,
) -> VersionPage:
    """What ``Store.versions`` promises; ``after`` is the id of the last version of the page before,
    and ``UnknownId`` is raised for one that this store never gave.

    Costs a few reads a version where the memory or the path is given, else what there is to look at.
    """
    before = head.state.seq + 1
    if after is not None:
        numbers = ids.event_of(head, after)
        if numbers is None:
            raise UnknownId("version")
        before = min(before, numbers[0])
    fitting = (each for each in _newest_first(objects, head, where, before) if _fits(each, where))
    found = [_version(objects, head, each, content=content) for each in islice(fitting, limit + 1)]
    shown = tuple(found[:limit])
    return VersionPage(shown, shown[-1].id if len(found) > limit and shown else None)


def _newest_first(
    objects: Objects, head: Head, where: VersionFilter, before: int
) -> Iterator[Happened]:
    numbers: set[int] | None = None
    if where.path is not None and not where.path.is_root:
        numbers = numbers_at(objects, head, where.path)
    if where.memory_id is not None:
        number = ids.node_of(head, where.memory_id)
        own: set[int] = set() if number is None else {number}
        numbers = own if numbers is None else numbers & own
    if numbers is None:
        yield from _all(objects, head, before)
        return
    chains = [_of_memory(objects, head, number, before) for number in sorted(numbers)]
    yield from heapq.merge(*chains, key=lambda each: -each.event.seq)


def _all(objects: Objects, head: Head, before: int) -> Iterator[Happened]:
    first = log.with_event(objects, head, before - 1)
    if first is None:
        return
    for batch in log.batches(objects, first):
        for each in reversed(log.happened_in(objects, batch)):
            if each.event.memory is not None and each.event.seq < before:
                yield each


def _of_memory(objects: Objects, head: Head, number: int, before: int) -> Iterator[Happened]:
    _, record = by_number(objects, head, number)
    seq = 0 if record is None else record.head
    while seq:
        each = log.happened(objects, head, seq)
        if each is None:
            return
        if seq < before:
            yield each
        seq = each.before


def _fits(each: Happened, where: VersionFilter) -> bool:
    event = each.event
    return (
        (where.operation is None or event.op == _OPS[where.operation])
        and (where.actor is None or event.actor == clean(where.actor))
        and (where.from_ns is None or event.at >= where.from_ns)
        and (where.to_ns is None or event.at <= where.to_ns)
    )


def one(objects: Objects, head: Head, version_id: str) -> Version:
    """What ``Store.version`` promises."""
    numbers = ids.event_of(head, version_id)
    if numbers is not None:
        found = log.happened(objects, head, numbers[0])
        if found is not None and found.event.memory == numbers[1]:
            return _version(objects, head, found, content=True)
    raise UnknownId("version")


def moment(objects: Objects, head: Head, at_ns: int) -> Moment:
    """What ``Store.moment`` promises."""
    found = log.at_time(objects, head, at_ns)
    return Moment(0 if found is None else found.last_version)


def _version(objects: Objects, head: Head, found: Happened, *, content: bool) -> Version:
    event = found.event
    version = version_of(head, event, None if event.path is None else path_of(event.path))
    if content and found.blob is not None:
        return version._replace(content=objects.read_blob(found.blob))
    return version
