"""What a store was: walks through the API's versions.

The API filters by memory, operation, time and some actors. What else is asked for is looked for in
the whole history, one request for each 100 versions.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from anthropic import omit

from memoranda.errors import UnknownId
from memoranda.stores.base import Entry, Moment, Version, VersionFilter, VersionPage
from memoranda.stores.remote.faults import Declined, items_of, unreadable
from memoranda.stores.remote.listing import AT_ONCE, FULL_AT_ONCE, MISSING
from memoranda.stores.remote.shapes import is_id, time_of, version_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anthropic.pagination import SyncPageCursor
    from anthropic.resources.beta.memory_stores import MemoryStores
    from anthropic.types.beta.memory_stores import BetaManagedAgentsMemoryVersion

    from memoranda.path import MemoryPath
    from memoranda.stores.remote.port import Port

_KEY: Final = "apikey_"
_SESSION: Final = "sesn_"
_NO_SUCH_VERSION: Final = frozenset({400, MISSING})


class _Ask(NamedTuple):
    """What the API is asked to filter by."""

    memory_id: str | None = None
    where: VersionFilter = VersionFilter()
    limit: int = AT_ONCE
    content: bool = False


async def versions(
    port: Port,
    store_id: str,
    where: VersionFilter,
    after: str | None,
    limit: int,
    *,
    content: bool,
) -> VersionPage:
    """What ``Store.versions`` promises; ``after`` is the id of the last version of the page before."""
    if where.memory_id is not None and not is_id(where.memory_id, "mem_"):
        return VersionPage((), None)
    fitting = await _fitting(port, store_id, where)
    if after is not None:
        # Newer ones may have come since; from the page's last one on it is the same walk.
        last = await one(port, store_id, after)
        until = last.created_at_ns if where.to_ns is None else min(where.to_ns, last.created_at_ns)
        where = VersionFilter(
            where.memory_id, where.path, where.operation, where.actor, where.from_ns, until
        )
    found: list[Version] = []
    is_past = after is None
    # What the API can't filter by may need many versions for one.
    is_sparse = fitting is not None or where.actor is not None
    ask = _Ask(where.memory_id, where, AT_ONCE if is_sparse else limit + 1, content)
    async for version in _walk(port, store_id, ask):
        if not is_past:
            is_past = version.id == after
        elif (fitting is None or version.memory_id in fitting) and _fits(version, where):
            found.append(version)
            if len(found) > limit:
                break
    shown = tuple(found[:limit])
    return VersionPage(shown, shown[-1].id if len(found) > limit and shown else None)


async def one(port: Port, store_id: str, version_id: str) -> Version:
    """A version with its content; raises ``UnknownId``."""
    if is_id(version_id, "memver_"):
        try:
            found = version_of(
                await port.look(
                    lambda stores: stores.memory_versions.retrieve(
                        version_id, memory_store_id=store_id, view="full"
                    )
                )
            )
        except Declined as error:
            if error.status not in _NO_SUCH_VERSION:
                raise
        else:
            if found is not None:
                return found
    raise UnknownId("version")


async def of_memory(
    port: Port, store_id: str, memory_id: str, until: str | None = None
) -> list[Version]:
    """The versions of a memory, newest first, down to the one with id ``until``, without it."""
    found: list[Version] = []
    async for version in _walk(port, store_id, _Ask(memory_id)):
        if version.id == until:
            break
        found.append(version)
    return found


async def moment(port: Port, store_id: str, at_ns: int) -> Moment:
    """What ``Store.moment`` promises: a time in microseconds."""
    ask = _Ask(where=VersionFilter(to_ns=at_ns), limit=1)
    async for version in _walk(port, store_id, ask):
        return Moment(version.seq)
    return Moment(0)


async def at(port: Port, store_id: str, moment: Moment, prefix: MemoryPath) -> list[Entry]:
    """What lay beneath a directory at a moment, in listing order, as far as history is kept."""
    newest: dict[str, Version] = {}
    oldest: dict[str, Version] = {}
    ask = _Ask(where=VersionFilter(to_ns=moment.seq * 1000 + 999))
    async for version in _walk(port, store_id, ask):
        newest.setdefault(version.memory_id, version)
        oldest[version.memory_id] = version
    found: list[Entry] = []
    for memory_id, version in newest.items():
        if version.operation == "deleted" or version.path is None:
            continue
        if not version.path.is_below(prefix):
            continue
        found.append(
            Entry(
                version.path,
                memory_id,
                version.id,
                version.size_bytes or 0,
                version.sha256 or "",
                oldest[memory_id].created_at_ns,
                version.created_at_ns,
            )
        )
    return sorted(found, key=lambda entry: entry.path.text)


async def count(port: Port, store_id: str) -> tuple[int, int]:
    """How many versions there are, and the bytes of their contents."""
    n_versions = size_bytes = 0
    async for version in _walk(port, store_id, _Ask()):
        n_versions += 1
        size_bytes += version.size_bytes or 0
    return n_versions, size_bytes


async def _fitting(port: Port, store_id: str, where: VersionFilter) -> set[str] | None:
    """The memories that were ever at a path or beneath; None where any may be."""
    path = where.path
    if path is None or path.is_root:
        return None
    found: set[str] = set()
    async for version in _walk(port, store_id, _Ask(where.memory_id)):
        there = version.path
        if there is not None and (there == path or there.is_below(path)):
            found.add(version.memory_id)
    return found


def _fits(version: Version, where: VersionFilter) -> bool:
    return (
        (where.operation is None or version.operation == where.operation)
        and (where.actor is None or version.actor == where.actor)
        and (where.from_ns is None or version.created_at_ns >= where.from_ns)
        and (where.to_ns is None or version.created_at_ns <= where.to_ns)
    )


async def _walk(port: Port, store_id: str, ask: _Ask) -> AsyncGenerator[Version]:
    """Versions, newest first; the filter is as far as the API knows it. Raises ``UnknownId`` for a
    store that is not there."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        try:
            answer = await port.look(partial(_page, store_id, ask, cursor))
        except Declined as error:
            if error.status == MISSING:
                raise UnknownId("store") from error
            raise
        for each in items_of(answer.data):
            version = version_of(each)
            if version is not None:
                yield version
        cursor = answer.next_page
        if not cursor:
            return
        if cursor in seen:
            raise unreadable()
        seen.add(cursor)


def _page(
    store_id: str, ask: _Ask, cursor: str | None, stores: MemoryStores
) -> SyncPageCursor[BetaManagedAgentsMemoryVersion]:
    where = ask.where
    actor = where.actor or ""
    return stores.memory_versions.list(
        store_id,
        api_key_id=actor if actor.startswith(_KEY) else omit,
        created_at_gte=omit if where.from_ns is None else _not_before(where.from_ns),
        created_at_lte=omit if where.to_ns is None else _not_after(where.to_ns),
        limit=min(FULL_AT_ONCE if ask.content else AT_ONCE, ask.limit),
        memory_id=ask.memory_id or omit,
        operation=where.operation or omit,
        page=cursor or omit,
        session_id=actor if actor.startswith(_SESSION) else omit,
        view="full" if ask.content else "basic",
    )


_LAST_MICROSECOND: Final = 253_402_300_799_999_999
"""Of the year 9999, where dates end."""


def _not_before(ns: int) -> str:
    return _text(-(-ns // 1000))


def _not_after(ns: int) -> str:
    return _text(ns // 1000)


def _text(microseconds: int) -> str:
    time = time_of(min(max(microseconds, 0), _LAST_MICROSECOND))
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")
