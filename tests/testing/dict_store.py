"""An honest store of plain dicts that proves the suite: small, slow, and nobody's relative.

One lock, whole copies of the state for every version. It shares no code with the real stores, and
it is cut into small methods so that ``broken_stores`` can spoil one at a time.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from memoranda import errors
from memoranda.path import MAX_PATH_BYTES, MAX_SEGMENTS, MemoryPath
from memoranda.stores.base import (
    LISTING_CHUNK,
    Backend,
    Capabilities,
    Change,
    Content,
    Context,
    Directory,
    Edit,
    Entry,
    Expect,
    Hit,
    IfContent,
    IfVersion,
    Listed,
    Moment,
    Move,
    Operation,
    Outline,
    Page,
    Precondition,
    Put,
    Remove,
    Report,
    Store,
    StoreInfo,
    StorePage,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)
from memoranda.tenant import check_tenant

Tree = dict[MemoryPath, "Live"]


@dataclass(frozen=True)
class Live:
    memory_id: str
    version_id: str
    content: bytes
    created_at_ns: int
    updated_at_ns: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass
class State:
    """All of one store: replaced as a whole by each batch."""

    live: Tree = field(default_factory=dict[MemoryPath, Live])
    versions: list[Version] = field(default_factory=list[Version])
    snapshots: dict[int, Tree] = field(default_factory=dict[int, Tree])

    def copy(self) -> State:
        return State(dict(self.live), list(self.versions), dict(self.snapshots))


@dataclass
class Shelf:
    """One store on the disk."""

    info: StoreInfo
    state: State = field(default_factory=State)


@dataclass
class Disk:
    """What outlives a backend: the shelves of every home."""

    shelves: dict[str, Shelf] = field(default_factory=dict[str, Shelf])
    lock: threading.RLock = field(default_factory=threading.RLock)
    counter: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    last_ns: int = 0

    def new_id(self, kind: str) -> str:
        return f"{kind}_{self.counter():06}"

    def now(self) -> int:
        self.last_ns = max(self.last_ns + 1, time.time_ns())
        return self.last_ns


def printed(path: MemoryPath, *, directory: bool = False) -> str:
    return path.store_path + ("/" if directory else "")


class DictStore(Store):
    """One store of a ``DictBackend``."""

    capabilities = Capabilities()
    batch_class: ClassVar[type[Batch]]

    def __init__(self, backend: DictBackend, open_shelf: Callable[[], Shelf | None]) -> None:
        self.backend = backend
        self.disk = backend.disk
        self.find_shelf = open_shelf
        self.closed = False

    # ---- the ground

    @property
    def id(self) -> str:
        shelf = self.find_shelf()
        return shelf.info.id if shelf else ""

    def state(self) -> State:
        """The present state; the pieces of it are never changed in place."""
        if self.closed or self.backend.closed:
            raise errors.Misuse("The store is closed.")
        shelf = self.find_shelf()
        return shelf.state if shelf else State()

    def now(self) -> int:
        return self.disk.now()

    def commit(self, state: State) -> None:
        self.backend.make_shelf(self).state = state

    # ---- reading

    def live_at(self, state: State, path: MemoryPath) -> Live:
        if path in state.live:
            return state.live[path]
        if path.is_root or self.is_directory(state.live, path):
            raise errors.IsADirectory(path)
        raise errors.NotFound(path)

    def is_directory(self, tree: Tree, path: MemoryPath) -> bool:
        return any(one.is_below(path) for one in tree)

    def entry(self, path: MemoryPath, live: Live) -> Entry:
        return Entry(
            path,
            live.memory_id,
            live.version_id,
            len(live.content),
            live.sha256,
            live.created_at_ns,
            live.updated_at_ns,
        )

    def stamp(self, live: Live) -> object:
        return live.version_id

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        live = self.live_at(self.state(), path)
        end = None if length is None else start + length
        return Content(live.content[start:end], len(live.content), self.stamp(live))

    async def stat(self, path: MemoryPath) -> Entry:
        return self.entry(path, self.live_at(self.state(), path))

    async def locate(self, memory_id: str) -> Entry:
        for path, live in self.state().live.items():
            if live.memory_id == memory_id:
                return self.entry(path, live)
        raise errors.UnknownId("memory")

    def is_shown(self, name: str) -> bool:
        return not name.startswith(".") and name != "node_modules"

    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        live = self.state().live
        if not directory.is_root and not self.is_directory(live, directory):
            raise errors.NotFound(directory)
        base = len(directory.segments)
        lines: dict[tuple[str, ...], tuple[bool, int]] = {}
        size = 0
        for path, one in live.items():
            below = path.segments[base:]
            if not path.is_below(directory):
                continue
            seen = all(self.is_shown(name) for name in below)
            if seen:
                size += len(one.content)
            for depth in range(1, min(len(below), self.outline_levels) + 1):
                if not all(self.is_shown(name) for name in below[:depth]):
                    break
                is_directory = depth < len(below)
                _, so_far = lines.get(below[:depth], (False, 0))
                lines[below[:depth]] = (is_directory, so_far + (len(one.content) if seen else 0))
        listed = [
            Listed(MemoryPath.of(directory.segments + below), total, is_directory)
            for below, (is_directory, total) in lines.items()
        ]
        listed.sort(key=self.outline_order)
        shown: list[Listed] = []
        chars = 0
        for item in listed:
            if chars >= path_chars:
                break
            chars += len(str(item.path)) + item.is_directory
            shown.append(item)
        return Outline(size, tuple(shown), len(listed))

    outline_levels = 2

    def outline_order(self, item: Listed) -> str:
        return printed(item.path, directory=item.is_directory)

    def list_order(self, item: Entry | Directory) -> str:
        return printed(item.path, directory=isinstance(item, Directory))

    def tree_at(self, state: State, at: Moment | None) -> Tree:
        if at is None:
            return state.live
        past = [seq for seq in state.snapshots if seq <= at.seq]
        return state.snapshots[max(past)] if past else {}

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        tree = self.tree_at(self.state(), at)
        items: dict[str, Entry | Directory] = {}
        for path, live in tree.items():
            if not path.is_below(prefix):
                continue
            if depth == 1 and len(path.segments) > len(prefix.segments) + 1:
                directory = MemoryPath.of(path.segments[: len(prefix.segments) + 1])
                key = printed(directory, directory=True)
                before = items.get(key)
                total = len(live.content) + (before.size_bytes if before else 0)
                items[key] = Directory(directory, total)
            else:
                items[printed(path)] = self.entry(path, live)
        ordered = sorted(items.values(), key=self.list_order)
        rest = [one for one in ordered if after is None or self.list_order(one) > after]
        page = tuple(rest[:limit])
        return Page(page, self.list_order(page[-1]) if len(rest) > limit else None)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        words = [
            (quoted or plain).casefold() for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', query)
        ]
        hits: list[Hit] = []
        for path, live in sorted(self.state().live.items(), key=lambda item: printed(item[0])):
            text = live.content.decode(errors="replace")
            if not path.is_below(prefix) or not all(word in text.casefold() for word in words):
                continue
            lines = tuple(
                (number, line[:200])
                for number, line in enumerate(text.split("\n"), 1)
                if any(word in line.casefold() for word in words)
            )
            hits.append(Hit(path, lines))
        return tuple(hits[:limit])

    async def usage(self) -> Usage:
        state = self.state()
        size = sum(len(live.content) for live in state.live.values())
        return Usage(len(state.live), size, len(state.versions), 0)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        with self.disk.lock:
            batch = self.batch_class(self, self.state().copy(), context)
            for change in changes:
                batch.do(change)
            batch.check_ceiling(self.state())
            if batch.made:
                self.commit(batch.state)
            return tuple(batch.made)

    async def record(self, context: Context) -> None:
        self.state()

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        self.state()

    # ---- history

    def matches(self, state: State, version: Version, where: VersionFilter) -> bool:
        return (
            where.memory_id in {None, version.memory_id}
            and where.operation in {None, version.operation}
            and where.actor in {None, version.actor}
            and (where.from_ns is None or version.created_at_ns >= where.from_ns)
            and (where.to_ns is None or version.created_at_ns <= where.to_ns)
            and (where.path is None or version.memory_id in self.ever_at(state, where.path))
        )

    def ever_at(self, state: State, path: MemoryPath) -> set[str]:
        return {
            version.memory_id
            for version in state.versions
            if version.path is not None and (version.path == path or version.path.is_below(path))
        }

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        state = self.state()
        found = [
            version
            for version in reversed(state.versions)
            if self.matches(state, version, where) and (after is None or version.seq < int(after))
        ]
        page = found[:limit]
        return VersionPage(
            tuple(one if content else one._replace(content=None) for one in page),
            str(page[-1].seq) if len(found) > limit else None,
        )

    async def version(self, version_id: str) -> Version:
        for version in self.state().versions:
            if version.id == version_id:
                return version
        raise errors.UnknownId("version")

    async def moment(self, at_ns: int) -> Moment:
        seqs = [one.seq for one in self.state().versions if one.created_at_ns <= at_ns]
        return Moment(max(seqs, default=0))

    async def redact(self, version_id: str, context: Context) -> Version:
        with self.disk.lock:
            state = self.state().copy()
            places = {one.id: place for place, one in enumerate(state.versions)}
            if version_id not in places:
                raise errors.UnknownId("version")
            version = state.versions[places[version_id]]
            if any(live.version_id == version_id for live in state.live.values()):
                raise errors.NotRedactable
            if version.redacted_at_ns is not None:
                return version
            redacted = self.blank(version)._replace(
                redacted_at_ns=self.now(), redacted_by=context.actor
            )
            state.versions[places[version_id]] = redacted
            for seq, tree in state.snapshots.items():
                state.snapshots[seq] = {
                    path: live for path, live in tree.items() if live.version_id != version_id
                }
            self.commit(state)
            return redacted

    def blank(self, version: Version) -> Version:
        return version._replace(path=None, size_bytes=None, sha256=None, content=None)

    # ---- upkeep

    async def verify(self) -> Report:
        state = self.state()
        return Report((), (), len(state.live), len(state.versions))

    async def close(self) -> None:
        self.closed = True


class Batch:
    """One batch at work on a copy of the state."""

    def __init__(self, store: DictStore, state: State, context: Context) -> None:
        self.store = store
        self.state = state
        self.context = context
        self.made: list[Version] = []
        self.touched: dict[MemoryPath, int] = {}
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
        total_bytes, files, file_bytes = self.context.ceiling
        old, new = before.live, self.state.live
        sizes = {live.memory_id: len(live.content) for live in old.values()}
        if file_bytes is not None:
            for path, live in new.items():
                size = len(live.content)
                if self.is_over(size, file_bytes) and size > sizes.get(live.memory_id, 0):
                    raise errors.FileTooLarge(path, size, file_bytes)
        held, holds = self.bytes_of(old), self.bytes_of(new)
        if total_bytes is not None and holds > held and self.is_over(holds, total_bytes):
            raise errors.MemoryFull(held, total_bytes)
        if files is not None and len(new) > len(old) and self.is_over(len(new), files):
            raise errors.TooManyFiles(len(old))

    def is_over(self, amount: int, limit: int) -> bool:
        return amount > limit

    def bytes_of(self, tree: Tree) -> int:
        return sum(len(live.content) for live in tree.values())


DictStore.batch_class = Batch


class DictBackend(Backend):
    """Stores of dicts on a ``Disk`` that outlives the backend."""

    capabilities = Capabilities()
    store_class: type[DictStore] = DictStore

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.closed = False
        self.owners: dict[DictStore, tuple[str, str]] = {}

    # ---- shelves

    def of_user(self, user: str, workspace: str) -> Shelf | None:
        for shelf in self.disk.shelves.values():
            if (shelf.info.user, shelf.info.workspace) == (user, workspace):
                return shelf
        return None

    def of_id(self, store_id: str, workspace: str) -> Shelf:
        shelf = self.disk.shelves.get(store_id)
        if shelf is None or shelf.info.workspace != workspace:
            raise errors.UnknownId("store")
        return shelf

    def new_shelf(
        self,
        name: str,
        user: str | None,
        workspace: str,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> Shelf:
        at = self.disk.now()
        store_id = self.disk.new_id("memstore")
        info = StoreInfo(store_id, workspace, name, user, description, dict(metadata or {}), at, at)
        self.disk.shelves[store_id] = Shelf(info)
        return self.disk.shelves[store_id]

    def make_shelf(self, store: DictStore) -> Shelf:
        found = store.find_shelf()
        if found is not None:
            return found
        user, workspace = self.owners[store]
        return self.new_shelf(user, user, workspace)

    def is_archived(self, store: DictStore) -> bool:
        shelf = store.find_shelf()
        return shelf is not None and shelf.info.archived_at_ns is not None

    # ---- the contract

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        check_tenant(user, workspace)
        store = self.store_class(self, lambda: self.of_user(user, workspace))
        self.owners[store] = (user, workspace)
        return store

    async def open(self, store_id: str, workspace: str = "default") -> Store:
        self.of_id(store_id, workspace)
        return self.store_class(self, lambda: self.of_id(store_id, workspace))

    async def create(
        self,
        name: str,
        *,
        workspace: str = "default",
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        return self.new_shelf(name, None, workspace, description, metadata).info

    async def find_user(self, user: str, workspace: str = "default") -> StoreInfo | None:
        check_tenant(user, workspace)
        shelf = self.of_user(user, workspace)
        return shelf.info if shelf else None

    async def info(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return self.of_id(store_id, workspace).info

    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        infos = sorted(
            (
                shelf.info
                for shelf in self.disk.shelves.values()
                if shelf.info.workspace == workspace
                and (include_archived or shelf.info.archived_at_ns is None)
            ),
            key=lambda info: (-info.created_at_ns, info.id),
        )
        rest = [one for one in infos if after is None or -one.created_at_ns > int(after)]
        page = tuple(rest[:limit])
        return StorePage(page, str(-page[-1].created_at_ns) if len(rest) > limit else None)

    def renew(self, shelf: Shelf, **changed: object) -> StoreInfo:
        new = shelf.info._replace(**changed)  # type: ignore[arg-type]
        if new != shelf.info:
            shelf.info = new._replace(updated_at_ns=self.disk.now())
        return shelf.info

    async def update(
        self,
        store_id: str,
        workspace: str = "default",
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        shelf = self.of_id(store_id, workspace)
        given = {"name": name, "description": description, "metadata": metadata}
        return self.renew(
            shelf, **{key: value for key, value in given.items() if value is not None}
        )

    async def archive(self, store_id: str, workspace: str = "default") -> StoreInfo:
        shelf = self.of_id(store_id, workspace)
        if shelf.info.archived_at_ns is None:
            self.renew(shelf, archived_at_ns=self.disk.now())
        return shelf.info

    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        self.of_id(store_id, workspace)
        del self.disk.shelves[store_id]

    async def close(self) -> None:
        self.closed = True


def everything(disk: Disk) -> bytes:
    """All that the disk holds, as text to search in."""
    return repr([(shelf.info, shelf.state) for shelf in disk.shelves.values()]).encode()
