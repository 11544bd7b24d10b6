"""Removing what no head names any more.

Every object's name begins with the turn that it was put for. A collection first swaps the head, which
notes its own turn: from then on every write that was planned before fails, and every write planned
after puts its objects for a later turn. So an object of this turn or an earlier one that the head does
not name will never be named by any head: no clock is needed to tell it from what a slow writer is
about to name. Age matters only to readers and to copies of the bucket in the making: what is younger
than the grace is left for another time. A reader whose pages go begins anew with the newer head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.bucket import tree
from memoranda.stores.bucket.head import TREES, new_attempt
from memoranda.stores.bucket.shelf import NODES, PACKS, pack_of
from memoranda.stores.bucket.sight import END_OF_EVENTS, Sight, Span
from memoranda.stores.bucket.swapping import swap

if TYPE_CHECKING:
    from memoranda.stores.bucket.ground import Ground
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.bucket.shelf import Bench

HOUR_NS: Final = 3_600 * 1_000_000_000
GRACE_NS: Final = HOUR_NS
"""How old an unnamed object has to be: a copy of the bucket should be done in that time."""
READ_AT_ONCE: Final = 1024


async def collect(
    ground: Ground, place: Place, now_ns: int, *, grace_ns: int = GRACE_NS, packs: bool = True
) -> int:
    """Remove a store's unnamed objects; how many that were. ``packs``: contents, too, which costs a
    pass over the history."""

    async def begin(sight: Sight, bench: Bench) -> Head:
        del bench
        return begun(sight.head, now_ns, packs=packs)

    head = await swap(ground, place, begin)
    return await sweep(ground, place, head, now_ns - grace_ns, packs=packs)


def begun(head: Head, now_ns: int, *, packs: bool) -> Head:
    """The head that begins a collection."""
    turn = head.turn + 1
    dropped = 0 if packs else head.dropped
    return replace(
        head, turn=turn, attempt=new_attempt(), swept=turn, swept_at=now_ns, dropped=dropped
    )


async def sweep(ground: Ground, place: Place, head: Head, before_ns: int, *, packs: bool) -> int:
    """Remove what ``head``, which began the collection, does not name and was put before a time."""
    sight = Sight(head, place.shelf(ground.port, ground.cache, head))
    named: set[str] = set()
    for name in TREES:
        nodes = await tree.names_of(sight.shelf, head.roots.get(name))
        named |= {sight.shelf.key(NODES, one) for one in nodes}
    kinds = [NODES]
    if packs:
        kinds.append(PACKS)
        named |= {sight.shelf.key(PACKS, one) for one in await _packs(sight)}
    gone: list[str] = []
    for kind in kinds:
        for one in await ground.port.keys(f"{sight.shelf.folder}/{kind}"):
            turn, dash, _ = one.key.rpartition("/")[2].partition("-")
            is_old = bool(dash) and int(turn, 16) <= head.swept and one.changed_ns <= before_ns
            if is_old and one.key not in named:
                gone.append(one.key)
    if gone:
        await ground.port.delete(gone)
    return len(gone)


async def _packs(sight: Sight) -> set[str]:
    """The packs that anything names."""
    found = {pack_of(item.place) for item in await sight.beneath(Span.beneath(MemoryPath.of(())))}
    low = 0
    while True:
        events = await sight.first_events(low, READ_AT_ONCE)
        for kept in events:
            if kept.place is not None:
                found.add(pack_of(kept.place))
            if kept.draft is not None:
                found.add(pack_of(kept.draft[0]))
        if len(events) < READ_AT_ONCE:
            return found
        low = events[-1].event.seq + 1
        if low >= END_OF_EVENTS:
            return found
