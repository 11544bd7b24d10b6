"""Restore: a path or the whole store becomes what it was, in one batch of new versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memoranda.errors import IsADirectory, NotFound
from memoranda.operations.listing import memories_at, newest_version
from memoranda.operations.moments import moment_of, present_moment
from memoranda.operations.plan import changes_between, left_by
from memoranda.operations.replan import apply_plan
from memoranda.path import MemoryPath
from memoranda.retry import Pause
from memoranda.stores.base import Change, Context, Moment, Store, Version, VersionFilter


class Restored(NamedTuple):
    """What ``restore`` did.

    ``versions`` are the new versions, none if nothing differed. ``kept`` are the memories that
    stayed as they are because their content of then was redacted.
    """

    versions: tuple[Version, ...]
    kept: tuple[MemoryPath, ...]


async def restore(
    store: Store, path: MemoryPath, to: str | datetime, context: Context, pause: Pause
) -> Restored:
    """Make ``path`` (a memory, a directory, or the root for all) what it was at ``to``.

    A version id of the memory that lives at ``path``, or that was written at ``path``, brings back
    that version's content. Any other version id stands for the state right after its batch, a
    time for the state at that time. What came since is removed, what was removed comes back, under
    its id unless that lives elsewhere now. History only grows.

    Raises ``UnknownId``, ``ContentGone`` (the one version asked for is redacted), ``Misuse`` (a
    time without a zone), what the limits say, and ``Conflict`` if the store doesn't hold still.
    Reads the listings of now and then, and the contents that come back, all into memory.
    """
    await present_moment(store)
    if isinstance(to, str) and not path.is_root:
        version = await store.version(to)
        if version.path == path or await _lives_at(store, path, version.memory_id):
            return await _restore_memory(store, path, version, context, pause)
    return await _restore_moment(store, path, await moment_of(store, to), context, pause)


async def _restore_memory(
    store: Store, path: MemoryPath, version: Version, context: Context, pause: Pause
) -> Restored:
    then = left_by(version, path)

    async def plan() -> Sequence[Change]:
        return await changes_between(store, await memories_at(store, path), then)

    return Restored(await apply_plan(store, plan, context, pause), ())


async def _restore_moment(
    store: Store, path: MemoryPath, at: Moment, context: Context, pause: Pause
) -> Restored:
    kept: list[MemoryPath] = []

    async def plan() -> Sequence[Change]:
        now = await memories_at(store, path)
        then = await memories_at(store, path, at)
        kept.clear()
        # A listing of the past leaves out what was redacted. That is no reason to remove it now.
        for memory_id in now.keys() - then.keys():
            if await _was_redacted(store, memory_id, at):
                then[memory_id] = now[memory_id]
                kept.append(now[memory_id].path)
        return await changes_between(store, now, then)

    versions = await apply_plan(store, plan, context, pause)
    return Restored(versions, tuple(sorted(kept, key=str)))


async def _lives_at(store: Store, path: MemoryPath, memory_id: str) -> bool:
    try:
        return (await store.stat(path)).memory_id == memory_id
    except (NotFound, IsADirectory):
        return False


async def _was_redacted(store: Store, memory_id: str, at: Moment) -> bool:
    """Whether the content that a memory had at a moment was redacted since."""
    version = await newest_version(
        store,
        VersionFilter(memory_id=memory_id),
        lambda version: version.seq <= at.seq and not version.late,
    )
    return version is not None and version.redacted_at_ns is not None
