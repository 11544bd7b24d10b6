"""An honest small store for tests of the tool: a dict, no history, nothing on a disk.

It shares no code with the stores of the product. It can be told to lose races and to change a
file under a reader's hands, and it notes what was read.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Literal, NoReturn

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    FileTooLarge,
    IsADirectory,
    MemoryFull,
    MovedNameTooLong,
    MoveIntoItself,
    NotADirectory,
    NotFound,
    RootRefused,
    TooManyFiles,
)
from memoranda.path import MAX_PATH_BYTES, MemoryPath
from memoranda.stores.base import (
    Ceiling,
    Change,
    Content,
    Context,
    Edit,
    Entry,
    Expect,
    Hit,
    Listed,
    Moment,
    Move,
    Outline,
    Page,
    Put,
    Remove,
    Report,
    Store,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)

Names = tuple[str, ...]


class DictStore(Store):
    """Files by their names; ``conflicts`` is how many of the next writes lose a race."""

    def __init__(self) -> None:
        self.files: dict[Names, bytes] = {}
        self.conflicts = 0
        self.applied = 0
        self.reads: list[tuple[int, int | None]] = []
        self.before_read: Callable[[int], None] = lambda nth: None
        self._stamps: dict[Names, int] = {}
        self._ticks = itertools.count()
        self._lock = threading.Lock()

    @property
    def id(self) -> str:
        return "memstore_dict"

    def put(self, path: str, content: bytes) -> None:
        """Set a file by its text path, as a person would do behind the tool's back."""
        self._set(tuple(path.removeprefix("/memories/").split("/")), content)

    def text(self, path: str) -> str:
        return self.files[tuple(path.removeprefix("/memories/").split("/"))].decode()

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        self.before_read(len(self.reads))
        self.reads.append((start, length))
        names = path.segments
        with self._lock:
            data = self._at(path)
            stop = len(data) if length is None else start + length
            return Content(data[start:stop], len(data), self._stamps[names])

    async def stat(self, path: MemoryPath) -> Entry:
        return Entry(path, "mem_1", "memver_1", len(self._at(path)), "", 0, 0)

    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        top = directory.segments
        if top and not self._is_directory(top):
            raise NotFound(directory)
        sizes: dict[tuple[Names, bool], int] = {}
        total_bytes = 0
        for names, data in self.files.items():
            below = names[len(top) :]
            if names[: len(top)] != top or any(map(_hidden, below)):
                continue
            total_bytes += len(data)
            for depth in range(1, min(len(below), 2) + 1):
                key = (names[: len(top) + depth], depth < len(below))
                sizes[key] = sizes.get(key, 0) + len(data)
        items = [
            Listed(MemoryPath.of(names), size_bytes, is_directory)
            for (names, is_directory), size_bytes in sizes.items()
        ]
        items.sort(key=lambda item: f"{item.path}/" if item.is_directory else str(item.path))
        shown: list[Listed] = []
        for item in items:
            if path_chars <= 0:
                break
            shown.append(item)
            path_chars -= len(item.path.text) + item.is_directory
        return Outline(total_bytes, tuple(shown), len(items))

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        with self._lock:
            self.applied += 1
            if self.conflicts:
                self.conflicts -= 1
                raise Conflict("another writer was faster")
            before = dict(self.files)
            try:
                for change in changes:
                    self._do(change, context.ceiling)
            except Exception:
                self.files = before
                raise
        return ()

    def _do(self, change: Change, ceiling: Ceiling) -> None:
        match change:
            case Put(path, content, expect):
                self._check_free(path, expect)
                self._write(path, content, ceiling)
            case Edit(path, edit):
                old = self._at(path)
                self._write(path, edit(old).apply(old), ceiling)
            case Remove(path):
                if path.is_root:
                    raise RootRefused
                for names in self._taken(path):
                    del self.files[names]
            case Move(source, target):
                self._move(source, target)

    def _move(self, source: MemoryPath, target: MemoryPath) -> None:
        if source.is_root:
            raise RootRefused
        moved = self._taken(source)
        if target.is_root or target.segments in self.files or self._is_directory(target.segments):
            raise AlreadyExists(target)
        if target.is_below(source) and source.segments not in self.files:
            raise MoveIntoItself(source)
        contents = {names: self.files.pop(names) for names in moved}
        self._check_parents(target)
        for names, data in contents.items():
            new = MemoryPath.of(target.segments + names[len(source.segments) :])
            if len(new.store_path.encode()) > MAX_PATH_BYTES:
                raise MovedNameTooLong(source, new.text)
            self._set(new.segments, data)

    def _write(self, path: MemoryPath, content: bytes, ceiling: Ceiling) -> None:
        old = self.files.get(path.segments)
        grows = len(content) > len(old or b"")
        self._set(path.segments, content)
        total = sum(map(len, self.files.values()))
        if ceiling.file_bytes is not None and grows and len(content) > ceiling.file_bytes:
            raise FileTooLarge(path, len(content), ceiling.file_bytes)
        if ceiling.total_bytes is not None and grows and total > ceiling.total_bytes:
            raise MemoryFull(total - len(content) + len(old or b""), ceiling.total_bytes)
        if ceiling.files is not None and old is None and len(self.files) > ceiling.files:
            raise TooManyFiles(ceiling.files)

    def _set(self, names: Names, content: bytes) -> None:
        if self.files.get(names) != content:
            self.files[names] = content
            self._stamps[names] = next(self._ticks)

    def _check_free(self, path: MemoryPath, expect: object) -> None:
        if path.is_root:
            raise RootRefused
        if self._is_directory(path.segments):
            raise IsADirectory(path)
        if path.segments in self.files and expect is Expect.ABSENT:
            raise AlreadyExists(path)
        self._check_parents(path)

    def _check_parents(self, path: MemoryPath) -> None:
        for depth in range(1, len(path.segments)):
            if path.segments[:depth] in self.files:
                raise NotADirectory(MemoryPath.of(path.segments[:depth]))

    def _at(self, path: MemoryPath) -> bytes:
        if path.is_root or self._is_directory(path.segments):
            raise IsADirectory(path)
        if path.segments not in self.files:
            raise NotFound(path)
        return self.files[path.segments]

    def _taken(self, path: MemoryPath) -> list[Names]:
        n = len(path.segments)
        found = [names for names in self.files if names[:n] == path.segments]
        if not found:
            raise NotFound(path)
        return found

    def _is_directory(self, names: Names) -> bool:
        n = len(names)
        return any(len(other) > n and other[:n] == names for other in self.files)

    # ---- what no command of the tool needs

    async def locate(self, memory_id: str) -> Entry:
        self._not_here()

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = 1000,
        at: Moment | None = None,
    ) -> Page:
        self._not_here()

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        self._not_here()

    async def usage(self) -> Usage:
        self._not_here()

    async def record(self, context: Context) -> None:
        self._not_here()

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        self._not_here()

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        self._not_here()

    async def version(self, version_id: str) -> Version:
        self._not_here()

    async def moment(self, at_ns: int) -> Moment:
        self._not_here()

    async def redact(self, version_id: str, context: Context) -> Version:
        self._not_here()

    async def verify(self) -> Report:
        self._not_here()

    async def close(self) -> None:
        self._not_here()

    def _not_here(self) -> NoReturn:
        raise AssertionError("the tool has no reason to ask for this")


def _hidden(name: str) -> bool:
    return name.startswith(".") or name == "node_modules"
