"""One batch of the store of dicts: on a copy, all of it or nothing."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from memoranda import errors
from memoranda.path import MAX_PATH_BYTES, MAX_SEGMENTS, MemoryPath
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    Expect,
    IfContent,
    IfVersion,
    Move,
    Operation,
    Precondition,
    Put,
    Remove,
    Version,
)
from tests.testing.dict_store.state import Live, State, Tree, printed

if TYPE_CHECKING:
    from tests.testing.dict_store.store import DictStore


class Batch:
    """One batch at work on a copy of the state."""

    def __init__(self, store: DictStore, state: State, context: Context) -> None:
        self.store = store
        self.state = state
        self.context = context
        self.made: list[Version] = []
        self.archived = store.backend.is_archived(store)
        self.number = len(state.versions) + 1
        self.at = store.now()

    def do(self, change: Change) -> None:
        match change:
            case Put():
                self.forbid_when_archived(change.path)
                self.put(change)
            case Edit():
                self.forbid_when_archived(change.path)
                self.edit(change)
            case Remove():
                self.remove(change)
            case Move():
                self.forbid_when_archived(change.source)
                self.move(change)

    def forbid_when_archived(self, path: MemoryPath) -> None:
        if self.archived:
            raise errors.ReadOnly(path)

    # ---- rules

    def no_file_above(self, path: MemoryPath) -> None:
        for length in range(1, len(path.segments)):
            parent = MemoryPath.of(path.segments[:length])
            if parent in self.state.live:
                raise errors.NotADirectory(parent)

    def check(self, path: MemoryPath, expect: Precondition) -> None:
        live = self.state.live.get(path)
        match expect:
            case IfVersion(version_id):
                if live is None:
                    raise errors.NotFound(path)
                if live.version_id != version_id:
                    raise errors.Conflict
            case IfContent(sha256):
                if live is None:
                    raise errors.NotFound(path)
                if live.sha256 != sha256:
                    raise errors.Conflict
            case Expect.ABSENT:
                if live is not None:
                    raise errors.AlreadyExists(path)
            case Expect.ANY:
                pass

    # ---- changes

    def put(self, change: Put) -> None:
        if change.path.is_root:
            raise errors.RootRefused
        self.no_file_above(change.path)
        if self.store.is_directory(self.state.live, change.path):
            raise errors.IsADirectory(change.path)
        self.check(change.path, change.expect)
        old = self.state.live.get(change.path)
        if old is None:
            memory_id = change.keep_id or self.store.disk.new_id("mem")
            self.write("created", change.path, memory_id, change.content)
        elif self.is_news(old.content, change.content):
            self.write("modified", change.path, old.memory_id, change.content)

    def is_news(self, old: bytes, new: bytes) -> bool:
        return old != new

    def edit(self, change: Edit) -> None:
        old = self.store.live_at(self.state, change.path)
        self.check(change.path, change.expect)
        new = change.edit(old.content).apply(old.content)
        if self.is_news(old.content, new):
            self.write("modified", change.path, old.memory_id, new)

    def remove(self, change: Remove) -> None:
        if change.path.is_root:
            raise errors.RootRefused
        if self.store.is_directory(self.state.live, change.path):
            if not isinstance(change.expect, Expect):
                raise errors.IsADirectory(change.path)
            doomed = sorted(
                (one for one in self.state.live if self.is_beneath(one, change.path)), key=printed
            )
        else:
            if change.path not in self.state.live:
                raise errors.NotFound(change.path)
            self.check(change.path, change.expect)
            doomed = [change.path]
        for path in doomed:
            self.note("deleted", path, self.state.live.pop(path).memory_id, None)

    def is_beneath(self, path: MemoryPath, directory: MemoryPath) -> bool:
        return path.is_below(directory)

    def move(self, change: Move) -> None:
        source, target = change.source, change.target
        if source.is_root:
            raise errors.RootRefused
        is_directory = self.store.is_directory(self.state.live, source)
        if not is_directory and source not in self.state.live:
            raise errors.NotFound(source)
        self.check_target(change, is_directory=is_directory)
        moved = {
            path: MemoryPath.of(target.segments + path.segments[len(source.segments) :])
            for path in sorted(self.state.live, key=printed)
            if path == source or self.is_beneath(path, source)
        }
        for new in moved.values():
            too_long = len(new.store_path.encode()) > MAX_PATH_BYTES
            if too_long or len(new.segments) > MAX_SEGMENTS:
                raise errors.MovedNameTooLong(source, str(new))
        olds = {path: self.state.live.pop(path) for path in moved}
        for path, new in moved.items():
            self.write("modified", new, olds[path].memory_id, olds[path].content, olds[path])

    def check_target(self, change: Move, *, is_directory: bool) -> None:
        source, target = change.source, change.target
        if target.is_root or target in self.state.live:
            raise errors.AlreadyExists(target)
        if self.store.is_directory(self.state.live, target):
            raise errors.AlreadyExists(target)
        if is_directory and target.is_below(source):
            raise errors.MoveIntoItself(source)
        if not target.is_below(source):
            self.no_file_above(target)
        if not is_directory:
            self.check(source, change.expect)

    # ---- writing down

    def write(
        self,
        operation: Operation,
        path: MemoryPath,
        memory_id: str,
        content: bytes,
        old: Live | None = None,
    ) -> None:
        old = old or self.state.live.get(path)
        at = self.at
        live = Live(memory_id, "", content, old.created_at_ns if old else at, at)
        self.state.live[path] = live
        version = self.note(operation, path, memory_id, content)
        self.state.live[path] = replace(live, version_id=version.id)
        self.snapshot()

    def note(
        self,
        operation: Operation,
        path: MemoryPath,
        memory_id: str,
        content: bytes | None,
    ) -> Version:
        version = Version(
            self.store.disk.new_id("memver"),
            memory_id,
            operation,
            path,
            self.context.actor,
            self.context.command,
            self.at,
            len(self.state.versions) + 1,
            None if content is None else len(content),
            None if content is None else hashlib.sha256(content).hexdigest(),
            self.context.trace_id,
            content=content,
            batch=self.number,
        )
        self.state.versions.append(version)
        self.made.append(version._replace(content=None))
        self.snapshot()
        return version

    def snapshot(self) -> None:
        self.state.snapshots[len(self.state.versions)] = dict(self.state.live)

    # ---- ceilings

    def check_ceiling(self, before: State) -> None:
        total_bytes, files, file_bytes, beside = self.context.ceiling
        old, new = before.live, self.state.live
        sizes = {live.memory_id: len(live.content) for live in old.values()}
        if file_bytes is not None:
            for path, live in new.items():
                size = len(live.content) - beside
                if self.is_over(size, file_bytes) and size > sizes.get(live.memory_id, 0) - beside:
                    raise errors.FileTooLarge(path, size, file_bytes)
        held = self.bytes_of(old) - beside * len(old)
        holds = self.bytes_of(new) - beside * len(new)
        if total_bytes is not None and holds > held and self.is_over(holds, total_bytes):
            raise errors.MemoryFull(held, total_bytes)
        if files is not None and len(new) > len(old) and self.is_over(len(new), files):
            raise errors.TooManyFiles(len(old))

    def is_over(self, amount: int, limit: int) -> bool:
        return amount > limit

    def bytes_of(self, tree: Tree) -> int:
        return sum(len(live.content) for live in tree.values())
