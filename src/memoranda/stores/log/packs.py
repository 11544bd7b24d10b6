"""Entries of what changed nothing, many in one event.

An event costs 20 to 40 us, most of it for its hashes and its row; a view may cost two. So what was
noted since the last commit becomes a few events whose drafts hold it: one link of the chain each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Corrupt
from memoranda.stores.audit import OK, OUTCOME, PATH, AuditEntry
from memoranda.stores.base import Context

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOTED: Final = "noted"
"""The key of such a draft, and the command of such an event: rows of time, actor, command, trace
and draft."""
MOST_IN_ONE: Final = 64
"""Entries that are written together are read, kept and dropped together."""

_ACTOR: Final = "audit"


def packed(notes: Sequence[tuple[Context, int]]) -> Iterator[tuple[Context, int]]:
    """The entries of ``notes``, each with its time, in as few events as may be."""
    if len(notes) == 1:
        yield notes[0]
        return
    for start in range(0, len(notes), MOST_IN_ONE):
        rows = [
            (at_ns, context.actor, context.command, context.trace_id, context.audit)
            for context, at_ns in notes[start : start + MOST_IN_ONE]
        ]
        yield Context(_ACTOR, NOTED, audit={NOTED: rows}), rows[-1][0]


def unpacked(whole: AuditEntry, draft: Mapping[str, Any]) -> Iterator[AuditEntry]:
    """The entries that an event without a node stands for; ``whole`` is the event as one entry."""
    if NOTED not in draft:
        yield _with(whole, draft)
        return
    try:
        for part, (at_ns, actor, command, trace_id, each) in enumerate(draft[NOTED]):
            entry = whole._replace(
                part=part, at_ns=at_ns, actor=actor, command=command, trace_id=trace_id
            )
            yield _with(entry, each)
    except (TypeError, ValueError) as error:
        raise Corrupt("An entry of the audit can't be read.") from error


def _with(entry: AuditEntry, draft: Mapping[str, Any]) -> AuditEntry:
    details = dict(draft)
    path = details.pop(PATH, None)
    outcome = str(details.pop(OUTCOME, OK))
    return entry._replace(
        path=None if path is None else str(path), outcome=outcome, details=details
    )
