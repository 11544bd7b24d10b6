"""Holds: paths of which nothing goes until they are lifted; kept in the table ``meta``.

They lie with the store and not with the backend's list of stores: whatever drops old history reads
them in the same transaction, and a copy of the store is held as the store is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.audit import PATH
from memoranda.stores.holds import Hold

if TYPE_CHECKING:
    from memoranda.stores.base import Context
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.turn import Turn

_KEY: Final = "holds.{}"  # ``StoreLog.erase`` knows it, too


def of_store(log: StoreLog) -> tuple[Hold, ...]:
    """The holds of a store, in the order of their paths."""
    row = log.db.execute("SELECT v FROM meta WHERE k = ?", (_KEY.format(log.number),)).fetchone()
    if row is None:
        return ()
    rows: list[list[Any]] = json.loads(row[0])
    return tuple(Hold(MemoryPath.of(tuple(names)), *rest) for names, *rest in rows)


def put(turn: Turn, path: MemoryPath, reason: str, context: Context) -> Hold:
    """Hold a path; one that is held already has another reason from now on."""
    hold = Hold(path, reason, context.actor, turn.at)
    held = [each for each in of_store(turn.log) if each.path != path]
    _write(turn, [*held, hold], path, context)
    return hold


def lift(turn: Turn, path: MemoryPath, context: Context) -> bool:
    """Lift the hold of a path; whether there was one."""
    held = of_store(turn.log)
    kept = [each for each in held if each.path != path]
    if len(kept) < len(held):
        _write(turn, kept, path, context)
    return len(kept) < len(held)


def _write(turn: Turn, holds: list[Hold], path: MemoryPath, context: Context) -> None:
    rows = [
        (hold.path.segments, hold.reason, hold.actor, hold.at_ns)
        for hold in sorted(holds, key=lambda each: each.path.text)
    ]
    turn.log.db.execute(
        "INSERT INTO meta VALUES(?1, ?2) ON CONFLICT(k) DO UPDATE SET v = ?2",
        (_KEY.format(turn.log.number), json.dumps(rows)),
    )
    turn.audit(replace(context, audit={**context.audit, PATH: path.text}), turn.at)
