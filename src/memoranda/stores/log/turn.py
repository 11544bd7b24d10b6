"""The commands of one transaction on one store, in memory until they are written at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memoranda.stores.base import Version
from memoranda.stores.log import bodies, events, ids
from memoranda.stores.log.command import Command
from memoranda.stores.log.contents import Contents
from memoranda.stores.log.remembered import Remembered
from memoranda.stores.log.retention import SWEEP_EVERY, Thinning
from memoranda.stores.log.text import Text
from memoranda.stores.log.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Context, Put, Retention
    from memoranda.stores.log.drafts import Draft
    from memoranda.stores.log.heads import Heads
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.store_log import Image, StoreLog


class Turn:
    """One transaction's commands on one store.

    Make it after BEGIN IMMEDIATE and drop it after COMMIT or ROLLBACK; until ``finish`` it only
    reads the database. ``now_ns`` is the clock; events get at least the time of the newest one.
    ``archived`` makes Put, Edit and Move raise ``ReadOnly``, but for what people did already. ``remembered`` is what ``remember`` of
    an earlier turn gave; the turn takes it over, so give it to one only. ``above``: in a store
    without any entry numbers begin after it.
    """

    def __init__(
        self,
        log: StoreLog,
        heads: Heads,
        now_ns: int,
        *,
        archived: bool = False,
        remembered: Remembered | None = None,
        above: int = 0,
    ) -> None:
        if remembered is not None and remembered.holds(log):
            self._last, self.tree = remembered.last, remembered.tree
        else:
            self._last = log.last_event() or (log.base + above, 0, events.NO_CHAIN)
            self.tree = Tree(log, self._last[0] + 1)
        seq, self._last_at, _ = self._last
        self.log = log
        self.at = max(now_ns, self._last_at)
        self._heads = heads
        self._contents = Contents(heads)
        self._archived = archived
        self._retention: Retention | None = None
        self._events: dict[int, events.Event] = {}
        self._links: list[tuple[int, int]] = []
        self._before_at = self._last_at
        self._first_number = seq + 1
        self._longer: set[int] = set()
        self._is_thinned = False

    # ---- looking

    def find(self, path: MemoryPath) -> Node | None:
        """The live node at ``path`` as this turn sees it, file or directory, or None."""
        return self.tree.walk(path).node

    def path_of(self, node: Node) -> MemoryPath | None:
        """Where a node lives as this turn sees it; None when it is gone."""
        return self.tree.path_of(node)

    def last_removed(self, path: MemoryPath) -> tuple[str, str] | None:
        """Memory id and remover's actor of the file that was last deleted, by itself, at ``path``
        before this turn."""
        parent = self.find(path.parent)
        if parent is None or not parent.is_directory:
            return None
        row = self.log.db.execute(
            "SELECT node.id, event.actor FROM node JOIN event ON event.seq = node.gone"
            " WHERE node.parent = ? AND node.name = ? AND node.gone IS NOT NULL"
            " ORDER BY node.gone DESC LIMIT 1",
            (parent.id, path.name),
        ).fetchone()
        return None if row is None else (ids.memory_id(self.log, row[0]), row[1])

    @property
    def last_seq(self) -> int:
        """The store's newest event, with those of this turn."""
        return max(self._events, default=self._first_number - 1)

    @property
    def new_events(self) -> Collection[events.Event]:
        """What the turn wrote, or is about to write, oldest first."""
        return self._events.values()

    def node_of(self, version: Version) -> int | None:
        """The number of the memory that a version of this turn, or of an earlier one, is of; None
        where its event is not kept."""
        seq = version.seq + self.log.base
        event = self._events.get(seq) or events.find(self.log, seq)
        return None if event is None else event.node

    @property
    def is_idle(self) -> bool:
        """Whether nothing was done that has to be written."""
        return not self._events and not self.tree.has_changed

    @property
    def is_written(self) -> bool:
        """Whether the turn has events, and the newest of them is in the database."""
        return bool(self._events) and self.log.last_seq() == max(self._events)

    # ---- changing

    def run(
        self, changes: Sequence[Change], context: Context, *, adopts: bool = False
    ) -> tuple[Version, ...]:
        """Do one command as ``Store.apply`` says. Whatever it raises undoes it, nothing else.

        ``adopts`` tells that a person did it in the tree already: an archived store has to take it.
        """
        self._retention = context.retention or self._retention

        def do(command: Command) -> None:
            files, total = self.tree.root.files or 0, self.tree.root.total
            for change in changes:
                command.do(change)
            command.check_ceiling(files, total)

        return self._command(do, context, archived=self._archived and not adopts)

    def adopt(self, put: Put, image: Image, context: Context) -> tuple[Version, ...]:
        """A Put of text that lies at its place in the tree already: ``Heads.store`` is not asked
        for it, ``image`` is taken as it is. Equal content only refreshes the image. An archived
        store takes it, too."""
        return self._command(lambda command: command.put(put, image), context, archived=False)

    def add_late(self, node: Node, content: bytes, context: Context) -> Version:
        """A version of a file that is in history and never head (``Version.late``)."""
        self.tree.begin()
        event = self._event(context, self.at)
        text = Text(content)
        event.node, event.op, event.late = node.id, events.MODIFIED, 1
        event.oparent, event.oname = event.parent, event.name = node.parent, node.name
        event.size, event.sha = text.size, text.sha256()
        event.kept = bodies.whole(text)
        self._append(event, node)
        return self._version(event, node, self.tree.path_of(node))

    def set_image(self, node: Node, image: Image) -> None:
        """The file of a node is what it was, only its image changed; makes no version."""
        self.tree.begin()
        self.tree.touch(node)
        self._contents.set_image(node, image)

    def audit(self, context: Context, at_ns: int) -> None:
        """An audit entry of something that changed nothing, at ``at_ns`` or as near to it as the
        order of events allows."""
        self.tree.begin()
        event = self._event(context, max(self._last_at, min(at_ns, self.at)))
        self._events[event.seq] = event
        self._last_at = event.at

    def touch(self, path: MemoryPath, at_ns: int) -> None:
        """Note that a memory was used; nothing if it is not there."""
        node = self.find(path)
        if node is not None and not node.is_directory:
            self.tree.begin()
            self.tree.touch(node)
            node.used = at_ns

    # ---- writing

    def finish(self, retention: Retention | None = None, keep_after_seq: int | None = None) -> None:
        """Ask ``heads`` to keep what changed and write all rows. COMMIT is the caller's.

        With ``retention`` old history goes, a little each time; see ``Thinning``. What the last
        command's context says about it goes before.
        """
        retention = self._retention or retention
        tree, contents = self.tree, self._contents
        for node in contents.gone.values():
            if not tree.is_new(node):
                self._heads.drop(node)
        for node, text, image in contents.fresh.values():
            if tree.names_of(node) is None:
                continue
            if image is None:
                image = self._heads.store(node, node.body, text)
            if image is not None:
                event = self._events[node.body]
                node.ino, node.mtime = event.ino, event.mtime = image
        if self._events:
            tree.touch(tree.root)
            tree.root.history += events.write(self.log, self._events.values(), self._last[2])
        for link in self._links:
            self.log.db.execute("UPDATE event SET next = ? WHERE seq = ?", link)
        last = max(self._events, default=self.log.base)
        tree.write(last)
        if retention is not None:
            sweep = last // SWEEP_EVERY >= -(-self._first_number // SWEEP_EVERY)
            if sweep or self._longer:
                self._is_thinned = True
                thinning = Thinning(self.log, retention, self.at, self._before_at, keep_after_seq)
                said = thinning.run(self._longer, sweep=sweep)
                if said is not None:
                    self._events[said.seq] = said

    def remember(self) -> Remembered | None:
        """What the next turn on this connection may begin with; right after COMMIT, or after
        ROLLBACK of a turn that ``is_idle``. None where it has to ask."""
        if self._events:
            newest = self._events[max(self._events)]
            self._last = newest.seq, newest.at, newest.chain
        if self._is_thinned or not self.tree.settle(self._last[0]):
            return None
        return Remembered(self.tree, self._last, self.log.db.data_version())

    # ---- a command's way into events

    def _command(
        self, do: Callable[[Command], None], context: Context, *, archived: bool
    ) -> tuple[Version, ...]:
        self.tree.begin()
        self._contents.begin()
        at = self.at
        if context.at_ns is not None:
            at = max(self._last_at, context.at_ns)
            self.at = max(self.at, at)
        command = Command(self.tree, self._contents, context, at, archived=archived)
        try:
            do(command)
            drafts = command.drafts.settle()
            if not drafts:
                if self.tree.next_number != command.begins:
                    self.tree.undo()  # it made directories that nothing came into
                return ()
            drafts[0].event.audit = _audit_text(context)
            newest: dict[int, Version] = {}
            for draft in drafts:
                self._seal(draft)
                if not draft.node.is_directory:
                    newest.pop(draft.node.id, None)
                    version = self._version(draft.event, draft.node, draft.path, context.wants_ids)
                    newest[draft.node.id] = version
            return tuple(newest.values())
        except BaseException:
            self._undo(command.begins)
            raise

    def _undo(self, begins: int) -> None:
        self.tree.undo()
        self._contents.undo()
        self._links = [link for link in self._links if link[0] < begins]
        self._events = {seq: event for seq, event in self._events.items() if seq < begins}
        for event in self._events.values():
            if event.next is not None and event.next >= begins:
                event.next = None

    def _seal(self, draft: Draft) -> None:
        """Decide how a draft's content is kept, and take its event up."""
        node, event, text = draft.node, draft.event, draft.text
        if text is not None:
            event.kept = self._body(event, node, text)
        elif event.size is not None:
            event.kept = bodies.moved(node.body, event.size)
        self._append(event, node)
        node.head = event.seq
        node.updated = event.at

    def _body(self, event: events.Event, node: Node, text: Text) -> bodies.Body:
        if event.op == events.MODIFIED and node.depth + 1 < bodies.LONGEST_CHAIN:
            body = bodies.delta(node.body, text)
            spent = node.spent + body.size
            if 2 * spent <= text.size:
                node.body, node.depth, node.spent = event.seq, node.depth + 1, spent
                return body
        if node.full:
            self._longer.add(node.id)
            before = self._events.get(node.full)
            if before is None:
                self._links.append((event.seq, node.full))
            else:
                before.next = event.seq
        node.first = node.first or event.seq
        node.body = node.full = event.seq
        node.depth = node.spent = 0
        return bodies.whole(text)

    def _append(self, event: events.Event, node: Node) -> None:
        self.tree.touch(node)
        self.tree.touch(self.tree.root)
        event.prev = node.last or None
        node.last = event.seq
        node.events += 1
        self.tree.root.versions += 1
        self._events[event.seq] = event
        self._last_at = event.at

    def _event(self, context: Context, at_ns: int) -> events.Event:
        seq = self.tree.number()
        return events.Event(
            seq=seq,
            batch=seq,
            at=at_ns,
            actor=context.actor,
            command=context.command,
            trace=context.trace_id,
            audit=_audit_text(context),
        )

    def _version(
        self,
        event: events.Event,
        node: Node,
        path: MemoryPath | None,
        wants_ids: bool = True,
    ) -> Version:
        log = self.log
        return Version(  # by place: names cost a microsecond here
            ids.version_id(log, event.seq, node.id) if wants_ids else "",
            ids.memory_id(log, node.id) if wants_ids else "",
            events.OPERATIONS[event.op or events.MODIFIED],
            path,
            event.actor,
            event.command,
            event.at,
            event.seq - log.base,
            event.size,
            None if event.sha is None else event.sha.hex(),
            event.trace,
            late=bool(event.late),
            batch=event.batch - log.base,
        )


def _audit_text(context: Context) -> str | None:
    return json.dumps(context.audit, separators=(",", ":")) if context.audit else None
