"""Reading the present: contents, entries, the node of an id."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import IsADirectory, NotFound, UnknownId
from memoranda.path import MAX_SEGMENTS, MemoryPath
from memoranda.stores.base import Content, Entry, Usage
from memoranda.stores.log import ids
from memoranda.stores.log.node import COLUMNS, Node
from memoranda.stores.log.pieces import PIECE_BYTES
from memoranda.stores.log.sql_heads import read_range
from memoranda.stores.log.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.log.store_log import StoreLog

_CHILDREN: Final = f"SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NULL ORDER BY name"


class Newest(NamedTuple):
    """The newest event among a node and the directories above it, and its time: the move of a
    directory is a version of everything beneath."""

    seq: int
    at: int

    def or_of(self, seq: int, at: int) -> Newest:
        """This one, or that of a node below if it is newer."""
        return Newest(seq, at) if seq > self.seq else self


NEVER: Final = Newest(0, 0)


@lru_cache(maxsize=MAX_SEGMENTS)
def _content_at_depth(depth: int) -> str:
    """One statement that walks ``depth`` names and takes what a small content's read needs."""
    joins = "".join(
        f" JOIN node n{i} ON n{i}.parent = n{i - 1}.id AND n{i}.name = ? AND n{i}.gone IS NULL"
        for i in range(2, depth + 1)
    )
    last = f"n{depth}"
    return (
        f"SELECT {last}.id, {last}.body, {last}.full, {last}.size,"
        f" CASE WHEN {last}.size > {PIECE_BYTES} THEN NULL"
        f" WHEN {last}.body = {last}.full THEN (SELECT body FROM event WHERE seq = {last}.body)"
        f" ELSE (SELECT data FROM head WHERE node = {last}.id) END"
        f" FROM node n1{joins} WHERE n1.parent = ? AND n1.name = ? AND n1.gone IS NULL"
    )


def read(log: StoreLog, path: MemoryPath, start: int, length: int | None) -> Content:
    """What ``Store.read`` promises, where the contents lie in the database.

    One statement for contents of up to one piece; a larger one takes a second, so the caller has
    to hold a read transaction if others write.
    """
    row = None
    if path.segments:
        *directories, name = path.segments
        first, *rest = *(directory + "/" for directory in directories), name
        values = (*rest, log.base, first)
        row = log.db.execute(_content_at_depth(len(values) - 1), values).fetchone()
    if row is None:
        if Tree(log, 0).walk(path).node is not None:
            raise IsADirectory(path)
        raise NotFound(path)
    node, body, full, size, data = row
    begin = min(max(start, 0), size)
    end = size if length is None else min(size, begin + max(length, 0))
    if not isinstance(data, bytes) or len(data) != size:
        data = read_range(log.db, node, body, full, size, begin, end)
    elif end - begin != size:
        data = data[begin:end]
    return Content(data, size, body)


def entry(log: StoreLog, path: MemoryPath, node: Node, newest: Newest) -> Entry:
    """A file's row as an entry; ``newest`` is that of the directories above."""
    seq, at = newest.or_of(node.head, node.updated)
    return Entry(
        path=path,
        memory_id=ids.memory_id(log, node.id),
        version_id=ids.version_id(log, seq, node.id),
        size_bytes=node.size,
        sha256=(node.sha or b"").hex(),
        created_at_ns=node.created,
        updated_at_ns=at,
    )


def stat(log: StoreLog, path: MemoryPath) -> Entry:
    """What ``Store.stat`` promises."""
    found = Tree(log, 0).walk(path)
    if found.node is None:
        raise NotFound(path)
    if found.node.is_directory:
        raise IsADirectory(path)
    return entry(log, path, found.node, newest_of(found.chain))


def newest_of(chain: list[Node]) -> Newest:
    """The newest move among directories."""
    newest = NEVER
    for directory in chain:
        newest = newest.or_of(directory.head, directory.updated)
    return newest


def locate(log: StoreLog, memory_id: str) -> Entry:
    """What ``Store.locate`` promises."""
    number = ids.node_of(log, memory_id)
    tree = Tree(log, 0)
    node = None if number is None else tree.get(number)
    chain = None if node is None or node.is_directory else tree.chain_of(node)
    if node is None or chain is None:
        raise UnknownId("memory")
    path = MemoryPath.of(tuple(step.plain_name for step in (*chain[1:], node)))
    return entry(log, path, node, newest_of(chain))


def contents(log: StoreLog, prefix: MemoryPath) -> Iterator[tuple[MemoryPath, bytes]]:
    """The memory at ``prefix``, or all beneath it in listing order, with their contents."""
    node = Tree(log, 0).walk(prefix).node
    if node is not None:
        yield from _contents(log, prefix, node)


def _contents(log: StoreLog, path: MemoryPath, node: Node) -> Iterator[tuple[MemoryPath, bytes]]:
    if node.is_directory:
        for row in log.db.execute(_CHILDREN, (node.id,)):
            below = Node(*row)
            yield from _contents(log, path.child(below.plain_name), below)
    else:
        yield path, read_range(log.db, node.id, node.body, node.full, node.size, 0, node.size)


def uses(log: StoreLog) -> dict[MemoryPath, int]:
    """What ``Store.uses`` promises; looks at every row of a file."""
    tree = Tree(log, 0)
    found: dict[MemoryPath, int] = {}
    rows = log.db.execute(
        f"SELECT {COLUMNS} FROM node WHERE id > ? AND id < ? AND used IS NOT NULL",
        (log.base, log.end),
    ).fetchall()
    for row in rows:
        node = Node(*row)
        path = tree.path_of(node)
        if path is not None:
            found[path] = node.used or 0
    return found


def usage(log: StoreLog) -> Usage:
    """What ``Store.usage`` promises."""
    root = Tree(log, 0).root
    return Usage(root.files or 0, root.total, root.versions, root.history)
