"""A log in memory to try things on, without a backend around it."""

from __future__ import annotations

from collections.abc import Callable

from memoranda.path import MemoryPath
from memoranda.stores.base import Change, Context, Edit, Move, Put, Remove, Report, Version
from memoranda.stores.log import redaction, schema
from memoranda.stores.log.check import Check
from memoranda.stores.log.connection import Connection
from memoranda.stores.log.database import open_connection
from memoranda.stores.log.heads import Heads
from memoranda.stores.log.node import COLUMNS, Node, values_of
from memoranda.stores.log.remembered import Remembered
from memoranda.stores.log.replay import steps_of, tree_events
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.store_log import Image, StoreLog
from memoranda.stores.log.text import Text
from memoranda.stores.log.transaction import Transaction
from memoranda.stores.log.tree import Tree
from memoranda.stores.log.turn import Turn
from memoranda.text.splice import Splice

START_NS = 1_700_000_000 * 10**9
AGENT = Context(actor="agent", command="test")
OFFICER = Context(actor="officer", command="redact")


def p(store_path: str) -> MemoryPath:
    """The path that is spelled ``/a/b`` in the store."""
    return MemoryPath.of(tuple(name for name in store_path.split("/") if name))


def put(path: str, content: bytes | str = b"x") -> Put:
    """A Put of bytes or text."""
    return Put(p(path), content.encode() if isinstance(content, str) else content)


def move(source: str, target: str) -> Move:
    """A Move."""
    return Move(p(source), p(target))


def remove(path: str) -> Remove:
    """A Remove."""
    return Remove(p(path))


def splice(path: str, start: int, end: int, middle: bytes) -> Edit:
    """An Edit that replaces bytes ``start`` to ``end``."""
    return Edit(p(path), lambda old: Splice(start, end, middle))


def append(path: str, more: bytes) -> Edit:
    """An Edit that adds to the end."""
    return Edit(p(path), lambda old: Splice(len(old), len(old), more))


class Rig:
    """One store, and a clock that stands still until told."""

    def __init__(self, number: int = 0) -> None:
        self.db: Connection = open_connection(":memory:")
        schema.create(self.db)
        self.log = StoreLog.make(self.db, number, f"memstore_{number}", START_NS)
        self.now: int = START_NS
        self.heads: Heads = SqlHeads(self.log)
        self.remembered: Remembered | None = None

    def turn(self, work: Callable[[Turn], object], *, archived: bool = False) -> Turn:
        """One transaction, which begins with what the one before left in memory.

        Whatever it does, what it tells from memory is what the database says.
        """
        self.db.execute("BEGIN IMMEDIATE")
        remembered, self.remembered = self.remembered, None
        try:
            turn = Turn(self.log, self.heads, self.now, archived=archived, remembered=remembered)
            before = turn.last_seq
            work(turn)
            turn.finish()
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")
        self.remembered = turn.remember()
        assert steps_of(turn, before) == tree_events(self.log, before)
        self.check_memory(turn.tree)
        return turn

    def check_memory(self, tree: Tree) -> None:
        """The nodes and places of a tree that is settled are those of the database."""
        nodes = tree._nodes  # pyright: ignore[reportPrivateUsage]
        places = tree._places  # pyright: ignore[reportPrivateUsage]
        for number, node in nodes.items():
            (row,) = self.rows(f"SELECT {COLUMNS} FROM node WHERE id = ?", number)
            assert values_of(node) == row
        for (parent, name), found in places.items():
            here = self.value(
                "SELECT id FROM node WHERE parent = ? AND name = ? AND gone IS NULL", parent, name
            )
            assert here == (None if found is None else found.id), (parent, name)

    def apply(self, *changes: Change, by: Context = AGENT) -> tuple[Version, ...]:
        """One command in a transaction of its own."""
        versions: list[tuple[Version, ...]] = []
        self.turn(lambda turn: versions.append(turn.run(changes, by)))
        return versions[0]

    def one(self, change: Change) -> Version:
        """One change that makes one version."""
        (version,) = self.apply(change)
        return version

    def redact(self, version: Version, by: Context = OFFICER) -> Version:
        """Blank a version, with the entry that says so."""
        with Transaction(self.db):
            left, _ = redaction.redact(self.log, self.heads, version.id, by, self.now)
        return left

    def check(self) -> Report:
        """Verify everything."""
        return Check(self.log, self.heads.read).run()

    def codes(self) -> list[str]:
        """What verify finds, by code."""
        return sorted({problem.code for problem in self.check().problems})

    def value(self, query: str, *values: object) -> object:
        """The first value of a query."""
        return self.db.execute(query, values).get

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """All rows of a query."""
        return self.db.execute(query, values).fetchall()


class TreeOfImages:
    """Heads that give each content an image, as a tree of files does, and write down the calls."""

    def __init__(self, log: StoreLog) -> None:
        self._kept = SqlHeads(log)
        self.calls: list[tuple[str, int, bytes]] = []
        self._next_ino = 100

    def read(self, node: Node) -> bytes:
        """The present content."""
        return self._kept.read(node)

    def store(self, node: Node, seq: int, text: Text) -> Image:
        """Keep it and give it an image."""
        self._kept.store(node, seq, text)
        self.calls.append(("store", seq, text.whole()))
        self._next_ino += 1
        return Image(self._next_ino, self._next_ino * 1000)

    def drop(self, node: Node) -> None:
        """Forget it."""
        self._kept.drop(node)
        self.calls.append(("drop", node.id, b""))
