"""Verify: everything in a log against everything else. Reads it all, changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from memoranda.digests import sha256
from memoranda.errors import Corrupt, MemorandaError
from memoranda.path import MemoryPath
from memoranda.stores.base import Problem, Report
from memoranda.stores.log import bodies, events
from memoranda.stores.log.chain import ChainCheck, feed
from memoranda.stores.log.database import NONSENSE, as_ours
from memoranda.stores.log.node import COLUMNS, Node, is_hidden

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.stores.log.connection import Connection
    from memoranda.stores.log.store_log import StoreLog

_WHOLE_DATABASE: Final = "PRAGMA integrity_check(1)"
"""Unlike quick_check it sees an index that leads past rows; rebuilding all contents takes longer."""
_DAMAGED: Final = "The database file is damaged."
_RESTORE: Final = "Restore the store from a copy; what other versions hold is still good."
_RECOUNT: Final = "Copy the store to a new one; contents and history are good."


def unreadable(error: Corrupt) -> Report:
    """What is said of a database that is too damaged to look into."""
    return Report((Problem("database", str(error), _RESTORE),), (), 0, 0)


def database(db: Connection) -> Report:
    """The database's own check, where no store is found in it."""
    problems = [
        Problem("database", _DAMAGED, _RESTORE)
        for (said,) in db.execute(_WHOLE_DATABASE)
        if said != "ok"
    ]
    return Report(tuple(problems), (), 0, 0)


class _Counted(NamedTuple):
    """What a directory holds, counted anew."""

    files: int
    total: int
    shown: int
    children: int
    grandchildren: int
    deep: int
    long: int


class Check:
    """One verification of one log.

    ``read_head`` gives the present content of a live file from where it is kept; it raises
    ``Corrupt`` (or any of our errors) for one that can't be had.
    """

    def __init__(self, log: StoreLog, read_head: Callable[[Node], bytes]) -> None:
        self._log = log
        self._read_head = read_head
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self._nodes: dict[int, Node] = {}
        self._children: dict[int, list[Node]] = {}

    def run(self) -> Report:
        """Check everything; what can't be read for damage is a problem, too."""
        root: Node | None = None
        try:
            self._check_database()
            root = self._load()
            self._check_events(root)
            for node in self._nodes.values():
                if node.parent is not None and node.parent not in self._nodes:
                    self._problem(
                        "orphan", "A file or directory lies in one that is missing.", _RESTORE
                    )
                self._check_versions(node)
            self._check_directory(root, ())
        except apsw.Error as error:
            ours = as_ours(error)
            if not isinstance(ours, Corrupt):
                raise ours from error
            self._is_damaged(ours)
        except (Corrupt, *NONSENSE) as error:
            self._is_damaged(error)
        files, versions = (0, 0) if root is None else (root.files or 0, root.versions)
        return Report(tuple(self.problems), tuple(self.notes), files, versions)

    def _load(self) -> Node:
        """Read all nodes; the root."""
        rows = self._log.db.execute(
            f"SELECT {COLUMNS} FROM node WHERE id >= ? AND id < ? ORDER BY id",
            (self._log.base, self._log.end),
        )
        for row in rows:
            node = Node(*row)
            self._nodes[node.id] = node
            if node.parent is not None and node.gone is None:
                self._children.setdefault(node.parent, []).append(node)
        return self._nodes[self._log.base]

    def _is_damaged(self, error: Exception) -> None:
        """Nothing more can be checked: say so, unless the same was said."""
        said = str(error) if isinstance(error, MemorandaError) else _DAMAGED
        if not any(problem.code == "database" for problem in self.problems):
            self._problem("database", said, _RESTORE)

    def _problem(
        self, code: str, message: str, remedy: str, path: MemoryPath | None = None
    ) -> None:
        self.problems.append(Problem(code, message, remedy, path))

    def _check_database(self) -> None:
        self.problems += database(self._log.db).problems

    # ---- the history

    def _check_events(self, root: Node) -> None:
        """Follow the hash chain and count."""
        log, chain = self._log, ChainCheck(self._log.id)
        versions = taken = 0
        for event in events.of_store(log):
            feed(chain, log, event)
            if event.node is not None and event.node not in self._nodes:
                self._problem("orphan", "A version belongs to no memory.", _RESTORE)
            versions += event.node is not None
            taken += events.stored_bytes(log, event)
        chain.end()
        self.problems += chain.problems
        if (versions, taken) != (root.versions, root.history):
            self._problem("counter", "The history's counters are wrong.", _RECOUNT)

    def _check_versions(self, node: Node) -> None:
        """Rebuild every content of a node, oldest first, each from the one before."""
        log = self._log
        known: dict[int, bytes] = {}
        steps = list(events.of_node(log, node.last))
        heads = [event.seq for event in steps if not event.late]
        if len(steps) != node.events or node.head != (heads[0] if heads else 0):
            self._problem("history", "The versions of a memory do not hang together.", _RESTORE)
        for event in reversed(steps):
            if event.sha is None:
                continue
            try:
                data = bodies.rebuilt(log, event.seq, known)
            except Corrupt:
                data = None
            if data is None or sha256(data).digest() != event.sha or len(data) != event.size:
                self._problem("version", "The content of a version is damaged.", _RESTORE)
            else:
                known = {event.seq: data} | {
                    seq: kept for seq, kept in known.items() if seq == event.base
                }

    # ---- the present

    def _check_directory(self, node: Node, names: tuple[str, ...]) -> _Counted:
        """Count a directory anew, from below."""
        files = total = shown = children = grandchildren = deep = long = 0
        for below in self._children.get(node.id, ()):
            path = (*names, below.plain_name)
            visible = not is_hidden(below.name or "")
            if below.is_directory:
                held = self._check_directory(below, path)
                files, total = files + held.files, total + held.total
                deep, long = max(deep, held.deep + 1), max(long, held.long + _bytes_of(below))
                if visible:
                    shown, children = shown + held.shown, children + 1
                    grandchildren += held.children
            else:
                self._check_file(below, path)
                files, total = files + 1, total + below.size
                deep, long = max(deep, 1), max(long, _bytes_of(below))
                if visible:
                    shown, children = shown + below.size, children + 1
        counted = _Counted(files, total, shown, children, grandchildren, deep, long)
        kept = (node.files, node.total, node.shown, node.children, node.grandchildren)
        if kept != counted[:5] or node.deep < deep or node.long < long:
            self._problem(
                "counter", "A directory's counters are wrong.", _RECOUNT, MemoryPath.of(names)
            )
        if names and not files:
            self._problem(
                "counter", "A directory without files is there.", _RECOUNT, MemoryPath.of(names)
            )
        return counted

    def _check_file(self, node: Node, names: tuple[str, ...]) -> None:
        path = MemoryPath.of(names)
        head = events.find(self._log, node.head)
        if head is None or (
            head.redacted_at is None
            and ((head.size, head.sha, head.node) != (node.size, node.sha, node.id))
        ):
            self._problem("head", "A memory differs from its newest version.", _RESTORE, path)
        try:
            data = self._read_head(node)
        except Corrupt:
            data = None
        if data is None or sha256(data).digest() != node.sha:
            self._problem("content", "The content of a memory is damaged.", _RESTORE, path)


def _bytes_of(node: Node) -> int:
    return len(node.plain_name.encode()) + 1
