"""Holds of a store; they lie in its head, so that whatever drops old history sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.light_dataclasses import replace
from memoranda.stores.audit import PATH
from memoranda.stores.bucket.growth import folded, noted
from memoranda.stores.bucket.head import MOST_TAIL
from memoranda.stores.bucket.swapping import swap
from memoranda.stores.holds import Hold

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context
    from memoranda.stores.bucket.ground import Ground
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.bucket.shelf import Bench
    from memoranda.stores.bucket.sight import Sight


async def put(
    ground: Ground, place: Place, path: MemoryPath, reason: str, context: Context, now_ns: int
) -> Hold:
    """Hold a path; one that is held already has another reason from now on."""
    hold = Hold(path, reason, context.actor, now_ns)

    async def work(sight: Sight, bench: Bench) -> Head:
        kept = [each for each in sight.head.holds if each.path != path]
        return await _with(sight, bench, [*kept, hold], path, context, now_ns)

    await swap(ground, place, work)
    return hold


async def lift(
    ground: Ground, place: Place, path: MemoryPath, context: Context, now_ns: int
) -> bool:
    """Lift the hold of a path; whether there was one."""
    was_there = False

    async def work(sight: Sight, bench: Bench) -> Head | None:
        nonlocal was_there
        kept = [each for each in sight.head.holds if each.path != path]
        if len(kept) == len(sight.head.holds):
            return None
        was_there = True
        return await _with(sight, bench, kept, path, context, now_ns)

    await swap(ground, place, work)
    return was_there


async def _with(
    sight: Sight, bench: Bench, holds: list[Hold], path: MemoryPath, context: Context, now_ns: int
) -> Head:
    note = replace(context, audit={**context.audit, PATH: path.text})
    after = await noted(sight, bench, [(note, now_ns)], now_ns)
    if len(after.tail) > MOST_TAIL:
        after = await folded(sight, bench, after)
    return replace(after, holds=tuple(sorted(holds, key=lambda each: each.path.text)))
