"""Sorted maps of any size out of small objects that never change: trees that are copied as they are
written.

A leaf holds up to ``MOST`` keys with their rows, an inner node as many children, each with its lowest
key, its name, and the number of rows and their weight beneath. A change writes the leaf anew and the
nodes above it, under new names; whoever holds the old root goes on reading the old tree.

Keys are texts or whole numbers, of one kind in each tree; a span of keys is ``low <= key < high``.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from memoranda.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MOST: Final = 64
"""Keys in a node. Of 150 bytes each: what a write of one row costs, times the tree's height."""

Key: TypeAlias = Any
Row: TypeAlias = "list[Any]"


class Root(NamedTuple):
    """A node's name, and how many rows lie in it or beneath, of what weight."""

    name: str
    rows: int
    weight: int


class Node(NamedTuple):
    """``height`` 0 is a leaf, whose values are rows; above it they are children."""

    height: int
    keys: list[Key]
    values: list[Any]

    def encode(self) -> bytes:
        """The node as it is stored."""
        return json.dumps(
            {"height": self.height, "keys": self.keys, "values": self.values},
            separators=(",", ":"),
        ).encode()

    @classmethod
    def decode(cls, data: bytes) -> Node:
        """A stored node; raises ``Corrupt``."""
        try:
            said = json.loads(data)
            height, keys, values = said["height"], said["keys"], said["values"]
            if height:
                values = [Root(*value) for value in values]
            if len(keys) != len(values) or not keys:
                raise ValueError
        except (ValueError, TypeError, KeyError) as error:
            raise Corrupt("A page of the store's index can't be read.") from error
        return cls(height, keys, values)


class Nodes(Protocol):
    """Where nodes are read."""

    async def load(self, names: Sequence[str]) -> list[Node]:
        """The nodes of these names, all at once."""
        ...


class Growing(Nodes, Protocol):
    """Where nodes are made, too."""

    def make(self, node: Node) -> str:
        """Name a new node, which is written with the batch."""
        ...


# ---------------------------------------------------------------- reading


async def get_many(nodes: Nodes, root: Root | None, keys: Iterable[Key]) -> dict[Key, Row]:
    """The rows of those keys that are there; one round trip a level."""
    found: dict[Key, Row] = {}
    wanted = sorted(set(keys))
    level = [(root.name, wanted)] if root is not None and wanted else []
    while level:
        loaded = await nodes.load([name for name, _ in level])
        below: dict[str, list[Key]] = {}
        for node, (_, mine) in zip(loaded, level, strict=True):
            for key in mine:
                at = bisect_right(node.keys, key) - 1
                if at < 0:
                    continue
                if node.height:
                    below.setdefault(node.values[at].name, []).append(key)
                elif node.keys[at] == key:
                    found[key] = node.values[at]
        level = list(below.items())
    return found


async def span(nodes: Nodes, root: Root | None, low: Key, high: Key) -> list[tuple[Key, Row]]:
    """All rows of a span, in order; one round trip a level (of at most 16 requests at once)."""
    level = [] if root is None else [root.name]
    rows: list[tuple[Key, Row]] = []
    while level:
        below: list[str] = []
        for node in await nodes.load(level):
            first, last = _reach(node, low, high)
            if node.height:
                below += [child.name for child in node.values[first:last]]
            else:
                rows += zip(node.keys[first:last], node.values[first:last], strict=True)
        level = below
    return rows


async def some(
    nodes: Nodes, root: Root | None, low: Key, high: Key, limit: int, *, newest_first: bool = False
) -> list[tuple[Key, Row]]:
    """The first ``limit`` rows of a span, or its last ones from the end back; leaf after leaf."""
    rows: list[tuple[Key, Row]] = []
    stack = [] if root is None else [root.name]
    while stack and len(rows) < limit:
        (node,) = await nodes.load([stack.pop()])
        first, last = _reach(node, low, high)
        if node.height:
            names = [child.name for child in node.values[first:last]]
            stack += names if newest_first else reversed(names)
        else:
            found = list(zip(node.keys[first:last], node.values[first:last], strict=True))
            rows += reversed(found) if newest_first else found
    return rows[:limit]


async def measure(nodes: Nodes, root: Root | None, low: Key, high: Key) -> tuple[int, int]:
    """How many rows a span has, and their weight: the sum of their first fields, where those are
    numbers. Reads the nodes at the two ends only."""
    count = weight = 0
    level = [] if root is None else [root]
    while level:
        below: list[Root] = []
        for node in await nodes.load([one.name for one in level]):
            first, last = _reach(node, low, high)
            if not node.height:
                count += last - first
                weight += sum(_own_weight(row) for row in node.values[first:last])
                continue
            for at in range(first, last):
                child: Root = node.values[at]
                is_whole = node.keys[at] >= low and (
                    at + 1 < len(node.keys) and node.keys[at + 1] <= high
                )
                if is_whole:
                    count, weight = count + child.rows, weight + child.weight
                else:
                    below.append(child)
        level = below
    return count, weight


async def names_of(nodes: Nodes, root: Root | None) -> set[str]:
    """The names of all nodes of a tree; reads no leaf."""
    found: set[str] = set()
    level = [] if root is None else [root.name]
    while level:
        found.update(level)
        below: list[str] = []
        for node in await nodes.load(level):
            names = [child.name for child in node.values] if node.height else []
            if node.height == 1:
                found.update(names)
            else:
                below += names
        level = below
    return found


def _reach(node: Node, low: Key, high: Key) -> tuple[int, int]:
    """Which of a node's values a span may touch."""
    last = bisect_left(node.keys, high)
    first = bisect_left(node.keys, low)
    if node.height and (first == len(node.keys) or node.keys[first] != low):
        first = max(0, first - 1)
    return first, max(first, last)


# ---------------------------------------------------------------- writing


async def update(
    nodes: Growing,
    root: Root | None,
    changes: Mapping[Key, Row | None],
) -> Root | None:
    """The tree with other rows: each key's new row, or None to remove it. None: no row is left."""
    if not changes:
        return root
    ordered = sorted(changes.items())
    if root is None:
        made = _leaves(nodes, [], ordered)
    else:
        made = await _updated(nodes, root, ordered)
    height = 1 if root is None else (await nodes.load([root.name]))[0].height + 1
    while len(made) > 1:
        made = _nodes(nodes, height, made, appends=False)
        height += 1
    if not made:
        return None
    top = made[0][1]
    while True:
        (node,) = await nodes.load([top.name])
        if not node.height or len(node.values) > 1:
            return top
        top = node.values[0]


async def _updated(
    nodes: Growing, root: Root, changes: Sequence[tuple[Key, Row | None]]
) -> list[tuple[Key, Root]]:
    """What stands in a node's place: itself anew, several where it grew, none where it is empty."""
    (node,) = await nodes.load([root.name])
    if not node.height:
        return _leaves(nodes, list(zip(node.keys, node.values, strict=True)), changes)
    parts: dict[int, list[tuple[Key, Row | None]]] = {}
    for change in changes:
        parts.setdefault(max(0, bisect_right(node.keys, change[0]) - 1), []).append(change)
    await nodes.load([node.values[at].name for at in parts])  # all at once; they are kept
    children: list[tuple[Key, Root]] = []
    for at, (key, child) in enumerate(zip(node.keys, node.values, strict=True)):
        mine = parts.get(at)
        children += [(key, child)] if mine is None else await _updated(nodes, child, mine)
    return _nodes(nodes, node.height, children, appends=max(parts) == len(node.keys) - 1)


def _leaves(
    nodes: Growing, rows: list[tuple[Key, Row]], changes: Sequence[tuple[Key, Row | None]]
) -> list[tuple[Key, Root]]:
    merged = dict(rows)
    for key, row in changes:
        if row is None:
            merged.pop(key, None)
        else:
            merged[key] = row
    appends = not rows or changes[0][0] > rows[-1][0]
    return _nodes(nodes, 0, sorted(merged.items(), key=_key), appends=appends)


def _key(pair: tuple[Key, Any]) -> Key:
    return pair[0]


def _nodes(
    nodes: Growing, height: int, pairs: list[tuple[Key, Any]], *, appends: bool
) -> list[tuple[Key, Root]]:
    """Nodes of at most ``MOST`` pairs: full ones where a tree grows at its end, else even ones."""
    if not pairs:
        return []
    if len(pairs) <= MOST or appends:
        size = MOST
    else:
        parts = -(-len(pairs) * 4 // (MOST * 3))
        size = -(-len(pairs) // parts)
    made: list[tuple[Key, Root]] = []
    weigh: Callable[[Any], int] = _child_weight if height else _own_weight
    for start in range(0, len(pairs), size):
        some_pairs = pairs[start : start + size]
        values = [value for _, value in some_pairs]
        count = sum(value.rows for value in values) if height else len(values)
        name = nodes.make(Node(height, [key for key, _ in some_pairs], values))
        made.append((some_pairs[0][0], Root(name, count, sum(map(weigh, values)))))
    return made


def _child_weight(child: Root) -> int:
    return child.weight


def _own_weight(row: Row) -> int:
    """A row's weight: its first field, by the rule of every tree here."""
    first = row[0]
    return first if type(first) is int else 0
