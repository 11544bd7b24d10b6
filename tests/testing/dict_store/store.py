"""The store of dicts: reading, and handing changes to a batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    BESIDE_PATH_CHARS,
    LISTING_CHUNK,
    Capabilities,
    Change,
    Content,
    Context,
    Directory,
    Entry,
    Hit,
    Listed,
    Moment,
    Outline,
    Page,
    Report,
    Store,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)
from tests.testing.dict_store.state import Live, Shelf, State, Tree, printed

if TYPE_CHECKING:
    from tests.testing.dict_store.backend import DictBackend
    from tests.testing.dict_store.batch import Batch


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

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
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
            ("/".join(below) + "/" * is_directory, total)
            for below, (is_directory, total) in lines.items()
        ]
        listed.sort(key=self.outline_order)
        shown: list[Listed] = []
        chars = 0
        for item in listed:
            if chars >= line_chars:
                break
            chars += len(f"{directory}/{item[0]}") + BESIDE_PATH_CHARS
            shown.append(item)
        return Outline(size, tuple(shown), len(listed))

    outline_levels = 2

    def outline_order(self, item: Listed) -> str:
        return item[0]

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
