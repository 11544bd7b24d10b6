"""Letting old history go, a little at a time, as the log of the local stores does it.

Every so many events a look goes on through the events from where the last one stopped, up to the first
that is too young: it thins the memories that it meets, forgets removed ones once their removal is old
enough, and old audit entries. What went is said in an entry of the audit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import MemorandaError
from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.base import Context
from memoranda.stores.bucket import collecting
from memoranda.stores.bucket.growth import folded, noted
from memoranda.stores.bucket.head import (
    EVENTS,
    EVER,
    MEMORIES,
    VERSIONS,
    ever_key,
    new_attempt,
    version_key,
)
from memoranda.stores.bucket.kept import rest_of, row_of
from memoranda.stores.bucket.swapping import swap
from memoranda.stores.log.gone import Gone
from memoranda.stores.log.retention import ACTOR, DAY_NS

if TYPE_CHECKING:
    from memoranda.stores.base import Retention
    from memoranda.stores.bucket.ground import Ground
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.kept import Kept
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.bucket.shelf import Bench
    from memoranda.stores.bucket.sight import Sight
    from memoranda.stores.bucket.tree import Key, Row

LOOKED_AT: Final = 256
"""How many events one look takes in."""
MOST_DROPPED: Final = 512
COLLECT_TURNS: Final = 256
"""Objects are collected once an hour at most, and only after so many swaps."""
PACKS_AFTER: Final = 1024
"""Contents are collected with them once so many events went."""


async def tend(
    ground: Ground, place: Place, retention: Retention, now_ns: int, before_ns: int
) -> None:
    """Let old history go, and collect what no head names, where it is time. ``before_ns`` is the time
    of the newest event before: after a jump of the clock by more than ``keep_days`` age counts for
    nothing.

    What can't be done now is done another time: the write that led here is done already.
    """
    keep_ns = retention.keep_days * DAY_NS
    cutoff = now_ns - keep_ns if keep_ns and now_ns - before_ns <= keep_ns else -1

    async def work(sight: Sight, bench: Bench) -> Head | None:
        return await Thinning(sight, bench, retention, cutoff, now_ns).run()

    try:
        head = await swap(ground, place, work)
        is_time = now_ns - head.swept_at > collecting.GRACE_NS
        if is_time and head.turn - head.swept > COLLECT_TURNS:
            packs = head.dropped >= PACKS_AFTER
            await collecting.collect(ground, place, now_ns, packs=packs)
    except MemorandaError:
        return


class Thinning:
    """One look."""

    def __init__(
        self, sight: Sight, bench: Bench, retention: Retention, cutoff: int, now_ns: int
    ) -> None:
        self._sight = sight
        self._bench = bench
        self._head = sight.head
        self._retention = retention
        self._cutoff = cutoff
        self._now = now_ns
        self._gone = Gone()
        self._dropped: dict[int, Kept] = {}
        self._forgotten: set[int] = set()
        self._ever: dict[Key, Row | None] = {}
        self._history = sight.head.history
        self._horizon = sight.head.horizon

    async def run(self) -> Head | None:
        """The head after it; None if nothing is to be done."""
        head = self._head
        if any(hold.path.is_root for hold in head.holds):
            return None
        looked = head.thinned
        for kept in await self._sight.first_events(head.thinned + 1, LOOKED_AT):
            is_newest = kept.event.seq == head.state.seq
            is_young = kept.event.at > self._cutoff and not self._is_over_budget
            if is_newest or is_young or len(self._dropped) >= MOST_DROPPED:
                break
            await self._look_at(kept)
            looked = kept.event.seq
        if looked == head.thinned:
            return None
        if not self._dropped:
            return replace(head, turn=head.turn + 1, attempt=new_attempt(), thinned=looked)
        return await self._head_after(looked)

    @property
    def _is_over_budget(self) -> bool:
        budget = self._retention.budget_bytes
        return budget is not None and self._history > budget

    async def _look_at(self, kept: Kept) -> None:
        event = kept.event
        if event.memory is None:
            # What it says of entries that went has to be said on.
            self._gone.read(await self._sight.draft(kept))
            self._drop(kept)
            return
        row = await self._sight.memory(event.memory)
        if row is None or event.memory in self._forgotten:
            return
        seqs = [
            seq for seq in await self._sight.versions_of(event.memory) if seq not in self._dropped
        ]
        if await self._is_held(row, seqs):
            return
        if row[0] is None:
            if row[2] == event.seq or self._is_over_budget:
                await self._forget(event.memory, seqs)
        else:
            await self._thin(event.memory, seqs)

    async def _thin(self, memory: int, seqs: list[int]) -> None:
        """Drop a live memory's oldest versions as far as age or budget ask for it."""
        events = await self._sight.events_of(seqs)
        keeps = max(self._retention.keep_newest, 1)
        while len(seqs) > keeps and len(self._dropped) < MOST_DROPPED:
            oldest, following = events[seqs[0]], events[seqs[1]]
            if following.event.at > self._cutoff and not self._is_over_budget:
                return
            self._drop(oldest)
            seqs.pop(0)
            self._horizon = max(self._horizon, following.event.seq)
            path = oldest.event.path
            if path is not None and all(events[seq].event.path != path for seq in seqs):
                self._ever[ever_key(path, memory)] = None

    async def _forget(self, memory: int, seqs: list[int]) -> None:
        """Drop a removed memory with all its history."""
        if seqs and seqs[-1] == self._head.state.seq:
            return
        for kept in (await self._sight.events_of(seqs)).values():
            self._drop(kept)
            self._horizon = max(self._horizon, kept.event.seq)
            if kept.event.path is not None:
                self._ever[ever_key(kept.event.path, memory)] = None
        self._forgotten.add(memory)

    async def _is_held(self, row: Row, seqs: list[int]) -> bool:
        """Whether a hold covers where a memory lies, or last lay."""
        if not self._head.holds:
            return False
        text = row[0]
        if text is None and seqs:
            last = await self._sight.event(seqs[-1])
            text = None if last is None else last.event.path
        if text is None:
            return False
        path = MemoryPath.of(tuple(text[1:].split("/")))
        return any(hold.covers(path) for hold in self._head.holds)

    def _drop(self, kept: Kept) -> None:
        self._dropped[kept.event.seq] = kept
        self._history -= kept.taken

    async def _head_after(self, looked: int) -> Head:
        dropped = self._dropped
        changed: dict[Key, Row | None] = dict.fromkeys(dropped)
        for seq in sorted(dropped):
            before = await self._neighbour(seq, newer=False)
            following = await self._neighbour(seq, newer=True)
            assert following is not None  # the newest event always stays
            self._gone.dropped.append((before.event.seq if before else 0, following.event.seq))
            last = (await self._sight.last_events(following.event.seq, 1))[0]
            if following.link is None and last.event.seq in dropped:
                linked = following._replace(link=last.chain)
                changed[following.event.seq] = row_of(linked)
        numbers = {int(number) for number in self._gone.blanked}
        left = {
            number: rest_of(one, self._head.secret)
            for number, one in (await self._sight.events_of(numbers)).items()
            if number not in dropped
        }
        draft = self._gone.draft(left)
        note = Context(ACTOR, ACTOR, audit=draft)
        after = await noted(self._sight, self._bench, [(note, self._now)], self._now)
        of_memories = [one for one in dropped.values() if one.event.memory is not None]
        after = replace(
            after,
            thinned=looked,
            horizon=self._horizon,
            versions=after.versions - len(of_memories),
            history=after.history - sum(one.taken for one in dropped.values()),
            dropped=after.dropped + len(dropped),
        )
        return await folded(
            self._sight,
            self._bench,
            after,
            {
                EVENTS: changed,
                VERSIONS: {
                    version_key(one.event.memory or 0, one.event.seq): None for one in of_memories
                },
                MEMORIES: dict.fromkeys(self._forgotten),
                EVER: self._ever,
            },
        )

    async def _neighbour(self, seq: int, *, newer: bool) -> Kept | None:
        """The next event to a side that stays."""
        while True:
            found = (
                await self._sight.first_events(seq + 1, 1)
                if newer
                else await self._sight.last_events(seq, 1)
            )
            if not found or found[0].event.seq not in self._dropped:
                return found[0] if found else None
            seq = found[0].event.seq
