"""What changed in a store since somebody last looked, whoever changed it: of the newest versions."""

from __future__ import annotations

import time
from typing import Final

from memoranda.light_named_tuples import NamedTuple
from memoranda.path import ROOT_TEXT
from memoranda.stores.base import Store, Version, VersionFilter

_MOST: Final = 200
"""Versions that are looked at one by one; after more of them all counts as changed."""

_AHEAD_NS: Final = 86_400 * 10**9  # the clock of another machine may be ahead


class Changed(NamedTuple):
    """What changed: ``paths``, of a move both; the root where it was too much to tell. ``listed``:
    also which memories there are. ``seq`` is where the next look goes on."""

    seq: int
    paths: frozenset[str] = frozenset()
    listed: bool = False


async def changed_since(store: Store, seq: int | None, *, adopt: bool) -> Changed:
    """What changed after ``seq``; None: nothing, it is where to begin.

    ``adopt``: also what people saved into files that no command has met yet, which looks at all of
    them. Where nothing changed it costs one small read besides.
    """
    if adopt:
        await store.moment(time.time_ns() + _AHEAD_NS)
    newest = (await store.versions(limit=1)).versions
    now = newest[0].seq if newest else 0
    if seq is None or now <= seq:
        return Changed(now if seq is None else seq)
    page = await store.versions(limit=_MOST)
    news = [version for version in page.versions if version.seq > seq]
    if len(news) >= _MOST or any(version.path is None for version in news):
        return Changed(now, frozenset({ROOT_TEXT}), listed=True)
    paths: set[str] = set()
    listed = False
    for version in news:
        assert version.path is not None, "redacted ones are told of above"
        paths.add(version.path.text)
        before = version.path.text
        if version.operation == "modified":
            before = await _path_before(store, version)
        paths.add(before)
        listed |= version.operation != "modified" or before != version.path.text
    return Changed(max(version.seq for version in news), frozenset(paths), listed)


async def _path_before(store: Store, version: Version) -> str:
    """Where a memory was before this version of it; as far as it is still known."""
    assert version.path is not None
    page = await store.versions(VersionFilter(memory_id=version.memory_id), limit=_MOST)
    older = [one for one in page.versions if one.seq < version.seq and one.path is not None]
    return older[0].path.text if older and older[0].path is not None else version.path.text
