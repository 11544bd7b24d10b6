"""Holds of a store; they lie with its state, so that whatever drops old history sees them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.audit import PATH
from memoranda.stores.holds import Hold
from memoranda.stores.postgres import writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.base import Context
    from memoranda.stores.postgres.place import Made
    from memoranda.stores.postgres.port import Session

_HOLDS: Final = "SELECT holds FROM memoranda.state WHERE store = %s"
_LOCKED: Final = "SELECT holds FROM memoranda.state WHERE store = %s FOR UPDATE"
_KEEP: Final = "UPDATE memoranda.state SET holds = %s WHERE store = %s"


async def of_store(session: Session, number: int, *, lock: bool = False) -> tuple[Hold, ...]:
    """The holds of a store, in the order of their paths; ``lock``: nobody changes them meanwhile."""
    rows = await session.run(_LOCKED if lock else _HOLDS, (number,))
    if not rows or rows[0][0] is None:
        return ()
    kept: list[list[Any]] = json.loads(rows[0][0])
    return tuple(Hold(MemoryPath.of(tuple(names)), *rest) for names, *rest in kept)


async def put(
    session: Session, made: Made, path: MemoryPath, reason: str, context: Context, now_ns: int
) -> Hold:
    """Hold a path; one that is held already has another reason from now on."""
    hold = Hold(path, reason, context.actor, now_ns)
    held = await of_store(session, made.number, lock=True)
    await _keep(session, made, [*(each for each in held if each.path != path), hold])
    await _note(session, made, path, context, now_ns)
    return hold


async def lift(
    session: Session, made: Made, path: MemoryPath, context: Context, now_ns: int
) -> bool:
    """Lift the hold of a path; whether there was one."""
    held = await of_store(session, made.number, lock=True)
    kept = [each for each in held if each.path != path]
    if len(kept) == len(held):
        return False
    await _keep(session, made, kept)
    await _note(session, made, path, context, now_ns)
    return True


async def _keep(session: Session, made: Made, holds: Sequence[Hold]) -> None:
    rows = [
        (hold.path.segments, hold.reason, hold.actor, hold.at_ns)
        for hold in sorted(holds, key=lambda each: each.path.text)
    ]
    await session.run(_KEEP, (json.dumps(rows) if rows else None, made.number))


async def _note(
    session: Session, made: Made, path: MemoryPath, context: Context, now_ns: int
) -> None:
    said = replace(context, audit={**context.audit, PATH: path.text})
    await writing.note(session, made, said, now_ns)
