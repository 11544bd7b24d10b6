"""Checking a store: the chain, every content against its hash, the trees against the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memoranda.digests import sha256
from memoranda.errors import Corrupt
from memoranda.path import MemoryPath
from memoranda.stores.bucket import auditing, tree
from memoranda.stores.bucket.faults import Missing
from memoranda.stores.bucket.head import VERSIONS, version_key
from memoranda.stores.bucket.sight import END_OF_EVENTS, Span, path_of
from memoranda.stores.log.chain import ChainCheck
from memoranda.stores.reports import Problem, Report
from memoranda.stores.sealing import DELETED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.bucket.kept import Kept
    from memoranda.stores.bucket.sight import Sight

CHECKED_AT_ONCE: Final = 64
_RESTORE: Final = "Restore the store from a copy; what other versions hold is still good."
_RECOUNT: Final = "Copy the store to a new one; contents and history are good."


class Check:
    """One check of one moment of a store."""

    def __init__(self, sight: Sight, store_id: str) -> None:
        self._sight = sight
        self._id = store_id
        self._problems: list[Problem] = []
        self._heads: dict[int, Kept] = {}

    async def run(self) -> Report:
        """What ``Store.verify`` promises; reads everything."""
        head = self._sight.head
        try:
            check = ChainCheck(self._id)
            counted = await auditing.follow(self._sight, check)
            self._problems += check.problems
            if check.before != head.state.chain:
                self._problem("chain", "The end of the history is not where it was.", _RESTORE)
            if counted != (head.versions, head.history):
                self._problem("counter", "The history's counters are wrong.", _RECOUNT)
            await self._check_versions()
            await self._check_memories()
        except Corrupt as error:
            self._problem("object", str(error), _RESTORE)
        except Missing:
            self._problem("object", "An object that the store needs is missing.", _RESTORE)
        return Report(tuple(self._problems), (), head.state.files, head.versions)

    def _problem(self, code: str, message: str, remedy: str, path: str | None = None) -> None:
        where = None if path is None else path_of(path)
        self._problems.append(Problem(code, message, remedy, where))

    async def _check_versions(self) -> None:
        """Compare each content with its hash, and the index of versions with the events."""
        found: set[int] = set()
        low = 0
        while True:
            events = await self._sight.first_events(low, CHECKED_AT_ONCE)
            found |= {
                version_key(kept.event.memory, kept.event.seq)
                for kept in events
                if kept.event.memory is not None
            }
            await self._check_contents(events)
            if len(events) < CHECKED_AT_ONCE:
                break
            low = events[-1].event.seq + 1
        head = self._sight.head
        rows = await tree.span(
            self._sight.shelf, head.roots.get(VERSIONS), 0, version_key(END_OF_EVENTS, 0)
        )
        listed = {key for key, _ in rows} | {
            version_key(kept.event.memory, kept.event.seq)
            for kept in head.tail
            if kept.event.memory is not None
        }
        if listed != found:
            self._problem("orphan", "The index of versions differs from the history.", _RESTORE)

    async def _check_contents(self, events: Sequence[Kept]) -> None:
        for kept in events:
            event = kept.event
            if event.memory is not None:
                self._heads[event.memory] = kept
            if kept.place is None:
                continue
            try:
                data = await self._sight.shelf.stored(kept.place, event.size or 0)
            except (Missing, Corrupt):
                data = None
            if data is None or sha256(data).digest() != event.sha:
                self._problem(
                    "version",
                    "The content of a version is damaged or missing.",
                    _RESTORE,
                    event.path,
                )

    async def _check_memories(self) -> None:
        """Compare each memory with its newest version."""
        head = self._sight.head
        items = {
            item.id: item for item in await self._sight.beneath(Span.beneath(MemoryPath.of(())))
        }
        for number, row in (await self._sight.memories()).items():
            kept, item = self._heads.pop(number, None), items.pop(number, None)
            shown: tuple[Any, ...] | None = None
            if item is not None and item.path is not None:
                shown = item.path.store_path, item.head, item.size, item.sha, item.place
            said: tuple[Any, ...] | None = None
            if kept is not None and kept.event.op != DELETED and not kept.is_redacted:
                event = kept.event
                said = event.path, event.seq, event.size, event.sha, kept.place
            is_there = (row[0], row[2]) == (shown[:2] if shown else (None, row[2]))
            if shown != said or not is_there or kept is None:
                self._problem("head", "A memory differs from its newest version.", _RESTORE, row[0])
        if self._heads or items:
            self._problem("orphan", "A version belongs to no memory.", _RESTORE)
        count, size = await self._sight.measure(Span.beneath(MemoryPath.of(())))
        if (count, size) != (head.state.files, head.state.bytes):
            self._problem("counter", "The store's counters are wrong.", _RECOUNT)
