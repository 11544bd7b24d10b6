"""Taking a path out of the audit's entries of what changed nothing: views, refusals, holds.

Entries of changes lose their paths with their versions (``redaction.py``). Each entry keeps its digest
in place of what goes, and an entry of its own says what is left of it, so the chain still holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from memoranda.light_dataclasses import replace
from memoranda.stores.log import events
from memoranda.stores.log.gone import draft_of
from memoranda.stores.log.redaction import Blanking

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context
    from memoranda.stores.log.turn import Turn


def forget(turn: Turn, path: MemoryPath, context: Context) -> int:
    """Blank a path, and all beneath it, in the drafts of all entries; of how many events."""
    log, blanked, count = turn.log, Blanking(turn.log), 0
    rows = log.db.execute(
        "SELECT seq, audit FROM event WHERE seq > ? AND seq < ? AND audit IS NOT NULL",
        (log.base, log.end),
    ).fetchall()
    for seq, text in rows:
        draft = draft_of(text)
        left = without(draft, path.text)
        if left != draft:
            blanked.set(events.load(log, seq), "audit = ?", json.dumps(left))
            count += 1
    if count:
        turn.audit(replace(context, audit={**context.audit, **blanked.draft()}), turn.at)
    return count


def without(value: Any, path: str) -> Any:
    """A draft's value, with null in place of each text that is the path or lies beneath it."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {key: without(each, path) for key, each in pairs if not _is_in(key, path)}
    if isinstance(value, list):
        return [without(each, path) for each in cast("list[object]", value)]
    return None if isinstance(value, str) and _is_in(value, path) else value


def _is_in(text: str, path: str) -> bool:
    return text == path or text.startswith(f"{path}/")
