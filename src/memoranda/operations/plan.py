"""The changes that lead a store from one state to another, as one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from memoranda.errors import ContentGone, UnknownId
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Change,
    Entry,
    Expect,
    IfVersion,
    Move,
    Precondition,
    Put,
    Remove,
    Store,
    Version,
)


class Place(NamedTuple):
    """Where a memory was and what it held, as a version left it."""

    path: MemoryPath
    version_id: str
    sha256: str


State: TypeAlias = Mapping[str, Place | Entry]
"""Memories by id: live ones, or as they were."""


def left_by(version: Version, path: MemoryPath | None = None) -> dict[str, Place]:
    """The memory of ``version`` right after it, at ``path`` if that is given: none if the version
    is a removal. Raises ``ContentGone`` if it was redacted."""
    if version.operation == "deleted":
        return {}
    where = path or version.path
    if where is None or version.sha256 is None:
        raise ContentGone
    return {version.memory_id: Place(where, version.id, version.sha256)}


class Difference(NamedTuple):
    """What has to be done to one memory: ``path`` is where it is, or will be once it is back."""

    change: Literal["remove", "bring back", "move back", "change"]
    path: MemoryPath


def differences(now: State, then: State) -> tuple[Difference, ...]:
    """What ``changes_between`` comes to, one a memory, by path. Reads nothing.

    A memory that is moved back may get its content of then, too.
    """
    found = [Difference("remove", now[gone].path) for gone in now.keys() - then.keys()]
    for memory_id, place in then.items():
        before = now.get(memory_id)
        if before is None:
            found.append(Difference("bring back", place.path))
        elif before.path != place.path:
            found.append(Difference("move back", place.path))
        elif before.sha256 != place.sha256:
            found.append(Difference("change", place.path))
    return tuple(sorted(found, key=lambda one: (str(one.path), one.change)))


async def changes_between(store: Store, now: State, then: State) -> list[Change]:
    """What makes the memories of ``now`` those of ``then``, each step possible after those before.

    Memories keep their ids; only where one of ``then`` lives outside ``now`` it stays there and a
    new one takes its place. Each change expects what ``now`` says, so that a store in which
    somebody was faster refuses the batch. Empty if nothing differs. Reads the contents that have
    to come back, one version each, and raises ``ContentGone`` where one was redacted.
    """
    taken = _Taken(place.path for place in now.values())
    changes: list[Change] = []
    for memory_id, place in now.items():
        if memory_id not in then:
            changes.append(Remove(place.path, IfVersion(place.version_id)))
            taken.leave(place.path)
    moved = {
        memory_id: (place, then[memory_id])
        for memory_id, place in now.items()
        if memory_id in then and then[memory_id].path != place.path
    }
    # Names that were passed on are passed back from the free one on. To and fro: most such chains
    # run in the order of names or against it, and are done in three rounds.
    waiting, length = list(moved), 0
    while len(waiting) != length:
        length = len(waiting)
        for memory_id in waiting:
            old, new = moved[memory_id]
            if taken.can_move(old.path, new.path):
                changes.append(Move(old.path, new.path, IfVersion(old.version_id)))
                del moved[memory_id]
        waiting = list(reversed(moved))
    # What is left waits for one another's names. It leaves, and comes back under its id.
    for old, _ in moved.values():
        changes.append(Remove(old.path, IfVersion(old.version_id)))
    for memory_id, place in then.items():
        before = now.get(memory_id)
        expect: Precondition
        if before is None:
            keep_id = None if await _lives(store, memory_id) else memory_id
            expect = Expect.ABSENT
        elif memory_id in moved:
            keep_id, expect = memory_id, Expect.ABSENT
        elif before.sha256 != place.sha256:
            keep_id = None
            expect = IfVersion(before.version_id) if before.path == place.path else Expect.ANY
        else:
            continue
        changes.append(Put(place.path, await _content(store, place.version_id), expect, keep_id))
    return changes


async def _lives(store: Store, memory_id: str) -> bool:
    try:
        await store.locate(memory_id)
    except UnknownId:
        return False
    return True


async def _content(store: Store, version_id: str) -> bytes:
    content = (await store.version(version_id)).content
    if content is None:
        raise ContentGone
    return content


class _Taken:
    """Which paths are taken, by memories and as directories, while changes are lined up."""

    def __init__(self, paths: Iterable[MemoryPath]) -> None:
        self._files: set[tuple[str, ...]] = set()
        self._directories: Counter[tuple[str, ...]] = Counter()
        for path in paths:
            self._enter(path)

    def leave(self, path: MemoryPath) -> None:
        """The memory at ``path`` is gone."""
        self._files.discard(path.segments)
        self._directories.subtract(_above(path))

    def can_move(self, source: MemoryPath, target: MemoryPath) -> bool:
        """Whether a store would move ``source`` to ``target`` now; then it is there."""
        if self._directories[target.segments] or target.segments in self._files:
            return False
        if any(above in self._files and above != source.segments for above in _above(target)):
            return False
        self.leave(source)
        self._enter(target)
        return True

    def _enter(self, path: MemoryPath) -> None:
        self._files.add(path.segments)
        self._directories.update(_above(path))


def _above(path: MemoryPath) -> list[tuple[str, ...]]:
    return [path.segments[:depth] for depth in range(1, len(path.segments))]
