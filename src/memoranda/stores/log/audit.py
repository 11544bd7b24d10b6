"""Reading the audit: every event of a store as an entry that people and programs can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.stores.audit import OK, OUTCOME, PATH, AuditEntry
from memoranda.stores.log import events
from memoranda.stores.log.gone import draft_of
from memoranda.stores.log.packs import unpacked
from memoranda.stores.log.time_travel import STEP_COLUMNS, Past, Step

if TYPE_CHECKING:
    from memoranda.stores.log.store_log import StoreLog

_COLUMNS: Final = f"SELECT {STEP_COLUMNS}, audit, digest FROM event WHERE seq > ? AND seq < ?"
_NEXT: Final = f"{_COLUMNS} ORDER BY seq LIMIT ?"
_NEWEST: Final = f"{_COLUMNS} ORDER BY seq DESC LIMIT ?"


def entries(log: StoreLog, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
    """What ``Store.audit`` promises."""
    if limit <= 0:
        return ()
    start = log.base if after is None else log.base + max(after, 0)
    rows = log.db.execute(_NEWEST if after is None else _NEXT, (start, log.end, limit)).fetchall()
    newest_first = sorted(rows, reverse=True)
    past = Past(log, newest_first[0][0] if rows else log.base)
    read = [_entries(log, past, Step(*row[:-2]), *row[-2:]) for row in newest_first]
    if after is None:
        return tuple([entry for each in read[::-1] for entry in each][-limit:])
    found: list[AuditEntry] = []
    for each in read[::-1]:
        if len(found) >= limit:
            break
        found += each
    return tuple(found)


def _entries(
    log: StoreLog, past: Past, step: Step, draft_text: str | None, digest: bytes | None
) -> tuple[AuditEntry, ...]:
    """The entries that an event stands for: one, but for what was noted together."""
    draft = draft_of(draft_text)
    entry = AuditEntry(
        seq=step.seq - log.base,
        batch=step.batch - log.base,
        at_ns=step.at,
        actor=step.actor,
        command=step.command,
        outcome=OK,
        trace_id=step.trace,
        is_blanked=digest is not None,
    )
    if step.node is None:
        return tuple(unpacked(entry, draft))
    draft.pop(PATH, None)  # what the log knows itself is better
    draft.pop(OUTCOME, None)
    place = step.parent, step.name
    before = step.oparent, step.oname
    if step.op == events.DELETED:
        place, before = before, place
    past.back_to(step.seq - (step.op == events.DELETED))
    left = None
    if before != place and before[0] is not None and step.op == events.MODIFIED:
        left = Past(log, step.seq - 1).path(*before)
    changed = entry._replace(
        operation=events.OPERATIONS[step.op or events.MODIFIED],
        path=_printed(past, *place),
        before=None if left is None else str(left),
        size_bytes=step.size,
        sha256=None if step.sha is None else step.sha.hex(),
        details=draft,
    )
    return (changed,)


def _printed(past: Past, parent: int | None, name: str | None) -> str | None:
    """A path as it is printed, a directory's with its slash."""
    path = past.path(parent, None if name is None else name.rstrip("/"))
    if path is None or name is None:
        return None
    return f"{path}/" if name.endswith("/") else str(path)
