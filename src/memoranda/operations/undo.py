"""Undo: the last batch taken back, by a batch that does the reverse."""

from __future__ import annotations

from memoranda.errors import Conflict, UnknownId
from memoranda.operations.listing import newest_version
from memoranda.operations.moments import batch_of, present_moment
from memoranda.operations.plan import Place, changes_between, left_by
from memoranda.operations.replan import OVERTAKEN
from memoranda.path import MemoryPath
from memoranda.stores.base import Context, Entry, Store, Version, VersionFilter


async def undo(store: Store, path: MemoryPath, context: Context) -> tuple[Version, ...]:
    """Take back the last batch that wrote, moved to or removed something at ``path`` or beneath it
    (the root: the last batch of all), whole: also what it did elsewhere. Returns the new versions.

    What a person did to the files counts as the last batch if nothing came after it.
    Every memory of that batch becomes what it was right before, under its id. An undo is a batch
    too, so undoing twice brings back what was undone; ``restore`` goes further back. Nothing to
    undo gives no versions.

    Raises ``Conflict`` if anything the batch left was changed since, or its old place is taken
    (nothing is done then; ``restore`` takes a path back regardless), and ``ContentGone`` if what
    was there before is redacted. Costs two reads a memory of the batch.
    """
    await present_moment(store)
    newest = await newest_version(
        store, VersionFilter(path=path), lambda version: _is_at(version, path) and not version.late
    )
    if newest is None:
        return ()
    now: dict[str, Entry] = {}
    then: dict[str, Place] = {}
    for version in _last_of_each(await batch_of(store, newest)):
        entry = await _still_as_left_by(store, version)
        if entry is not None:
            now[version.memory_id] = entry
        before = await newest_version(
            store,
            VersionFilter(memory_id=version.memory_id),
            lambda older: older.seq < newest.batch and not older.late,
        )
        if before is not None:
            then |= left_by(before)
    try:
        return await store.apply(await changes_between(store, now, then), context)
    except OVERTAKEN as error:
        raise Conflict("A later change is in the way of undoing this one.") from error


def _is_at(version: Version, path: MemoryPath) -> bool:
    where = version.path
    return where is not None and (where == path or where.is_below(path))


def _last_of_each(batch: list[Version]) -> list[Version]:
    """The last version of each memory in a batch that is given newest first, oldest first."""
    last: dict[str, Version] = {}
    for version in batch:
        last.setdefault(version.memory_id, version)
    return list(reversed(last.values()))


async def _still_as_left_by(store: Store, version: Version) -> Entry | None:
    """The memory that ``version`` made the head of, None where it removed it.

    Raises ``Conflict`` if that is not how things are now.
    """
    try:
        entry = await store.locate(version.memory_id)
    except UnknownId:
        entry = None
    head = None if entry is None else entry.version_id
    if head != (None if version.operation == "deleted" else version.id):
        raise Conflict("The last batch can't be undone: a later change is in the way.")
    return entry
