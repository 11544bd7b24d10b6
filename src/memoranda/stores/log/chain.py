"""Checking the hash chain: every entry of the audit, in order, with what is said of gone ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import Corrupt
from memoranda.stores.audit import AuditHead, AuditReport
from memoranda.stores.log import events
from memoranda.stores.log.gone import Gone
from memoranda.stores.reports import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.log.store_log import StoreLog

_RESTORE: Final = "Restore the store from a copy, and find out who can write its files."


class Link(NamedTuple):
    """An event as its chain has it. ``seq`` counts from 1 in each store.

    ``computed`` is what its chain value has to be after the one that was fed before, or after
    ``link``, which stands in for one that is gone. ``rest`` is the digest of what can still be
    read where it was blanked; ``draft`` the audit entry of what is no version.
    """

    seq: int
    at: int
    chain: bytes
    computed: bytes
    link: bytes | None
    rest: str | None
    draft: str | None


class ChainCheck:
    """Follows the chain: ``feed`` every event in order, then ``end``; then ``problems`` are whole.

    ``anchors`` are heads of chains that were kept elsewhere; other stores' don't matter.
    """

    def __init__(self, store_id: str, anchors: Sequence[AuditHead] = ()) -> None:
        self._id = store_id
        self._anchors = {
            anchor.seq: anchor.chain
            for anchor in anchors
            if anchor.store_id == store_id and anchor.seq
        }
        self.before = events.NO_CHAIN
        """The chain value of the event that was fed last."""
        self._last = 0
        self._at = 0
        self._gone = Gone()
        self._gaps: list[tuple[int, int]] = []
        self._blanks: dict[int, str] = {}
        self.problems: list[Problem] = []
        self.entries = 0

    def feed(self, event: Link) -> None:
        """Look at the next event."""
        seq = event.seq
        if event.chain != event.computed:
            self._problem("chain", f"Entry {seq} was changed, or the one before it is missing.")
        if event.at < self._at:
            self._problem("time", f"Time goes back at entry {seq}.")
        if event.link is not None:
            self._gaps.append((self._last, seq))
        if event.rest is not None:
            self._blanks[seq] = event.rest
        try:
            self._gone.read(event.draft)
        except Corrupt:
            self._problem("draft", f"Entry {seq} can't be read.")
        if self._anchors.get(seq, event.chain.hex()) != event.chain.hex():
            self._problem("anchor", f"Entry {seq} is another one than its anchor says.")
        self._anchors.pop(seq, None)
        self.before, self._at, self._last = event.chain, event.at, seq
        self.entries += 1

    def end(self) -> None:
        """All events were fed: look at what only the later ones explain."""
        gone = self._gone.between()
        unexplained = [
            (start, end)
            for start, end in self._gaps
            if not any(first <= start and end <= last for first, last in gone)
        ]
        for start, end in unexplained:
            self._problem("gap", f"Entries between {start} and {end} are missing.")
        for seq, rest in self._blanks.items():
            if self._gone.blanked.get(seq) != rest:
                self._problem("blank", f"Entry {seq} was blanked or changed, and no entry says so.")
        for seq in sorted(self._anchors):
            if seq > self._last:
                self._problem("cut", f"The audit ends at entry {self._last}; there was a {seq}.")
            elif not any(start < seq < end for start, end in self._gaps):
                self._problem("anchor", f"Entry {seq} is missing; an anchor knows it.")

    @property
    def head(self) -> AuditHead:
        """The newest entry that was fed."""
        return AuditHead(self._id, self._last, self.before.hex())

    def _problem(self, code: str, message: str) -> None:
        self.problems.append(Problem(code, message, _RESTORE))


def feed(check: ChainCheck, log: StoreLog, event: events.Event) -> None:
    """Feed an event of a log."""
    check.feed(
        Link(
            event.seq - log.base,
            event.at,
            event.chain,
            events.chained(log, event, event.link or check.before),
            event.link,
            None if event.digest is None else events.rest_of(log, event),
            event.audit if event.node is None else None,
        )
    )


def verify(log: StoreLog, anchors: Sequence[AuditHead]) -> AuditReport:
    """What ``Store.verify_audit`` promises; reads every event."""
    check = ChainCheck(log.id, anchors)
    versions = taken = 0
    for event in events.of_store(log):
        feed(check, log, event)
        versions += event.node is not None
        taken += events.stored_bytes(log, event)
    check.end()
    kept = log.db.execute("SELECT versions, history FROM node WHERE id = ?", (log.base,)).fetchone()
    problems = check.problems
    if kept != (versions, taken):
        problems.append(
            Problem("counter", "The store counted other entries than there are.", _RESTORE)
        )
    return AuditReport(tuple(problems), check.entries, check.head)
