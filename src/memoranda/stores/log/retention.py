"""Letting old history go, a little with each turn.

A file's history is kept in stretches: a whole body and the deltas up to the next whole body. Only
whole stretches go, oldest first, so that nothing has to be written anew. Two things look for them:

- a file that begins a new stretch looks at its own oldest one;
- every so many events a sweep goes on through the store's events from where it stopped, up to the
  first that is too young: it thins the files it meets, forgets removed ones once their removal is
  old enough, and old audit entries.

An event that goes leaves its chain value with the event that follows, so that the hash chain can
still be checked, and a new entry of the audit says what went (``gone.py``). The newest event of a
store always stays.
"""

from __future__ import annotations

import json
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from memoranda.stores.base import Retention
from memoranda.stores.log import events, holds
from memoranda.stores.log.gone import Gone
from memoranda.stores.log.node import COLUMNS, Node
from memoranda.stores.log.schema import WENT_AWAY
from memoranda.stores.log.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memoranda.stores.log.store_log import StoreLog

SWEEP_EVERY: Final = 64
"""A sweep comes with each so many numbers of a store."""
SWEEP_EVENTS: Final = 256
"""How many events one sweep looks at."""
MOST_DROPPED: Final = 512
"""After so many events are dropped a turn lets it be: the next one goes on."""
ACTOR: Final = "retention"
"""Who the audit says it was, and by which command."""
VACUUM_PAGES: Final = 64
_BEFORE: Final = "SELECT max(seq) FROM event WHERE seq < ? AND seq > ?"
_AFTER: Final = "SELECT min(seq) FROM event WHERE seq > ?"
DAY_NS: Final = 86_400 * 1_000_000_000


DEFAULT_RETENTION: Final = Retention(budget_bytes=100 * 1024 * 1024)
"""The budget is ten times the bytes that a store may hold by default."""


class Thinning:
    """One turn's share of the work; runs in the turn's transaction, after its rows are written.

    ``now_ns`` is the turn's time, ``before_ns`` that of the newest event before the turn: after a
    jump of the clock by more than ``keep_days`` age counts for nothing in this turn. Events after
    ``keep_after_seq`` stay whatever else holds.
    """

    def __init__(
        self,
        log: StoreLog,
        retention: Retention,
        now_ns: int,
        before_ns: int,
        keep_after_seq: int | None = None,
    ) -> None:
        self._log = log
        self._tree = Tree(log, 0)
        self._retention = retention
        keep_ns = retention.keep_days * DAY_NS
        self._cutoff = now_ns - keep_ns if keep_ns and now_ns - before_ns <= keep_ns else -1
        before_last = log.last_seq() - 1
        self._last = before_last if keep_after_seq is None else min(before_last, keep_after_seq)
        """The newest event that may go."""
        self._room = MOST_DROPPED
        self._now = now_ns
        self._gone = Gone()
        self._held = [hold.path.segments for hold in holds.of_store(log)]

    def run(self, files: Iterable[int], *, sweep: bool) -> events.Event | None:
        """Look at ``files`` (numbers of nodes), and sweep on if it is time.

        Returns the entry that says what went, written already; None if nothing did.
        """
        if () in self._held:
            return None
        for node in filter(None, map(self._tree.get, files)):
            self._thin(node)
        if sweep:
            self._sweep()
        said = self._say() if self._gone else None
        self._tree.write(self._last)
        if self._room < MOST_DROPPED:
            self._log.db.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()
        return said

    def _say(self) -> events.Event:
        """Write the entry of the audit that says what went."""
        log, root = self._log, self._tree.root
        newest = log.last_event()
        assert newest is not None  # the newest event always stays
        seq, _, chain = newest
        blanked = {number: events.find(log, log.base + number) for number in self._gone.blanked}
        left = {number: events.rest_of(log, one) for number, one in blanked.items() if one}
        draft = self._gone.draft(left)
        event = events.Event(
            seq=seq + 1, batch=seq + 1, at=self._now, actor=ACTOR, command=ACTOR,
            audit=json.dumps(draft, separators=(",", ":")),
        )  # fmt: skip
        self._tree.touch(root)
        root.history += events.write(log, (event,), chain)
        return event

    @property
    def _is_over_budget(self) -> bool:
        budget = self._retention.budget_bytes
        return budget is not None and self._tree.root.history > budget

    # ---- one file

    def _thin(self, node: Node) -> None:
        """Drop a file's oldest stretches as far as age or budget ask for it."""
        if self._is_held(node):
            return
        keeps = 0 if self._tree.chain_of(node) is None else self._retention.keep_newest
        while self._room > 0 and node.first != node.full:
            first = events.load(self._log, node.first)
            following = events.load(self._log, first.next or node.full)
            stretch = list(self._stretch(node, following))
            if (
                node.events - len(stretch) < keeps
                or stretch[0].seq > self._last
                or self._may_stay(following.at)
            ):
                return
            for event in stretch:
                self._drop(event)
            self._log.db.execute("UPDATE event SET prev = NULL WHERE seq = ?", (following.seq,))
            self._tree.touch(node)
            node.first = following.seq
            node.events -= len(stretch)
            self._forgets_before(following.seq)

    def _is_held(self, node: Node) -> bool:
        """Whether a hold covers where a file lies, or last lay."""
        if not self._held:
            return False
        names: list[str] = []
        above: Node | None = node
        while above is not None and above.parent is not None:
            names.insert(0, above.plain_name)
            above = self._tree.get(above.parent)
        return any(tuple(names[: len(held)]) == tuple(held) for held in self._held)

    def _stretch(self, node: Node, following: events.Event) -> Iterator[events.Event]:
        """The events before a whole body, newest first, down to the oldest that is kept."""
        older = events.of_node(self._log, following.prev or 0)
        return takewhile(lambda event: event.seq >= node.first, older)

    def _forget(self, node: Node, removal: int) -> bool:
        """Drop a removed file with all its history, if all of it may go. What is held is passed
        over."""
        if self._is_held(node):
            return True
        if node.last > self._last:
            return False
        for event in list(events.of_node(self._log, node.last)):
            self._drop(event)
        for statement in (
            "DELETE FROM node WHERE id = ?",
            "DELETE FROM head WHERE node = ?",
            "DELETE FROM head_piece WHERE node = ?",
            "DELETE FROM redacted WHERE node = ?",
        ):
            self._log.db.execute(statement, (node.id,))
        self._tree.forget(node)
        self._forgets_before(removal)
        self._tidy(node.parent)
        return True

    # ---- the whole store

    def _sweep(self) -> None:
        root = self._tree.root
        for seq, at in self._unswept():
            if self._room <= 0 or self._may_stay(at):
                return
            event = events.find(self._log, seq)
            if event is not None and not self._look_at(event):
                return
            self._tree.touch(root)
            root.swept = seq

    def _unswept(self) -> list[tuple[int, int]]:
        """Numbers and times of the events to look at next; none where the first may stay, as it
        mostly may: each of the others can lie on a page of its own."""
        query = "SELECT seq, at FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        where = max(self._tree.root.swept, self._log.base), self._last
        first = self._log.db.execute(query, (*where, 1)).fetchone()
        if first is None or self._may_stay(first[1]):
            return []
        rows: list[tuple[Any, ...]] = self._log.db.execute(query, (*where, SWEEP_EVENTS)).fetchall()
        return [(seq, at) for seq, at in rows]

    def _may_stay(self, at_ns: int) -> bool:
        """Whether neither age nor budget asks for an event of that time to go."""
        return at_ns > self._cutoff and not self._is_over_budget

    def _look_at(self, event: events.Event) -> bool:
        """Drop what an old event allows to drop; False if there is more to do about it."""
        if event.node is None:
            self._gone.read(event.audit)  # what it says has to be said on
            self._drop(event)
            return True
        node = self._tree.get(event.node)
        if node is None:
            return True
        if node.is_directory:
            return event.op != events.DELETED or self._forget_beneath(node, event.seq)
        removal = self._removal_of(node)
        if removal is None:
            self._thin(node)
        elif removal == event.seq or self._is_over_budget:
            return self._forget(node, removal)
        return True

    def _removal_of(self, node: Node) -> int | None:
        """The event by which a file went, by itself or with a directory; None of a live one."""
        above: Node | None = node
        while above is not None:
            if above.gone is not None:
                return above.gone
            above = None if above.parent is None else self._tree.get(above.parent)
        return None

    def _forget_beneath(self, directory: Node, removal: int) -> bool:
        """Forget everything beneath a removed directory; False if some of it has to wait."""
        rows = self._log.db.execute(
            f"SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NULL"
            f" UNION ALL SELECT {COLUMNS} FROM node WHERE parent = ? AND gone IS NOT NULL",
            (directory.id, directory.id),
        ).fetchall()
        for row in rows:
            node = Node(*row)
            if self._room <= 0:
                return False
            forget = self._forget_beneath if node.is_directory else self._forget
            if not forget(node, removal):
                return False
        self._tidy(directory.id)
        return True

    def _tidy(self, number: int | None) -> None:
        """Remove the row of a directory that nothing lies in and no event names any more."""
        node = None if number is None else self._tree.get(number)
        if (
            node is None
            or node.parent is None
            or node.last > self._last
            or self._has("SELECT 1 FROM node WHERE parent = ? AND gone IS NULL", node.id)
            or self._has("SELECT 1 FROM node WHERE parent = ? AND gone IS NOT NULL", node.id)
            or self._has(f"SELECT 1 FROM event WHERE {WENT_AWAY} AND oparent = ?", node.id)
        ):
            return
        for event in list(events.of_node(self._log, node.last)):
            self._drop(event)
        self._log.db.execute("DELETE FROM node WHERE id = ?", (node.id,))
        self._tree.forget(node)
        self._tidy(node.parent)

    def _has(self, query: str, number: int) -> bool:
        return self._log.db.execute(f"{query} LIMIT 1", (number,)).get is not None

    # ---- one event

    def _drop(self, event: events.Event) -> None:
        execute = self._log.db.execute
        root = self._tree.root
        self._tree.touch(root)
        root.versions -= event.node is not None
        root.history -= events.stored_bytes(self._log, event)
        execute("DELETE FROM piece WHERE seq = ?", (event.seq,))
        execute("DELETE FROM redacted WHERE seq = ?", (event.seq,))
        execute("DELETE FROM event WHERE seq = ?", (event.seq,))
        base = self._log.base
        before = execute(_BEFORE, (event.seq, base)).get
        following = execute(_AFTER, (event.seq,)).get
        execute(
            "UPDATE event SET link = ? WHERE link IS NULL AND seq = ?", (event.chain, following)
        )
        self._gone.dropped.append(((before or base) - base, following - base))
        self._room -= 1
        if event.oparent is not None and event.oparent != event.parent:
            self._tidy(event.oparent)

    def _forgets_before(self, seq: int) -> None:
        """States before ``seq`` are not whole any more."""
        root = self._tree.root
        root.horizon = max(root.horizon, seq)
