"""Names, places and counters of a store, inside one transaction.

A ``Tree`` reads rows of ``node`` as they are needed, changes them in memory, can undo what a
command did to them, and writes them at the end. It knows no contents and no events.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.errors import Unavailable, UnknownId
from memoranda.path import MemoryPath
from memoranda.stores.log.node import COLUMNS, FIELDS, Node, is_hidden, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.log.store_log import StoreLog

_BY_ID: Final = f"SELECT {COLUMNS} FROM node WHERE id = ?"
_ONE_NAME: Final = f"SELECT {COLUMNS} FROM node WHERE parent = ?1 AND gone IS NULL AND name = "
# Not ``IN``, for which SQLite makes a table of the two names first (2 us).
_BY_NAME: Final = f"{_ONE_NAME} ?2 UNION ALL {_ONE_NAME} ?3"
_BENEATH: Final = f"SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NULL ORDER BY name"
_INSERT: Final = f"INSERT INTO node({COLUMNS}) VALUES({', '.join('?' * len(FIELDS))})"
_SET: Final = f"UPDATE node SET {', '.join(f'{field} = ?' for field in FIELDS[4:])} WHERE id = ?"
_SET_ALL: Final = (
    f"UPDATE node SET {', '.join(f'{field} = ?' for field in FIELDS[1:])} WHERE id = ?"
)
_FREE: Final = "UPDATE node SET parent = NULL WHERE id = ?"
_UNKNOWN: Final = Node(-1, None, None)  # stands for a place that was not looked up yet
_MOST_PLACES: Final = 512
"""So many places are remembered between transactions: about 0.2 MB."""
_place_and_content = itemgetter(*map(FIELDS.index, ("parent", "name", "gone", "size", "sha")))


class Found(NamedTuple):
    """What a walk along a path met: the directories that exist, from the root down to the parent
    (or to where it broke off), the node at the end, and the file that stood in the way."""

    chain: list[Node]
    node: Node | None
    blocker: Node | None


class Tree:
    """The nodes of one store as a transaction sees and changes them.

    ``number`` hands out the store's next numbers, for events and new nodes alike; parents are
    numbered before the event that needs them, so that the newest event has the highest number.
    """

    __slots__ = (
        "_before",
        "_before_next",
        "_before_places",
        "_fresh",
        "_moved",
        "_next",
        "_nodes",
        "_places",
        "_touched",
        "_touched_now",
        "_walked",
        "log",
        "root",
    )

    def __init__(self, log: StoreLog, next_number: int) -> None:
        self.log = log
        self._next = next_number
        self._nodes: dict[int, Node] = {}
        self._places: dict[tuple[int, str], Node | None] = {}
        self._fresh: set[int] = set()
        self._moved: set[int] = set()
        self._touched: set[int] = set()
        self._touched_now: list[int] = []
        self._before: dict[int, tuple[Any, ...] | None] = {}
        self._before_places: dict[tuple[int, str], Node | None] = {}
        self._before_next = next_number
        self._walked: tuple[MemoryPath, Found] | None = None
        root = self.get(log.base)
        if root is None:
            raise UnknownId("store")  # erased
        self.root = root

    # ---- one command

    def begin(self) -> None:
        """From here on ``undo`` brings everything back."""
        self._before.clear()
        self._before_places.clear()
        self._touched_now.clear()
        self._before_next = self._next

    def undo(self) -> None:
        """Bring back what was at the last ``begin``."""
        self._walked = None
        for number in self._before:
            self._restore(number)
        self._touched.difference_update(self._touched_now)
        for place, was in self._before_places.items():
            if was is _UNKNOWN:
                del self._places[place]
            else:
                self._places[place] = was
        self._next = self._before_next
        self.begin()  # else what is touched from here on would count as touched already

    def _restore(self, number: int) -> None:
        before = self._before[number]
        if before is not None:
            node = self._nodes[number]
            for field, value in zip(FIELDS, before, strict=True):
                setattr(node, field, value)
        elif self._nodes.pop(number, None) is not None:
            for numbers in (self._fresh, self._touched, self._moved):
                numbers.discard(number)

    def restore(self, node: Node) -> None:
        """Make a node as it was at the last ``begin``; directories and places stay as they are."""
        self._restore(node.id)

    def forget(self, node: Node) -> None:
        """A node's row was removed for good."""
        self._nodes.pop(node.id, None)
        self._touched.discard(node.id)

    def is_new(self, node: Node) -> bool:
        """Whether this transaction made the node."""
        return node.id in self._fresh

    def is_as_before(self, node: Node) -> bool:
        """Whether place and content of a node, which was touched since the last ``begin``, are
        those of then."""
        before = self._before[node.id]
        return before is not None and _place_and_content(before) == _place_and_content(
            values_of(node)
        )

    @property
    def has_changed(self) -> bool:
        """Whether any row has to be written."""
        return bool(self._touched or self._fresh)

    @property
    def next_number(self) -> int:
        """What ``number`` will give next."""
        return self._next

    def number(self) -> int:
        """The next number of the store."""
        number = self._next
        if number >= self.log.end:
            raise Unavailable("The store has used up its numbers; copy it to a new one.")
        self._next = number + 1
        return number

    def touch(self, node: Node) -> None:
        """``node`` is about to change: remember what it was, and to write it."""
        number = node.id
        self._walked = None
        if number not in self._before:
            self._before[number] = values_of(node)
        if number not in self._touched:
            self._touched.add(number)
            self._touched_now.append(number)

    # ---- looking

    def get(self, number: int) -> Node | None:
        """The node with this number, live or gone."""
        node = self._nodes.get(number)
        if node is None:
            row = self.log.db.execute(_BY_ID, (number,)).fetchone()
            if row is not None:
                node = self._nodes[number] = Node(*row)
        return node

    def child(self, parent: Node, name: str) -> Node | None:
        """The live file or directory ``name`` (without slash) in a directory."""
        as_file, as_directory = (parent.id, name), (parent.id, name + "/")
        places = self._places
        if as_file not in places or as_directory not in places:
            self._load(parent, as_file, as_directory)
        found = places[as_file]
        if found is None:
            found = places[as_directory]
            if found is not None and not found.files:
                return None
        return found

    def _load(self, parent: Node, as_file: tuple[int, str], as_directory: tuple[int, str]) -> None:
        places = self._places
        places.setdefault(as_file, None)
        places.setdefault(as_directory, None)
        if parent.id in self._fresh:
            return
        for row in self.log.db.execute(_BY_NAME, (parent.id, as_file[1], as_directory[1])):
            node = self._nodes.get(row[0])
            if node is None:
                node = self._nodes[row[0]] = Node(*row)
            elif (node.gone, node.parent, node.name) != (None, parent.id, row[2]):
                continue  # moved or removed in this transaction
            places[parent.id, row[2]] = node

    def walk(self, path: MemoryPath) -> Found:
        """Follow a path from the root."""
        walked = self._walked
        if walked is None or walked[0] is not path:
            self._walked = walked = path, self._walk(path)
        return walked[1]

    def _walk(self, path: MemoryPath) -> Found:
        node = self.root
        chain: list[Node] = []
        for name in path.segments:
            if not node.is_directory:
                return Found(chain, None, node)
            chain.append(node)
            found = self.child(node, name)
            if found is None:
                return Found(chain, None, None)
            node = found
        return Found(chain, node, None)

    def chain_of(self, node: Node) -> list[Node] | None:
        """The directories above a node, root first; None when it is gone or lies beneath one that
        is."""
        chain: list[Node] = []
        while node.parent is not None:
            if node.gone is not None:
                return None
            above = self.get(node.parent)
            if above is None:
                return None
            chain.append(above)
            node = above
        chain.reverse()
        return chain

    def path_of(self, node: Node) -> MemoryPath | None:
        """Where a live node lives."""
        names = self.names_of(node)
        return None if names is None else MemoryPath.of(names)

    def names_of(self, node: Node) -> tuple[str, ...] | None:
        """The names on the way to a live node, its own last; None when it is gone, too."""
        names: list[str] = []
        nodes = self._nodes
        while node.parent is not None:
            above = nodes.get(node.parent) or self.get(node.parent)
            if node.gone is not None or above is None:
                return None
            name = node.name or ""
            names.append(name if node.files is None else name[:-1])
            node = above
        names.reverse()
        return tuple(names)

    def beneath(self, directory: Node) -> Iterator[Node]:
        """The live children of a directory, by name as far as the database knows them."""
        seen: set[int] = set()
        if directory.id not in self._fresh:
            for row in self.log.db.execute(_BENEATH, (directory.id,)):
                node = self._nodes.get(row[0]) or Node(*row)
                seen.add(node.id)
                if node.parent == directory.id and node.gone is None:
                    yield node
        for node in list(self._nodes.values()):
            if node.parent == directory.id and node.gone is None and node.id not in seen:
                yield node

    # ---- changing

    def make_file(self, parent: Node, name: str, number: int, at_ns: int) -> Node:
        """A new file's row; ``attach`` puts it in."""
        return self._make(Node(number, parent.id, name, created=at_ns))

    def make_parents(self, chain: list[Node], path: MemoryPath, at_ns: int) -> list[Node]:
        """The directories above ``path``, of which ``chain`` exist; the others are made (empty, so
        not there until something is attached)."""
        chain = list(chain)
        for name in path.segments[len(chain) - 1 : -1]:
            parent = chain[-1]
            key = (parent.id, name + "/")
            node = self._places.get(key)
            if node is None:
                node = Node(self.number(), parent.id, name + "/", created=at_ns, files=0)
                self._make(node)
                self._place(key, node)
            chain.append(node)
        return chain

    def _make(self, node: Node) -> Node:
        self._walked = None
        self._before[node.id] = None
        self._nodes[node.id] = node
        self._fresh.add(node.id)
        return node

    def _place(self, key: tuple[int, str], node: Node | None) -> None:
        self._walked = None
        if key not in self._before_places:
            self._before_places[key] = self._places.get(key, _UNKNOWN)
        self._places[key] = node

    def _leave(self, node: Node) -> None:
        here = node.parent or self.root.id, node.name or ""
        if self._places.get(here) is node:
            self._place(here, None)

    def attach(self, node: Node, chain: list[Node]) -> None:
        """Count a node, whose place is set, into the directories above it."""
        self._count(node, chain, 1)
        assert node.name is not None
        self._place((chain[-1].id, node.name), node)
        deep, long = (node.deep, node.long) if node.is_directory else (0, 0)
        files = 1 if node.files is None else node.files
        below = node
        for above in reversed(chain):
            deep += 1
            long += len(below.plain_name.encode()) + 1
            if deep > above.deep:
                above.deep = deep
            if long > above.long:
                above.long = long
            if not above.files:
                above.gone = None
                self._moved.add(above.id)
            above.files = (above.files or 0) + files
            below = above

    def detach(self, node: Node, chain: list[Node], seq: int) -> None:
        """Count a node out of the directories above it; those that it leaves empty go by ``seq``."""
        self._place((chain[-1].id, node.name or ""), None)
        files = 1 if node.files is None else node.files
        for above in chain:
            self.touch(above)
            above.files = (above.files or 0) - files
        self._count(node, chain, -1)
        for above in chain[1:]:
            if not above.files:
                above.gone = seq
                self._moved.add(above.id)

    def _count(self, node: Node, chain: list[Node], sign: int) -> None:
        """Adjust sizes and visible children; ``files`` is as without the node."""
        total, shown = (node.total, node.shown) if node.is_directory else (node.size, node.size)
        below, appears, under = node, True, node.children
        for index in range(len(chain) - 1, -1, -1):
            above = chain[index]
            self.touch(above)
            visible = not is_hidden(below.name or "")
            if not visible:
                shown = 0
            above.total += sign * total
            above.shown += sign * shown
            if appears and visible:
                above.children += sign
                above.grandchildren += sign * under
                if index and not is_hidden(above.name or ""):
                    self.touch(chain[index - 1])
                    chain[index - 1].grandchildren += sign
            appears = appears and index > 0 and not above.files
            below, under = above, 0

    def resize(self, node: Node, chain: list[Node], size: int) -> None:
        """A file gets another size."""
        more = size - node.size
        node.size = size
        shown = more
        below = node
        for above in reversed(chain if more else ()):
            if is_hidden(below.name or ""):
                shown = 0
            self.touch(above)
            above.total += more
            above.shown += shown
            below = above

    def move(self, node: Node, parent: Node, name: str) -> None:
        """Give a node (detached, or gone with its directory) another place; attach it then."""
        self.touch(node)
        self._leave(node)
        node.parent, node.name, node.gone = parent.id, name, None
        self._moved.add(node.id)

    def remove(self, node: Node, seq: int) -> None:
        """A node (detached) goes by an event."""
        self.touch(node)
        node.gone = seq
        self._moved.add(node.id)

    # ---- writing

    def write(self, last_seq: int) -> None:
        """Write every row that changed. ``last_seq`` is the newest event: directories that were
        made and left again for events that came to nothing are not written."""
        execute = self.log.db.execute
        nodes = self._nodes
        moved = sorted(self._moved - self._fresh)
        if len(moved) > 1:
            for number in moved:
                execute(_FREE, (number,))
        for number in moved:
            execute(_SET_ALL, (*values_of(nodes[number])[1:], number))
        for number in sorted(self._fresh):
            node = nodes[number]
            if node.gone is None or number <= last_seq:
                execute(_INSERT, values_of(node))
        for number in self._touched - self._fresh - self._moved:
            execute(_SET, (*values_of(nodes[number])[4:], number))

    def settle(self, last_seq: int) -> bool:
        """What was written is committed, or nothing was done: the next transaction may begin with
        this tree. False where it holds so much that it had better be read anew."""
        self._walked = None
        for number in self._moved | self._fresh:
            node = self._nodes[number]
            if node.gone is None:
                continue
            # Gone from its place; one that came to nothing was not written at all.
            self._leave(node)
            if number > last_seq:
                del self._nodes[number]
        for numbers in (self._fresh, self._moved, self._touched):
            numbers.clear()
        self._next = last_seq + 1
        self.begin()
        return len(self._places) <= _MOST_PLACES
