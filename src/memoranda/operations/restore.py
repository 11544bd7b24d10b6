"""Restore: a path or the whole store becomes what it was, in one batch of new versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

from memoranda.errors import IsADirectory, NotFound
from memoranda.operations.listing import memories_at, newest_version
from memoranda.operations.moments import moment_of, present_moment
from memoranda.operations.plan import Difference, State, changes_between, differences, left_by
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


class RestorePreview(NamedTuple):
    """What ``restore`` would do: ``changes`` by path, and what it would keep as it is."""

    changes: tuple[Difference, ...]
    kept: tuple[MemoryPath, ...]


class _States(NamedTuple):
    """What is there, what shall be there, and what stays though it was different then."""

    now: State
    then: State
    kept: tuple[MemoryPath, ...]


_Look: TypeAlias = Callable[[], Awaitable[_States]]


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
    look = await _what_to_restore(store, path, to)
    kept: tuple[MemoryPath, ...] = ()

    async def plan() -> Sequence[Change]:
        nonlocal kept
        now, then, kept = await look()
        return await changes_between(store, now, then)

    return Restored(await apply_plan(store, plan, context, pause), kept)


async def preview_restore(store: Store, path: MemoryPath, to: str | datetime) -> RestorePreview:
    """What ``restore`` would do now; changes nothing. Raises what it raises before it changes
    anything. Reads the listings of now and then, and no contents."""
    now, then, kept = await (await _what_to_restore(store, path, to))()
    return RestorePreview(differences(now, then), kept)


async def _what_to_restore(store: Store, path: MemoryPath, to: str | datetime) -> _Look:
    """How to look at the store for a restore: at one memory, or at all beneath a path."""
    await present_moment(store)
    if isinstance(to, str) and not path.is_root:
        version = await store.version(to)
        if version.path == path or await _lives_at(store, path, version.memory_id):
            left = left_by(version, path)

            async def look_at_memory() -> _States:
                return _States(await memories_at(store, path), left, ())

            return look_at_memory
    at = await moment_of(store, to)

    async def look_at_all() -> _States:
        return await _states_at(store, path, at)

    return look_at_all


async def _states_at(store: Store, path: MemoryPath, at: Moment) -> _States:
    now = await memories_at(store, path)
    then = await memories_at(store, path, at)
    kept: list[MemoryPath] = []
    # A listing of the past leaves out what was redacted. That is no reason to remove it now.
    for memory_id in now.keys() - then.keys():
        if await _was_redacted(store, memory_id, at):
            then[memory_id] = now[memory_id]
            kept.append(now[memory_id].path)
    return _States(now, then, tuple(sorted(kept, key=str)))


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
