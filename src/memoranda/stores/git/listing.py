"""Listings: the outline that a view shows, pages of entries, what was at a moment."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from memoranda.errors import NotFound
from memoranda.stores.base import BESIDE_PATH_CHARS, Directory, Entry, Outline, Page
from memoranda.stores.git import log, trees
from memoranda.stores.git.batch import by_number, path_of
from memoranda.stores.git.heads import Heads, Record, Totals, is_shown
from memoranda.stores.log import ids
from memoranda.stores.sealing import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Listed, Moment
    from memoranda.stores.git.log import Head
    from memoranda.stores.git.objects import Objects


def entry_of(head: Head, path: MemoryPath, record: Record) -> Entry:
    """A live memory as callers see it."""
    return Entry(
        path, ids.memory_id(head, record.number), ids.version_id(head, record.head, record.number),
        record.size, record.sha.hex(), record.created, record.updated,
    )  # fmt: skip


def outline(heads: Heads, directory: MemoryPath, line_chars: int) -> Outline:
    """What ``Store.outline`` promises: reads what is shown."""
    totals = heads.totals() if directory.is_root else heads.find(directory)
    if not isinstance(totals, Totals):
        raise NotFound(directory)
    items: list[Listed] = []
    room = line_chars
    base = len(directory.text) + 1 + BESIDE_PATH_CHARS
    for item in _shown(heads, directory, "", 2):
        if room <= 0:
            break
        items.append(item)
        room -= base + len(item[0])
    return Outline(totals.shown, tuple(items), totals.items + totals.below)


def _shown(heads: Heads, directory: MemoryPath, prefix: str, levels: int) -> Iterator[Listed]:
    for key, found in heads.children(directory):
        name = key.removesuffix("/")
        if not is_shown(name):
            continue
        if isinstance(found, Record):
            yield prefix + key, found.size
        else:
            yield prefix + key, found.shown
            if levels > 1:
                yield from _shown(heads, directory.child(name), prefix + key, levels - 1)


def page(
    head: Head,
    heads: Heads,
    prefix: MemoryPath,
    depth: Literal[0, 1],
    after: str | None,
    limit: int,
) -> Page:
    """What ``Store.list`` promises."""
    items = tuple(islice(_entries(head, heads, prefix, depth, after), limit + 1))
    if len(items) <= limit:
        return Page(items, None)
    items = items[:limit]
    return Page(items, _key(items[-1]) if items else None)


def _key(item: Entry | Directory) -> str:
    return item.path.store_path + ("/" if isinstance(item, Directory) else "")


def _entries(
    head: Head, heads: Heads, prefix: MemoryPath, depth: Literal[0, 1], after: str | None
) -> Iterator[Entry | Directory]:
    start = "/" if prefix.is_root else prefix.store_path + "/"
    if after is None or after < start:
        rest = ""
    elif after.startswith(start):
        rest = after[len(start) :]
    else:
        return
    if depth == 0:
        for path, record in heads.beneath(prefix, rest):
            yield entry_of(head, path, record)
        return
    name, slash, _ = rest.partition("/")
    # No name holds a NUL: with one appended, a text is followed by what comes next.
    for key, found in heads.children(prefix, f"{name}{slash}\0" if rest else ""):
        path = prefix.child(key.removesuffix("/"))
        if isinstance(found, Record):
            yield entry_of(head, path, found)
        else:
            yield Directory(path, found.bytes)


def past(objects: Objects, head: Head, at: Moment) -> Heads:
    """What was at a moment. Within a batch its changes up to there are done anew, in memory."""
    if at.seq >= head.state.seq:
        return Heads(objects, head.heads)
    batch = log.with_event(objects, head, at.seq)
    if batch is None:
        return Heads(objects, None)
    if batch.state.seq == at.seq:
        return Heads(objects, batch.heads)
    before = log.read(objects, batch.skips[0].commit)
    return _part_of(objects, before, batch, at.seq)


def _part_of(objects: Objects, before: Head, batch: Head, seq: int) -> Heads:
    changes: dict[MemoryPath, Record | None] = {}
    created: dict[int, int] = {}
    for event, blob, _ in log.happened_in(objects, batch):
        if event.seq > seq:
            break
        if event.memory is None:
            continue
        path, record = by_number(objects, before, event.memory)
        if path is not None:
            changes.setdefault(path, None)
        if event.op == DELETED or event.path is None or blob is None:
            continue
        created[event.memory] = event.at if record is None else record.created
        changes[path_of(event.path)] = Record(
            event.memory, created[event.memory], event.at, event.seq, event.size or 0,
            event.sha or b"", blob,
        )  # fmt: skip
    return Heads(objects, before.heads).changed(changes)


def numbers_at(objects: Objects, head: Head, path: MemoryPath) -> set[int]:
    """The numbers of all memories that were ever at a path, or beneath it."""
    names = tuple(b"=" + name.encode("utf-8", "surrogatepass") for name in path.segments)
    entry = trees.find(objects, head.places, names)
    if entry is None or not entry.is_tree:
        return set()
    return {int(found[-1], 16) for found, _ in trees.files(objects, entry.id)}
