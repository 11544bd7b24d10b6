"""Listings of the present: the outline that a view shows, and pages of entries."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final, Literal, Protocol

from memoranda.errors import NotFound
from memoranda.path import MemoryPath
from memoranda.stores.base import BESIDE_PATH_CHARS, Directory, Entry, Outline, Page
from memoranda.stores.log.lookup import Newest, entry, newest_of
from memoranda.stores.log.node import COLUMNS, Node
from memoranda.stores.log.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.base import Listed
    from memoranda.stores.log.store_log import StoreLog

_SHOWN: Final = "SELECT id, name, size, files, shown FROM node WHERE parent = ? AND gone IS NULL"
_BEFORE_DOT: Final = f"{_SHOWN} AND name < '.' ORDER BY name"
_AFTER_DOT: Final = f"{_SHOWN} AND name >= '/' ORDER BY name"  # "/" follows "." directly
_CHILDREN: Final = (
    f"SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NULL AND name >= ? ORDER BY name"
)


def outline(log: StoreLog, path: MemoryPath, line_chars: int) -> Outline:
    """What ``Store.outline`` promises. Reads the rows that are shown, from the index, in order."""
    node = Tree(log, 0).walk(path).node
    if node is None or not node.is_directory:
        raise NotFound(path)
    items: list[Listed] = []
    room = line_chars
    base = len(path.text) + 1 + BESIDE_PATH_CHARS
    for item in _items(log, "", node.id, 2):
        if room <= 0:
            break
        items.append(item)
        room -= base + len(item[0])
    return Outline(node.shown, tuple(items), node.children + node.grandchildren)


def _items(log: StoreLog, prefix: str, directory: int, levels: int) -> Iterator[Listed]:
    execute = log.db.execute
    rows = chain(execute(_BEFORE_DOT, (directory,)), execute(_AFTER_DOT, (directory,)))
    for number, name, size, files, shown in rows:
        if files is None:
            if name != "node_modules":
                yield prefix + name, size
        elif name != "node_modules/":
            yield prefix + name, shown
            if levels > 1:
                yield from _items(log, prefix + name, number, levels - 1)


_PAST: Final = "\0"
"""Appended to a name, this gives the least text after it: no name holds a control character."""


class Children(Protocol):
    """Where a listing takes a directory's children from, in order of their names."""

    def __call__(self, directory: Node, start: str) -> Iterator[Node]:
        """The children whose name is ``start`` or greater; only those that exist."""
        ...


def page(
    log: StoreLog,
    prefix: MemoryPath,
    depth: Literal[0, 1],
    after: str | None,
    limit: int,
) -> Page:
    """What ``Store.list`` promises for the present."""
    found = Tree(log, 0).walk(prefix)
    node = found.node
    if node is None or not node.is_directory:
        return Page((), None)

    def children(directory: Node, start: str) -> Iterator[Node]:
        for row in log.db.execute(_CHILDREN, (directory.id, start)):
            yield Node(*row)

    newest = newest_of([*found.chain, node])
    return cut(entries(log, children, prefix, node, newest, depth, after), limit)


def cut(found: Iterator[Entry | Directory], limit: int) -> Page:
    """The first ``limit`` entries as a page; says where to go on only if there is more."""
    items = tuple(islice(found, limit + 1))
    if len(items) <= limit:
        return Page(items, None)
    items = items[:limit]
    return Page(items, key_of(items[-1]) if items else None)


def key_of(item: Entry | Directory) -> str:
    """The printed store path of an entry, a directory's with its slash."""
    return item.path.store_path + ("/" if isinstance(item, Directory) else "")


def entries(
    log: StoreLog,
    children: Children,
    prefix: MemoryPath,
    node: Node,
    newest: Newest,
    depth: Literal[0, 1],
    after: str | None,
) -> Iterator[Entry | Directory]:
    """Entries beneath a directory in listing order, those after a printed store path."""
    start = "/" if prefix.is_root else prefix.store_path + "/"
    if after is None or after < start:
        rest = ""
    elif after.startswith(start):
        rest = after[len(start) :]
    else:
        return
    if depth == 0:
        yield from _all(log, children, prefix, node, newest, rest)
        return
    name, slash, _ = rest.partition("/")
    for below in children(node, name + slash + _PAST if rest else ""):
        path = prefix.child(below.plain_name)
        if below.is_directory:
            yield Directory(path, below.total)
        else:
            yield entry(log, path, below, newest)


def _all(
    log: StoreLog, children: Children, prefix: MemoryPath, node: Node, newest: Newest, rest: str
) -> Iterator[Entry]:
    """Everything beneath ``node``, after the position ``rest`` relative to it ("": from the
    start); a position inside a directory goes on in there first."""
    name, slash, further = rest.partition("/")
    start = name + (slash or _PAST) if rest else ""
    for below in children(node, start):
        path = prefix.child(below.plain_name)
        if below.is_directory:
            inner = newest.or_of(below.head, below.updated)
            rest = further if below.name == start else ""
            yield from _all(log, children, path, below, inner, rest)
        else:
            yield entry(log, path, below, newest)
