"""Erasing a path: what lies there, what ever lay there, and that it was looked at."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memoranda.errors import Conflict, Held, NotFound, NotRedactable, Unsupported
from memoranda.operations.listing import newest_versions
from memoranda.stores.base import Remove, VersionFilter

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context, Store, Version

_TRIES: Final = 3


async def erase_path(store: Store, path: MemoryPath, context: Context) -> int:
    """Remove what lies at ``path`` and beneath it, and blank every version that was ever there and
    every entry of the audit that names it; how many versions.

    What remains are entries without path, size and hash that something was done, and a chain that
    holds. Asks holds at, above and beneath the path first.

    Raises ``NotFound`` for a path that never was, ``Held``, ``Unsupported`` before anything is
    done, ``Conflict`` if others write there again and again. One redaction a version.
    """
    if not store.capabilities.redacts:
        raise Unsupported("redaction")
    with suppress(Unsupported):
        for hold in await store.holds():
            if hold.covers(path) or hold.path.is_below(path):
                raise Held
    for _ in range(_TRIES):
        if not await _versions(store, path):
            raise NotFound(path)
        # Before anything is removed: a backend that can't says so here.
        await store.forget(path, context)
        with suppress(NotFound):
            await store.apply((Remove(path),), context)
        versions = await _versions(store, path)
        try:
            for version in versions:
                await store.redact(version.id, context)
        except NotRedactable:
            continue  # somebody wrote there meanwhile
        await store.forget(path, context)
        return len(versions)
    raise Conflict("Others wrote there each time.")


async def _versions(store: Store, path: MemoryPath) -> list[Version]:
    """The versions whose memory was at the path, or beneath it, at that time."""
    return [
        version
        for version in await newest_versions(store, VersionFilter(path=path))
        if version.path is not None and (version.path == path or version.path.is_below(path))
    ]
