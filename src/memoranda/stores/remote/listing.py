"""What lives in a store now: walks through the API's listings.

The API finds a memory by its id, and ids by walking; in which order it lists is its own affair.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from anthropic import omit

from memoranda.errors import IsADirectory, NotFound, UnknownId
from memoranda.stores.base import Directory, Entry, Page
from memoranda.stores.remote.faults import Declined, items_of, unreadable
from memoranda.stores.remote.shapes import entry_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anthropic import Omit
    from anthropic.pagination import SyncPageCursor
    from anthropic.resources.beta.memory_stores import MemoryStores
    from anthropic.types.beta.memory_stores import (
        BetaManagedAgentsMemoryListItem,
        BetaManagedAgentsMemoryView,
    )

    from memoranda.path import MemoryPath
    from memoranda.stores.remote.port import Port

AT_ONCE: Final = 100
FULL_AT_ONCE: Final = 20
MISSING: Final = 404


async def beneath(port: Port, store_id: str, prefix: MemoryPath) -> list[Entry]:
    """All memories beneath a directory, in listing order: one request for each 100.

    Raises ``UnknownId`` for a store that is not there.
    """
    items = await _items(port, store_id, prefix, depth=0)
    found = [
        entry for each in items if each.type == "memory" and (entry := entry_of(each)) is not None
    ]
    return sorted(found, key=lambda entry: entry.path.text)


async def find(port: Port, store_id: str, path: MemoryPath) -> Entry:
    """The memory at a path, looked for among what lies beside it.

    Raises ``NotFound``, ``IsADirectory``, ``UnknownId`` as ``beneath`` does.
    """
    if path.is_root:
        raise IsADirectory(path)
    for each in await _items(port, store_id, path.parent, depth=1):
        if each.type == "memory":
            if each.path == path.store_path:
                entry = entry_of(each)
                if entry is not None:
                    return entry
        elif each.path == f"{path.store_path}/":
            raise IsADirectory(path)
    raise NotFound(path)


async def contents(port: Port, store_id: str) -> list[tuple[Entry, bytes]]:
    """All memories with their contents: one request for each 20."""
    items = await _items(port, store_id, None, depth=0, view="full")
    return [
        (entry, (each.content or "").encode())
        for each in items
        if each.type == "memory" and (entry := entry_of(each)) is not None
    ]


async def _items(
    port: Port,
    store_id: str,
    prefix: MemoryPath | None,
    *,
    depth: int,
    view: BetaManagedAgentsMemoryView = "basic",
) -> list[BetaManagedAgentsMemoryListItem]:
    below = omit if prefix is None or prefix.is_root else f"{prefix.store_path}/"
    found: list[BetaManagedAgentsMemoryListItem] = []
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        ask = partial(
            _page,
            store_id,
            depth=depth,
            limit=FULL_AT_ONCE if view == "full" else AT_ONCE,
            page=cursor or omit,
            path_prefix=below,
            view=view,
        )
        try:
            answer = await port.look(ask)
        except Declined as error:
            if error.status == MISSING:
                raise UnknownId("store") from error
            raise
        # A memory that moves during the walk may come twice, and where it is now is said last.
        found += items_of(answer.data)
        cursor = answer.next_page
        if not cursor:
            return list({_name_of(each): each for each in found}.values())
        if cursor in seen:
            raise unreadable()  # a walk that never ends
        seen.add(cursor)


def _page(
    store_id: str,
    stores: MemoryStores,
    *,
    depth: int,
    limit: int,
    page: str | Omit,
    path_prefix: str | Omit,
    view: BetaManagedAgentsMemoryView,
) -> SyncPageCursor[BetaManagedAgentsMemoryListItem]:
    return stores.memories.list(
        store_id, depth=depth, limit=limit, page=page, path_prefix=path_prefix, view=view
    )


def _name_of(item: BetaManagedAgentsMemoryListItem) -> str:
    return item.id if item.type == "memory" else item.path


def paged(
    entries: Iterable[Entry], prefix: MemoryPath, depth: int, after: str | None, limit: int
) -> Page:
    """A page of what ``Store.list`` promises, of all that lies beneath, in order."""
    lines = entries if depth == 0 else _rolled_up(entries, prefix)
    rest = [line for line in lines if after is None or _printed(line) > after]
    shown = tuple(rest[:limit])
    return Page(shown, _printed(shown[-1]) if len(rest) > limit and shown else None)


def _rolled_up(entries: Iterable[Entry], prefix: MemoryPath) -> list[Entry | Directory]:
    level = len(prefix.segments)
    files: list[Entry | Directory] = []
    sizes: dict[str, int] = {}
    for entry in entries:
        if len(entry.path.segments) == level + 1:
            files.append(entry)
        else:
            name = entry.path.segments[level]
            sizes[name] = sizes.get(name, 0) + entry.size_bytes
    directories = (Directory(prefix.child(name), size) for name, size in sizes.items())
    return sorted([*files, *directories], key=_printed)


def _printed(line: Entry | Directory) -> str:
    return line.path.store_path + ("/" if isinstance(line, Directory) else "")
