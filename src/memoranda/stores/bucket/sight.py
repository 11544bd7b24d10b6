"""A store as one head shows it: the trees, and over them what the head itself holds.

Every method raises ``Missing`` where an object is gone that the head names: somebody has redacted or
collected since, and a newer head is there.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt, UnknownId
from memoranda.path import MemoryPath
from memoranda.stores.bucket import tree
from memoranda.stores.bucket.head import (
    EVENTS,
    EVER,
    MEMORIES,
    NUMBER_BITS,
    PATHS,
    VERSIONS,
    ever_key,
    item_of,
    version_key,
)
from memoranda.stores.bucket.kept import Kept, kept_of
from memoranda.stores.planning import Item, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.shelf import Shelf
    from memoranda.stores.bucket.tree import Row
    from memoranda.stores.planning import Wanted

END_OF_EVENTS: Final = 1 << NUMBER_BITS
READ_AT_ONCE: Final = 256


class Span(tuple[str, str]):
    """Store paths from the first up to without the second."""

    __slots__ = ()

    @classmethod
    def beneath(cls, prefix: MemoryPath) -> Span:
        """Everything beneath a directory: ``0`` follows the slash in code point order."""
        text = "" if prefix.is_root else prefix.store_path
        return cls((f"{text}/", f"{text}0"))


class Sight:
    """One moment of a store."""

    def __init__(self, head: Head, shelf: Shelf) -> None:
        self.head = head
        self.shelf = shelf
        self._changed = sorted(head.paths)
        self._tail = {kept.event.seq: kept for kept in head.tail}

    # ---- memories

    async def items(self, paths: Iterable[MemoryPath]) -> dict[MemoryPath, Item]:
        """The memories that live at some of these paths."""
        wanted = {path.store_path: path for path in paths if not path.is_root}
        changed = self.head.paths
        root = self.head.roots.get(PATHS)
        rows = await tree.get_many(
            self.shelf, root, [text for text in wanted if text not in changed]
        )
        rows |= {text: row for text in wanted if (row := changed.get(text, (None, None))[1])}
        return {wanted[text]: item_of(wanted[text], row) for text, row in rows.items()}

    async def item(self, path: MemoryPath) -> Item | None:
        """The memory that lives at a path."""
        return (await self.items((path,))).get(path)

    async def beneath(self, span: Span) -> list[Item]:
        """All memories of a span, in order."""
        rows = dict(await tree.span(self.shelf, self.head.roots.get(PATHS), *span))
        return self._merged(rows, span)

    async def next_items(self, span: Span, limit: int) -> list[Item]:
        """The first memories of a span, in order."""
        root = self.head.roots.get(PATHS)
        among = len(self._changed_in(span))
        found = await tree.some(self.shelf, root, *span, limit + among)
        if len(found) == limit + among and found:
            # What the head knows beyond what was read of the tree comes later.
            span = Span((span[0], found[-1][0] + "\0"))
        return self._merged(dict(found), span)[:limit]

    async def measure(self, span: Span) -> tuple[int, int]:
        """How many memories are in a span, and their bytes."""
        count, size = await tree.measure(self.shelf, self.head.roots.get(PATHS), *span)
        for text in self._changed_in(span):
            before, row = self.head.paths[text]
            if before is not None:
                count, size = count - 1, size - before
            if row is not None:
                count, size = count + 1, size + row[0]
        return count, size

    async def is_directory(self, path: MemoryPath) -> bool:
        """Whether anything lies beneath a path; the root is one always."""
        return path.is_root or bool(await self.next_items(Span.beneath(path), 1))

    async def memory(self, number: int) -> Row | None:
        """What is known of a memory, live or removed: path, time of making, newest event, last use."""
        return (await self.memories_of([number])).get(number)

    async def memories_of(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The same of several, those that there are."""
        wanted = set(numbers)
        changed = self.head.memories
        root = self.head.roots.get(MEMORIES)
        rows = await tree.get_many(self.shelf, root, wanted - changed.keys())
        return rows | {number: changed[number] for number in wanted & changed.keys()}

    async def memories(self) -> dict[int, Row]:
        """All memories, live and removed."""
        rows = await tree.span(self.shelf, self.head.roots.get(MEMORIES), 0, END_OF_EVENTS)
        return dict(rows) | dict(self.head.memories)

    async def located(self, number: int) -> Item:
        """The live memory of a number; raises ``UnknownId``."""
        row = await self.memory(number)
        item = None if row is None or row[0] is None else await self.item(path_of(row[0]))
        if item is None:
            raise UnknownId("memory")
        return item

    async def content(self, item: Item) -> bytes:
        """The content of a live memory."""
        return (await self.shelf.contents([(item.place, item.size)]))[item.place]

    async def seen(self, wanted: Wanted, numbers: Iterable[int]) -> Seen:
        """What the planning of a batch asks for; ``numbers`` are memories whose content it needs."""
        items = {item.id: item for item in (await self.items(wanted.exact)).values()}
        with_content = {item.id for item in items.values() if item.path in set(wanted.edits)}
        for directory in wanted.beneath:
            for item in await self.beneath(Span.beneath(directory)):
                items.setdefault(item.id, item)
        for number in wanted.ids:
            if number not in items:
                named = await self._removed_or_live(number)
                if named is not None:
                    items[number] = named
        for number in numbers:
            items.setdefault(number, await self.located(number))
            with_content.add(number)
        counts = {path: (await self.measure(Span.beneath(path)))[0] for path in wanted.counted}
        needed = [items[number] for number in sorted(with_content)]
        contents = await self.shelf.contents([(item.place, item.size) for item in needed])
        for item in needed:
            item.data = contents[item.place]
        return Seen(self.head.state, counts, tuple(items.values()))

    async def _removed_or_live(self, number: int) -> Item | None:
        row = await self.memory(number)
        if row is None:
            return None
        path, created, last, _ = row
        if path is not None:
            return await self.item(path_of(path))
        return Item(number, None, created, created, last, 0, b"", 0, None)

    def _changed_in(self, span: Span) -> Sequence[str]:
        low, high = span
        return self._changed[bisect_left(self._changed, low) : bisect_left(self._changed, high)]

    def _merged(self, rows: dict[str, Row], span: Span) -> list[Item]:
        for text in self._changed_in(span):
            row = self.head.paths[text][1]
            if row is None:
                rows.pop(text, None)
            else:
                rows[text] = row
        return [item_of(path_of(text), rows[text]) for text in sorted(rows)]

    # ---- history

    async def event(self, seq: int) -> Kept | None:
        """An event; None if there is none, or none any more."""
        return (await self.events_of([seq])).get(seq)

    async def events_of(self, seqs: Iterable[int]) -> dict[int, Kept]:
        """Those of some events that are there."""
        wanted = set(seqs)
        found = {seq: self._tail[seq] for seq in wanted if seq in self._tail}
        root = self.head.roots.get(EVENTS)
        rows = await tree.get_many(self.shelf, root, wanted - found.keys())
        return found | {seq: kept_of(seq, row) for seq, row in rows.items()}

    async def events(self, low: int, high: int) -> list[Kept]:
        """The events from ``low`` up to without ``high``, in order."""
        rows = await tree.span(self.shelf, self.head.roots.get(EVENTS), low, high)
        tail = [kept for kept in self.head.tail if low <= kept.event.seq < high]
        return [*(kept_of(seq, row) for seq, row in rows), *tail]

    async def first_events(self, low: int, limit: int) -> list[Kept]:
        """The next events from ``low`` on."""
        root = self.head.roots.get(EVENTS)
        rows = await tree.some(self.shelf, root, low, END_OF_EVENTS, limit)
        tail = [kept for kept in self.head.tail if kept.event.seq >= low]
        return [*(kept_of(seq, row) for seq, row in rows), *tail][:limit]

    async def last_events(self, high: int, limit: int) -> list[Kept]:
        """The events before ``high``, from the newest back."""
        tail = [kept for kept in reversed(self.head.tail) if kept.event.seq < high][:limit]
        root = self.head.roots.get(EVENTS)
        rows = await tree.some(self.shelf, root, 0, high, limit - len(tail), newest_first=True)
        return [*tail, *(kept_of(seq, row) for seq, row in rows)]

    async def versions_of(self, memory: int, low: int = 0, high: int = END_OF_EVENTS) -> list[int]:
        """The events of a memory's versions from ``low`` up to without ``high``, in order."""
        root = self.head.roots.get(VERSIONS)
        keys = await tree.span(
            self.shelf, root, version_key(memory, low), version_key(memory, high)
        )
        return [key & (END_OF_EVENTS - 1) for key, _ in keys] + [
            kept.event.seq
            for kept in self.head.tail
            if kept.event.memory == memory and low <= kept.event.seq < high
        ]

    async def version_before(self, memory: int, seq: int) -> int | None:
        """The event of the version that a memory had before event ``seq``."""
        for kept in reversed(self.head.tail):
            if kept.event.memory == memory and kept.event.seq < seq:
                return kept.event.seq
        root = self.head.roots.get(VERSIONS)
        found = await tree.some(
            self.shelf, root, version_key(memory, 0), version_key(memory, seq), 1, newest_first=True
        )
        return found[0][0] & (END_OF_EVENTS - 1) if found else None

    async def ever_at(self, path: MemoryPath) -> set[int]:
        """The memories that were ever at a path or beneath it."""
        text = path.store_path
        found: set[int] = set()
        spans = (
            (ever_key(text, 0), f"{text}\0g"),  # g follows the last hexadecimal digit
            Span.beneath(path),
        )
        for low, high in spans:
            rows = await tree.span(self.shelf, self.head.roots.get(EVER), low, high)
            keys = [key for key, _ in rows] + [key for key in self.head.ever if low <= key < high]
            found.update(int(key.rpartition("\0")[2], 16) for key in keys)
        return found

    async def draft(self, kept: Kept) -> str | None:
        """The audit draft of an event, wherever it lies."""
        if kept.draft is None:
            return kept.event.audit
        found = await self.shelf.contents([kept.draft])
        try:
            return found[kept.draft[0]].decode()
        except UnicodeDecodeError as error:
            raise Corrupt("An entry of the audit can't be read.") from error


def path_of(text: str) -> MemoryPath:
    """A store path as the trees spell it; a directory's may end with a slash."""
    return MemoryPath.of(tuple(text[1:].removesuffix("/").split("/")))
