"""Whole listings of memories and versions, page by page, of the present and of the past."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from memoranda.errors import IsADirectory, NotFound
from memoranda.path import MemoryPath
from memoranda.stores.base import Directory, Entry, Moment, Store, Version, VersionFilter

_PAGE: Final = 1000

# Who looks for one version of a memory mostly wants one of its newest.
_FEW: Final = 20


async def list_all(
    store: Store, prefix: MemoryPath, *, depth: Literal[0, 1] = 0, at: Moment | None = None
) -> list[Entry | Directory]:
    """Everything beneath ``prefix``, as ``Store.list`` pages it. One read a thousand entries."""
    found: list[Entry | Directory] = []
    after: str | None = None
    while True:
        page = await store.list(prefix, depth=depth, after=after, limit=_PAGE, at=at)
        found += page.entries
        after = page.after
        if after is None:
            return found


async def memories_at(store: Store, path: MemoryPath, at: Moment | None = None) -> dict[str, Entry]:
    """The memory at ``path``, or all beneath it, by memory id; none if nothing is there."""
    entries = [entry for entry in await list_all(store, path, at=at) if isinstance(entry, Entry)]
    if not entries and not path.is_root:
        entry = await _memory_at(store, path, at)
        entries = [] if entry is None else [entry]
    return {entry.memory_id: entry for entry in entries}


async def _memory_at(store: Store, path: MemoryPath, at: Moment | None) -> Entry | None:
    if at is None:
        try:
            return await store.stat(path)
        except (NotFound, IsADirectory):
            return None
    for entry in await list_all(store, path.parent, depth=1, at=at):
        if isinstance(entry, Entry) and entry.path == path:
            return entry
    return None


async def newest_versions(
    store: Store, where: VersionFilter, limit: int | None = None
) -> list[Version]:
    """The newest ``limit`` versions that fit, newest first, without contents; None for all.

    One read a thousand versions.
    """
    found: list[Version] = []
    after: str | None = None
    while limit is None or len(found) < limit:
        size = _PAGE if limit is None else min(_PAGE, limit - len(found))
        page = await store.versions(where, after=after, limit=size)
        found += page.versions
        after = page.after
        if after is None:
            break
    return found


async def newest_version(
    store: Store, where: VersionFilter, wanted: Callable[[Version], bool]
) -> Version | None:
    """The newest version that fits and is ``wanted``, without its content; None if there is none.

    Reads no further than it has to.
    """
    after: str | None = None
    while True:
        page = await store.versions(where, after=after, limit=_FEW)
        for version in page.versions:
            if wanted(version):
                return version
        after = page.after
        if after is None:
            return None
