"""Blanking a version: its content, path, size and hash are gone for good, that it was stays.

Versions that were kept as deltas against the blanked content are kept anew first. Names that only
the blanked version still showed go from its neighbours, too. Digests are stored before anything is
blanked, so that the hash chain still holds. The caller's transaction; afterwards the caller has to
see that the bytes leave the file (``scrub`` of its database).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from memoranda.errors import NotRedactable
from memoranda.light_dataclasses import replace
from memoranda.stores.log import bodies, events, history
from memoranda.stores.log.gone import BLANKED
from memoranda.stores.log.text import Text
from memoranda.stores.log.tree import Tree
from memoranda.stores.log.turn import Turn

if TYPE_CHECKING:
    from memoranda.stores.base import Context, Version
    from memoranda.stores.log.heads import Heads
    from memoranda.stores.log.history import Shown
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.store_log import StoreLog


def redact(
    log: StoreLog, heads: Heads, version_id: str, context: Context, now_ns: int
) -> tuple[Version, bool]:
    """Blank a version, and say so in the audit; returns what is left of it, and whether anything
    changed: it may have been blanked before.

    Raises ``UnknownId``, and ``NotRedactable`` for the newest version of a live memory.
    """
    version, said = _blank(log, version_id, context, now_ns)
    if said is None:
        return version, False
    turn = Turn(log, heads, now_ns)
    turn.audit(said, now_ns)
    turn.finish()
    return version, True


def _blank(
    log: StoreLog, version_id: str, context: Context, now_ns: int
) -> tuple[Version, Context | None]:
    """What is left of a version, and the entry that says what was blanked; None if nothing was."""
    shown = history.find(log, version_id)
    before = history.made(log, shown)
    if before.redacted_at_ns is not None:
        return before, None
    actor, blanked = context.actor, Blanking(log)
    tree = Tree(log, 0)
    node = tree.get(shown.node)
    assert node is not None  # it has a version
    chain = tree.chain_of(node)
    if chain is not None and shown.step.seq == max(node.head, *(above.head for above in chain)):
        raise NotRedactable
    at = max(now_ns, shown.step.at)
    _blank_audit(blanked, shown.step.batch)
    if shown.step.node != node.id:
        log.db.execute(
            "INSERT INTO redacted VALUES(?, ?, ?, ?)", (shown.step.seq, node.id, at, actor)
        )
    contents = [] if shown.own is None else [shown.own.seq]
    for event in _parts(log, node, shown):
        blanked.set(event, "redacted_at = ?, redacted_by = ?", at, actor)
        contents.append(event.seq)
    for seq in sorted(set(contents), reverse=True):
        event = events.load(log, seq)
        if event.redacted_at is not None and not _is_shown_elsewhere(log, node, seq):
            _blank_content(log, node, event)
            blanked.note(seq)
    _blank_names(blanked, node)
    if chain is None:
        _forget_heads(log, node)
        _forget_last_name(log, node)
    said = {**context.audit, "version": version_id, **blanked.draft()}
    version = history.made(log, history.find(log, version_id))
    return version, replace(context, audit=said)


class Blanking:
    """Changes to events that keep their digest in place of what goes, and what is said of them."""

    def __init__(self, log: StoreLog) -> None:
        self.log = log
        self._seqs: set[int] = set()

    def note(self, seq: int) -> None:
        """An event has another rest than before."""
        self._seqs.add(seq)

    def set(self, event: events.Event, what: str, *values: object) -> None:
        """Change columns (``what``) of an event."""
        self.note(event.seq)
        self.log.db.execute(
            f"UPDATE event SET {what}, digest = ? WHERE seq = ?",
            (*values, events.digest_of(self.log, event), event.seq),
        )

    def draft(self) -> dict[str, dict[str, str]]:
        """What an entry of the audit has to say about them, now that all is done."""
        log = self.log
        rest = {seq: events.rest_of(log, events.load(log, seq)) for seq in sorted(self._seqs)}
        return {BLANKED: {str(seq - log.base): said for seq, said in rest.items()}}


def _parts(log: StoreLog, node: Node, shown: Shown) -> list[events.Event]:
    """The node's own events that one version stands for: its own and, of the same batch, those
    that the history does not show beside it."""
    return [
        event
        for event in events.of_node(log, node.last)
        if event.batch == shown.step.batch and event.seq <= shown.step.seq
    ]


def _blank_audit(blanked: Blanking, batch: int) -> None:
    """The audit draft of a command may name what it changed."""
    row = blanked.log.db.execute(
        "SELECT seq FROM event WHERE seq >= ? AND batch = ? ORDER BY seq LIMIT 1", (batch, batch)
    ).get
    assert row is not None, "the version's own event is of the batch"
    event = events.load(blanked.log, row)
    if event.audit is not None:
        blanked.set(event, "audit = NULL")


# ---------------------------------------------------------------- contents


def _is_shown_elsewhere(log: StoreLog, node: Node, seq: int, *, as_name: bool = False) -> bool:
    """Whether a version that is not redacted still shows the content of event ``seq``, or only
    (``as_name``) the path: one that a directory's event stands for."""
    for shown in history.of_memory(log, node.id, log.end - 1):
        if shown.step.seq < seq:
            return False
        if shown.own is not None and shown.own.seq == seq:
            version = history.made(log, shown)
            if version.redacted_at_ns is None and (as_name or version.operation != "deleted"):
                return True
    return False


def _blank_content(log: StoreLog, node: Node, event: events.Event) -> None:
    """Take the content out of an event, after those that build on it got on without."""
    newest_first = [later for later in events.of_node(log, node.last) if later.base == event.seq]
    dependents = newest_first[::-1]
    freed = events.stored_bytes(log, event) - events.ROW_BYTES
    if dependents:
        heir = dependents[0]
        freed += events.stored_bytes(log, heir)
        _inherit(log, event, heir)
        freed -= events.stored_bytes(log, events.load(log, heir.seq))
        for later in dependents[1:]:
            log.db.execute("UPDATE event SET base = ? WHERE seq = ?", (heir.seq, later.seq))
        _repoint(log, node, event, heir)
    log.db.execute("DELETE FROM piece WHERE seq = ?", (event.seq,))
    log.db.execute(
        "UPDATE event SET size = NULL, sha = NULL, ino = NULL, mtime = NULL, base = NULL,"
        " pre = NULL, suf = NULL, pieces = NULL, body = NULL WHERE seq = ?",
        (event.seq,),
    )
    log.db.execute("UPDATE node SET history = history - ? WHERE id = ?", (freed, log.base))


def _inherit(log: StoreLog, event: events.Event, heir: events.Event) -> None:
    """Keep the content of ``heir`` without that of ``event``, on which it was based."""
    text = Text(bodies.content(log, heir.seq))
    if event.base is None:
        body = bodies.whole(text)
    else:
        older = bodies.content(log, event.base)
        body = bodies.delta(event.base, Text.replacing(older, text.whole()))
    log.db.execute("DELETE FROM piece WHERE seq = ?", (heir.seq,))
    pieces, data = bodies.save(log.db, heir.seq, body)
    log.db.execute(
        "UPDATE event SET base = ?, pre = ?, suf = ?, pieces = ?, body = ? WHERE seq = ?",
        (body.base, body.pre, body.suf, pieces, data, heir.seq),
    )


def _repoint(log: StoreLog, node: Node, event: events.Event, heir: events.Event) -> None:
    """Put ``heir`` where the node pointed at ``event``."""
    if node.full == event.seq:
        node.full = heir.seq
        log.db.execute("UPDATE event SET next = ? WHERE seq = ?", (heir.seq, event.seq))
    if node.body in {event.seq, heir.seq}:
        node.body = heir.seq
        if heir.seq == node.full:
            node.depth = node.spent = 0
            _forget_heads(log, node)
    log.db.execute(
        "UPDATE node SET full = ?, body = ?, depth = ?, spent = ? WHERE id = ?",
        (node.full, node.body, node.depth, node.spent, node.id),
    )


def _forget_heads(log: StoreLog, node: Node) -> None:
    log.db.execute("DELETE FROM head WHERE node = ?", (node.id,))
    log.db.execute("DELETE FROM head_piece WHERE node = ?", (node.id,))


# ---------------------------------------------------------------- names


def _blank_names(blanked: Blanking, node: Node) -> None:
    """Take names out of events where they told the path of redacted versions only.

    An event's name after it is its own version's path (before it, of a removal); its name before
    it is also the path of the version before, and of those that a directory's moves stand for in
    between.
    """
    log = blanked.log
    for event, older in pairwise([*events.of_node(log, node.last), None]):
        assert event is not None  # only the end is
        name, oname = event.name, event.oname
        is_redacted = event.redacted_at is not None
        own_is_before = event.op == events.DELETED or oname == name
        if is_redacted:
            name = None
        before_is_blank = older is None or (
            older.redacted_at is not None
            and not _is_shown_elsewhere(log, node, older.seq, as_name=True)
        )
        if before_is_blank and (is_redacted or not own_is_before):
            oname = None
        if (name, oname) != (event.name, event.oname):
            blanked.set(event, "name = ?, oname = ?", name, oname)


def _forget_last_name(log: StoreLog, node: Node) -> None:
    """A removed file keeps its last name only while a version shows a path."""
    for shown in history.of_memory(log, node.id, log.end - 1):
        if history.made(log, shown).path is not None:
            return
    log.db.execute("UPDATE node SET name = NULL WHERE id = ?", (node.id,))
