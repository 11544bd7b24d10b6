"""What a store's audit gives back: entries, the head of their chain, the outcome of checking it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.stores.reports import Problem
from memoranda.stores.versions import Operation

if TYPE_CHECKING:
    from datetime import datetime

OK: Final = "ok"
"""The outcome of what was done; any other is the code of an error."""

UNCHANGED: Final = "unchanged"
"""The outcome of a change that left everything as it was."""

PROPOSED: Final = "proposed"
"""The outcome of a write that waits for a person."""

PATH: Final = "path"
TARGET: Final = "target"
OUTCOME: Final = "outcome"
"""Keys of an audit draft (``Context.audit``) that are fields of an entry; others are details."""


PROPOSAL: Final = "proposal"
"""Key of a draft, and of an entry's details: the id of a write that waits or waited for a person."""

FLAGS: Final = "flags"
"""Key of a draft, and of an entry's details: by path, the marks of text that instructs the agent."""


class AuditEntry(NamedTuple):
    """Something that was done or refused: who, what, where, with which outcome. Never contents.

    ``seq`` and ``part`` order the entries of a store: what changed nothing is written together,
    under one number. Entries of one command share ``batch``. ``outcome`` is
    ``"ok"``, ``"unchanged"`` or an error's code. A change (``operation`` is not None) has the
    ``path``, size and hash that it ended with; ``before`` is where it moved from. Paths are as they
    are printed, one line each; a refused path is cut and escaped. ``details`` is whatever else
    the rules noted. What was redacted since is None, and ``is_blanked`` says so.
    """

    seq: int
    batch: int
    at_ns: int
    actor: str
    command: str
    outcome: str
    operation: Operation | None = None
    path: str | None = None
    before: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    trace_id: str | None = None
    details: Mapping[str, Any] = {}
    is_blanked: bool = False
    part: int = 0

    @property
    def at(self) -> datetime:
        """``at_ns`` as an aware datetime (microseconds)."""
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.at_ns / 1e9, tz=UTC)


class AuditHead(NamedTuple):
    """The newest entry of a store's audit and its link in the chain (64 hex digits).

    Kept in a second place it is an anchor: everything up to it can't be changed or cut off any more
    without being noticed. ``seq`` is 0 where there is no entry yet.
    """

    store_id: str
    seq: int
    chain: str


class AuditReport(NamedTuple):
    """The outcome of checking a store's audit: ``ok`` means that no entry is missing, changed or
    in another order, as far as the chain and the anchors tell."""

    problems: tuple[Problem, ...]
    entries: int
    head: AuditHead

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
