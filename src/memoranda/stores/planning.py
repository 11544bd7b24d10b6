"""What a batch comes to, in memory and without I/O: from what was seen to what is to be written.

A plan holds as long as the store is where it was seen; whoever writes it checks that.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from memoranda.digests import sha256
from memoranda.errors import (
    AlreadyExists,
    Conflict,
    FileTooLarge,
    IsADirectory,
    MemoryFull,
    Misuse,
    MovedNameTooLong,
    MoveIntoItself,
    NotADirectory,
    NotFound,
    ReadOnly,
    RootRefused,
    TooManyFiles,
    UnknownId,
)
from memoranda.light_dataclasses import dataclass
from memoranda.path import MAX_PATH_BYTES, MAX_SEGMENTS, MemoryPath
from memoranda.stores.base import Edit, Expect, IfVersion, Move, Put
from memoranda.stores.log import ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memoranda.stores.base import Ceiling, Change, Precondition, Remove
    from memoranda.stores.log.ids import Numbered


@dataclass(slots=True, eq=False)
class Item:
    """A memory as a plan sees it; ``path`` is None while it is nowhere."""

    id: int
    """Its number; below 0 until the plan is sealed: a new one."""
    path: MemoryPath | None
    created: int
    updated: int
    head: int
    """The event of its version; 0 once the plan has changed it."""
    size: int
    sha: bytes
    body: int
    """The number of its content; 0 for one that is new."""
    data: bytes | None
    """The content, where it was asked for or is new."""
    last_path: MemoryPath | None = None
    """Where it was when the plan removed it."""
    place: str = ""
    """Where a backend keeps the content, in words of its own; empty for a new one."""


class Before(NamedTuple):
    """What a memory was before the plan."""

    path: MemoryPath | None
    sha: bytes
    size: int


class State(NamedTuple):
    """A store's own row, right after event ``seq``."""

    seq: int
    at: int
    chain: bytes
    files: int
    bytes: int
    archived: bool


EMPTY = State(0, 0, bytes(32), 0, 0, False)
"""A store that nobody has made yet."""


class Seen(NamedTuple):
    """What was asked for (``Wanted``), all of one moment."""

    state: State
    counts: Mapping[MemoryPath, int]
    """How many memories lie beneath a path."""
    items: Sequence[Item]


class Wanted:
    """What the planning of a batch has to see."""

    __slots__ = ("beneath", "counted", "edits", "exact", "ids")

    def __init__(self, changes: Sequence[Change], store: Numbered | None) -> None:
        exact: dict[MemoryPath, None] = {}
        self.edits: list[MemoryPath] = []
        self.beneath: list[MemoryPath] = []
        counted: dict[MemoryPath, None] = {}
        self.ids: set[int] = set()
        for change in changes:
            if isinstance(change, Move):
                ends: tuple[MemoryPath, ...] = (change.source, change.target)
                if not change.source.is_root:  # which is refused
                    self.beneath.append(change.source)
                counted[change.target] = None
            else:
                ends = (change.path,)
                if isinstance(change, Put | Edit):
                    counted[change.path] = None
                elif not change.path.is_root:
                    self.beneath.append(change.path)
            if isinstance(change, Edit):
                self.edits.append(change.path)
            elif isinstance(change, Put) and change.keep_id is not None and store is not None:
                number = ids.node_of(store, change.keep_id)
                if number is not None:
                    self.ids.add(number)
            for path in ends:
                for above in (path, *parents(path)):
                    exact[above] = None
        self.exact = list(exact)
        self.counted = list(counted)


class ContentWanted(Exception):
    """Not an error: an edit needs a content that was not asked for, of a memory that the batch moved;
    look again."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def parents(path: MemoryPath) -> Iterator[MemoryPath]:
    """The directories above a path, from the topmost down, without the root."""
    for length in range(1, len(path.segments)):
        yield MemoryPath.of(path.segments[:length])


class Plan:
    """The changes of one batch, done on what was seen. What it raises leaves nothing behind.

    ``takes_over``: the batch is out of another store's history and may bring its memories in."""

    def __init__(
        self, store: Numbered | None, seen: Seen, ceiling: Ceiling, *, takes_over: bool = False
    ) -> None:
        self.before: dict[int, Before] = {}
        """What each memory was, for those that were asked for."""
        self.touched: dict[Item, None] = {}
        """What was changed, ordered by the last change of each."""
        self.state = seen.state
        self._store = store
        self._ceiling = ceiling
        self._takes_over = takes_over
        self._items = {item.id: item for item in seen.items}
        self._live: dict[MemoryPath, Item] = {}
        self._beneath: Counter[MemoryPath] = Counter()
        self._new = 0
        for item in self._items.values():
            self.before[item.id] = Before(item.path, item.sha, item.size)
            if item.path is not None:
                self._put_at(item, item.path)
        # Those that were only counted stay where they are: no change names them.
        self._unseen = {path: n - self._beneath[path] for path, n in seen.counts.items()}

    def do(self, changes: Sequence[Change]) -> None:
        """Do all changes, in order, and see that the store has room for them."""
        for change in changes:
            if isinstance(change, Put):
                self._do_put(change)
            elif isinstance(change, Edit):
                self._do_edit(change)
            elif isinstance(change, Move):
                self._do_move(change)
            else:
                self._do_remove(change)
        self._check_ceiling()

    def totals(self) -> tuple[int, int]:
        """Files and bytes after the batch."""
        files, total = self.state.files, self.state.bytes
        for item in self.touched:
            before = self.before.get(item.id)
            if before is not None and before.path is not None:
                files, total = files - 1, total - before.size
            if item.path is not None:
                files, total = files + 1, total + item.size
        return files, total

    # ---- the changes

    def _do_put(self, put: Put) -> None:
        path = put.path
        if path.is_root:
            raise RootRefused
        self._check_writable(path)
        blocker = self._blocker(path)
        if blocker is not None:
            raise NotADirectory(blocker)
        if self._is_directory(path):
            raise IsADirectory(path)
        item = self._live.get(path)
        self._check(put.expect, path, item)
        if put.keep_id is not None:
            returning = self._returning(put.keep_id, path, item)
            if returning is not None:
                self._check_size(path, 0, len(put.content))
                self._put_at(returning, path)
                self._set(returning, put.content, sha256(put.content).digest())
                return
        if item is None:
            self._check_size(path, 0, len(put.content))
            self._new -= 1
            item = Item(self._new, None, 0, 0, 0, 0, b"", 0, None)
            self._items[item.id] = item
            self._put_at(item, path)
            self._set(item, put.content, sha256(put.content).digest())
            return
        sha = sha256(put.content).digest()
        if sha != item.sha:
            self._check_size(path, item.size, len(put.content))
            self._set(item, put.content, sha)

    def _do_edit(self, edit: Edit) -> None:
        path = edit.path
        self._check_writable(path)
        if self._is_directory(path):
            raise IsADirectory(path)
        item = self._live.get(path)
        self._check(edit.expect, path, item)
        if item is None:
            raise NotFound(path)
        if item.data is None:
            raise ContentWanted(item.id)
        old = item.data
        splice = edit.edit(old)
        if not 0 <= splice.start <= splice.end <= len(old):
            raise Misuse("The edit replaces bytes that are not there.")
        if splice.changes(old):
            self._check_size(path, len(old), splice.size_after(len(old)))
            new = splice.apply(old)
            self._set(item, new, sha256(new).digest())

    def _do_remove(self, remove: Remove) -> None:
        path = remove.path
        if path.is_root:
            raise RootRefused
        found = self._found(path, remove.expect)
        for item in found:
            self._take_away(item)
            self._touch(item)

    def _do_move(self, move: Move) -> None:
        source, target = move.source, move.target
        if source.is_root:
            raise RootRefused
        self._check_writable(source)
        is_directory = self._is_directory(source)
        found = self._found(source, move.expect)
        if target in self._live or self._is_directory(target):
            raise AlreadyExists(target)
        if is_directory and target.is_below(source):
            raise MoveIntoItself(source)
        blocker = self._blocker(target)
        if blocker is not None and (is_directory or blocker != source):
            raise NotADirectory(blocker)
        depth = len(source.segments)
        moved = [
            (item, MemoryPath.of((*target.segments, *item.path.segments[depth:])))
            for item in found
            if item.path is not None
        ]
        if is_directory:
            for _, path in moved:
                _check_length(source, path)
        for item, _ in moved:
            self._take_away(item)
        for item, path in moved:
            self._put_at(item, path)
            self._touch(item)

    # ---- looking

    def _is_directory(self, path: MemoryPath) -> bool:
        return path.is_root or self._unseen.get(path, 0) > 0 or self._beneath[path] > 0

    def _blocker(self, path: MemoryPath) -> MemoryPath | None:
        """The memory that stands where a directory above ``path`` would have to be."""
        return next((above for above in parents(path) if above in self._live), None)

    def _found(self, path: MemoryPath, expect: Precondition) -> Sequence[Item]:
        """The memory at a path, or those beneath it in order; some."""
        if self._is_directory(path):
            if expect is Expect.ABSENT:
                raise AlreadyExists(path)
            if expect is not Expect.ANY:
                raise IsADirectory(path)
            return [self._live[one] for one in sorted_paths(self._live) if one.is_below(path)]
        item = self._live.get(path)
        self._check(expect, path, item)
        if item is None:
            raise NotFound(path)
        return [item]

    def _returning(self, keep_id: str, path: MemoryPath, there: Item | None) -> Item | None:
        """The removed memory that a Put brings back; None if it lives at the path already."""
        number = None if self._store is None else ids.node_of(self._store, keep_id)
        item = None if number is None else self._items.get(number)
        if item is None and number is not None and self._comes_from_elsewhere(number):
            item = Item(number, None, 0, 0, 0, 0, b"", 0, None)
            self._items[number] = item
        if item is None:
            raise UnknownId("memory")
        if item is there:
            return None
        if there is not None:
            raise AlreadyExists(path)
        if item.path is not None:
            raise AlreadyExists(item.path)
        return item

    def _comes_from_elsewhere(self, number: int) -> bool:
        """Whether a batch may bring in a memory that this store never had."""
        return self._takes_over and number <= self.state.seq

    # ---- changing

    def _put_at(self, item: Item, path: MemoryPath) -> None:
        item.path = path
        self._live[path] = item
        for above in parents(path):
            self._beneath[above] += 1

    def _take_away(self, item: Item) -> None:
        path = item.path
        assert path is not None  # it was found somewhere
        item.path, item.last_path = None, path
        del self._live[path]
        for above in parents(path):
            self._beneath[above] -= 1

    def _set(self, item: Item, content: bytes, sha: bytes) -> None:
        item.data, item.size, item.sha, item.body, item.place = content, len(content), sha, 0, ""
        self._touch(item)

    def _touch(self, item: Item) -> None:
        item.head = 0
        self.touched.pop(item, None)
        self.touched[item] = None

    # ---- what has to hold

    def _check_writable(self, path: MemoryPath) -> None:
        if self.state.archived:
            raise ReadOnly(path)

    def _check(self, expect: Precondition, path: MemoryPath, item: Item | None) -> None:
        if expect is Expect.ANY:
            return
        if expect is Expect.ABSENT:
            if item is not None:
                raise AlreadyExists(path)
            return
        if item is None:
            raise NotFound(path)
        if isinstance(expect, IfVersion):
            if not self._is_head(item, expect.version_id):
                raise Conflict("The memory has a newer version.")
        elif item.sha.hex() != expect.sha256:
            raise Conflict("The memory has another content.")

    def _is_head(self, item: Item, version_id: str) -> bool:
        """Whether this is the version of a memory that the batch has not changed yet."""
        store = self._store
        return (
            store is not None
            and item.head != 0
            and ids.version_id(store, item.head, item.id) == version_id
        )

    def _check_size(self, path: MemoryPath, before: int, after: int) -> None:
        limit, beside = self._ceiling.file_bytes, self._ceiling.beside_bytes
        if limit is not None and after > max(before, limit + beside):
            raise FileTooLarge(path, after - beside, limit)

    def _check_ceiling(self) -> None:
        files, total = self.totals()
        limit = self._ceiling
        total -= files * limit.beside_bytes
        before = self.state.bytes - self.state.files * limit.beside_bytes
        if limit.total_bytes is not None and total > max(before, limit.total_bytes):
            raise MemoryFull(before, limit.total_bytes)
        if limit.files is not None and files > max(self.state.files, limit.files):
            raise TooManyFiles(self.state.files)


def sorted_paths(paths: Iterable[MemoryPath]) -> list[MemoryPath]:
    """Paths in listing order."""
    return sorted(paths, key=lambda path: path.text)


def _check_length(source: MemoryPath, path: MemoryPath) -> None:
    if len(path.segments) > MAX_SEGMENTS or len(path.store_path.encode()) > MAX_PATH_BYTES:
        raise MovedNameTooLong(source, path.text)
