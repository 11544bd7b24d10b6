"""Listings: the outline that a view shows, pages of entries, present and past; search."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, Literal, Protocol

from memoranda.errors import NotFound, UnknownId
from memoranda.path import ROOT_TEXT
from memoranda.stores.base import BESIDE_PATH_CHARS, Directory, Entry, Hit, Outline, Page
from memoranda.stores.bucket.sight import Span, path_of
from memoranda.stores.log import ids, search
from memoranda.stores.planning import Item
from memoranda.stores.sealing import DELETED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Moment
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.sight import Sight

LEVELS: Final = 2
NODE_MODULES: Final = "node_modules"
SEARCHED_AT_ONCE: Final = 50
AFTER_ALL: Final = "\U0010ffff"


class Items(Protocol):
    """Memories of one moment, in order."""

    async def next_items(self, span: Span, limit: int) -> list[Item]:
        """The first memories of a span."""
        ...

    async def measure(self, span: Span) -> tuple[int, int]:
        """How many memories a span has, and their bytes."""
        ...


class PastItems:
    """Memories of a past moment, all in memory."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = sorted(items, key=_text)
        self._texts = [_text(item) for item in self._items]

    async def next_items(self, span: Span, limit: int) -> list[Item]:
        """See ``Items``."""
        first, last = self._reach(span)
        return self._items[first : min(last, first + limit)]

    async def measure(self, span: Span) -> tuple[int, int]:
        """See ``Items``."""
        first, last = self._reach(span)
        return last - first, sum(item.size for item in self._items[first:last])

    def _reach(self, span: Span) -> tuple[int, int]:
        low, high = span
        return bisect_left(self._texts, low), bisect_left(self._texts, high)


async def outline(sight: Sight, directory: MemoryPath, line_chars: int) -> Outline:
    """What ``Store.outline`` promises, from the rows beneath: no content is read. Costs a pass over
    the index of what lies beneath, which is in the cache after the first."""
    items = await sight.beneath(Span.beneath(directory))
    if not items and not directory.is_root:
        raise NotFound(directory)
    base = len(directory.segments)
    sizes: dict[str, int] = {}
    total = 0
    for item in items:
        assert item.path is not None  # it is live
        names = item.path.segments[base:]
        is_shown = not any(_is_hidden(name) for name in names)
        if is_shown:
            total += item.size
        for depth in range(1, min(len(names), LEVELS) + 1):
            if _is_hidden(names[depth - 1]):
                break
            text = "/".join(names[:depth]) + "/" * (depth < len(names))
            sizes[text] = sizes.get(text, 0) + (item.size if is_shown else 0)
    beside = len(ROOT_TEXT) + len("" if directory.is_root else directory.store_path) + 1
    chars = 0
    shown: list[tuple[str, int]] = []
    for text in sorted(sizes):
        if chars >= line_chars:
            break
        chars += beside + len(text) + BESIDE_PATH_CHARS
        shown.append((text, sizes[text]))
    return Outline(total, tuple(shown), len(sizes))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == NODE_MODULES


async def page(
    sight: Sight,
    prefix: MemoryPath,
    depth: Literal[0, 1],
    after: str | None,
    limit: int,
    at: Moment | None,
) -> Page:
    """What ``Store.list`` promises. Raises ``UnknownId`` for a moment that retention does not keep
    whole any more."""
    head = sight.head
    items: Items = sight
    if at is not None:
        if at.seq < head.horizon:
            raise UnknownId("moment")
        if at.seq < head.state.seq:
            items = PastItems(await past(sight, at.seq))
    low, high = Span.beneath(prefix)
    start = _start(low, (after or "").partition("\0")[0], depth)
    entries: list[Entry | Directory] = []
    keys: list[str] = []
    while len(entries) <= limit and start < high:
        # Of children, each may be a directory that is passed over in one step.
        found = await items.next_items(
            Span((start, high)), 1 if depth else limit + 1 - len(entries)
        )
        if not found:
            break
        for item in found:
            text = _text(item)
            name, slash, _ = text[len(low) :].partition("/")
            if depth and slash:
                inside = f"{low}{name}/"
                size = (await items.measure(Span((inside, f"{low}{name}0"))))[1]
                entries.append(Directory(path_of(inside), size))
                keys.append(inside)
                start = f"{low}{name}0"
            else:
                entries.append(entry(head, item))
                keys.append(text)
                start = f"{text}\0"
    more = len(entries) > limit and limit > 0
    return Page(tuple(entries[:limit]), keys[limit - 1] if more else None)


def _start(low: str, after: str, depth: Literal[0, 1]) -> str:
    """The position at which a page begins, not before the directory itself."""
    if after <= low:
        return low
    if depth and after.startswith(low):
        name, slash, _ = after[len(low) :].partition("/")
        if slash:  # after a directory: past all that lies in it
            return f"{low}{name}0"
    return f"{after}\0"


async def past(sight: Sight, seq: int) -> list[Item]:
    """The memories as they were right after event ``seq``.

    Costs the events since then, or one look at each memory's versions, whichever is less to read.
    """
    rows = await sight.memories()
    changed: set[int] = set()
    wanted: list[int] = []
    for number, (_, _, last, _) in rows.items():
        if last <= seq:
            wanted.append(last)
        else:
            changed.add(number)
    for number in changed:
        before = await sight.version_before(number, seq + 1)
        if before is not None:
            wanted.append(before)
    items: list[Item] = []
    for kept in (await sight.events_of(wanted)).values():
        event = kept.event
        if event.op == DELETED or event.path is None or event.memory is None:
            continue  # gone, or redacted since
        items.append(
            Item(
                event.memory, path_of(event.path), rows[event.memory][1], event.at, event.seq,
                event.size or 0, event.sha or b"", event.body or 0, None, place=kept.place or "",
            )
        )  # fmt: skip
    return items


def entry(head: Head, item: Item) -> Entry:
    """A live memory as callers see it."""
    assert item.path is not None  # it is live
    return Entry(
        item.path, ids.memory_id(head, item.id), ids.version_id(head, item.head, item.id), item.size,
        item.sha.hex(), item.created, item.updated,
    )  # fmt: skip


def _text(item: Item) -> str:
    assert item.path is not None  # it is live
    return item.path.store_path


async def hits(sight: Sight, query: str, prefix: MemoryPath, limit: int) -> tuple[Hit, ...]:
    """What ``Store.search`` promises, from the contents themselves, some at a time.

    Costs the bytes beneath ``prefix`` as far as hits are wanted.
    """
    words = search.words_of(query)
    found: list[Hit] = []
    low, high = Span.beneath(prefix)
    while words and len(found) < limit:
        items = await sight.next_items(Span((low, high)), SEARCHED_AT_ONCE)
        contents = await sight.shelf.contents([(item.place, item.size) for item in items])
        pairs = ((path_of(_text(item)), contents[item.place]) for item in items)
        found += search.hits(words, pairs, limit - len(found))
        if len(items) < SEARCHED_AT_ONCE:
            break
        low = f"{_text(items[-1])}\0"
    return tuple(found)
