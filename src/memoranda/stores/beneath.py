"""All memories beneath a directory, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.stores.base import Entry

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Moment, Store


async def memories_beneath(
    store: Store, prefix: MemoryPath, at: Moment | None = None
) -> list[Entry]:
    """Every memory beneath ``prefix``, in listing order. One read a thousand memories."""
    found: list[Entry] = []
    after: str | None = None
    while True:
        page = await store.list(prefix, after=after, at=at)
        found += [entry for entry in page.entries if isinstance(entry, Entry)]
        if page.after is None:
            return found
        after = page.after
