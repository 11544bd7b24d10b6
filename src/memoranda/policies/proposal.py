"""A write that waits: what it would do, what it was made from, and how it is kept as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from memoranda.errors import Corrupt
from memoranda.path import MemoryPath
from memoranda.stores.base import Change, Expect, IfVersion, Move, Precondition, Put, Remove

ABSENT: Final = "absent"
"""In place of the version that a change was made from: there was nothing at its path."""

ProposalState: TypeAlias = Literal["waits", "stale", "expired"]

_FORMAT: Final = 1
_DIGEST_CHARS: Final = 16


class ProposedChange(NamedTuple):
    """What is to be done with one memory.

    ``base`` is the version that it was made from (``memver_...``), ``"absent"``, or None where an
    earlier change of the same proposal decides. ``size_bytes`` and ``sha256`` are those of what is
    to be written, ``content`` comes with one proposal and not with a list. ``target`` is where a
    move leads, ``keep_id`` the id of a removed memory that comes back.
    """

    operation: Literal["write", "remove", "move"]
    path: MemoryPath
    base: str | None
    target: MemoryPath | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    keep_id: str | None = None
    content: bytes | None = None

    def as_change(self) -> Change:
        """The change, on the condition that what it was made from is still there."""
        expect: Precondition = Expect.ANY
        if self.base is not None:
            expect = Expect.ABSENT if self.base == ABSENT else IfVersion(self.base)
        if self.operation == "write":
            if self.content is None:
                raise Corrupt("The text of a proposal is gone.")
            return Put(self.path, self.content, expect, self.keep_id)
        if self.target is None:
            return Remove(self.path, expect)
        return Move(self.path, self.target, expect)


class Proposal(NamedTuple):
    """A write that waits for a person, all of it or nothing.

    ``id`` is ``prop_...``, ``path`` what the write was about, ``actor``, ``command`` and ``trace_id``
    say who wanted what. Times are nanoseconds since 1970, UTC. ``flags`` are marks of text that
    instructs the agent, by path. ``state`` is how things are when it is shown: ``"stale"`` once
    something that it was made from has changed, ``"expired"`` once its time is over.
    """

    id: str
    path: MemoryPath
    changes: tuple[ProposedChange, ...]
    actor: str
    command: str
    trace_id: str | None
    at_ns: int
    expires_ns: int
    flags: Mapping[str, Sequence[str]] = {}
    state: ProposalState = "waits"


def proposal_id(at_ns: int, actor: str, changes: Sequence[ProposedChange]) -> str:
    """An id that sorts by time, and ends alike for the same changes by the same actor."""
    said = json.dumps([actor, [_row(change) for change in changes]])
    digest = sha256(said.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"prop_{at_ns // 1_000_000:012x}{digest}"


def asks_the_same(one: str, other: str) -> bool:
    """Whether two ids are those of the same changes by the same actor."""
    return one[-_DIGEST_CHARS:] == other[-_DIGEST_CHARS:]


def to_text(proposal: Proposal) -> bytes:
    """A proposal without the contents of its changes, as it is kept."""
    return json.dumps(
        {
            "format": _FORMAT,
            "path": proposal.path.segments,
            "actor": proposal.actor,
            "command": proposal.command,
            "trace_id": proposal.trace_id,
            "at_ns": proposal.at_ns,
            "expires_ns": proposal.expires_ns,
            "flags": proposal.flags,
            "changes": [_row(change) for change in proposal.changes],
        },
        indent=1,
    ).encode()


def from_text(proposal_id: str, data: bytes) -> Proposal:
    """The proposal that ``to_text`` made; raises ``Corrupt``."""
    try:
        kept: dict[str, Any] = json.loads(data)
        if kept["format"] != _FORMAT:
            raise Corrupt("A proposal was written by a newer release; use that one.")
        return Proposal(
            proposal_id,
            _path(kept["path"]),
            tuple(_change(row) for row in kept["changes"]),
            kept["actor"],
            kept["command"],
            kept["trace_id"],
            kept["at_ns"],
            kept["expires_ns"],
            kept["flags"],
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Corrupt("A proposal is damaged; reject it.") from None


def _row(change: ProposedChange) -> dict[str, Any]:
    kept = {**change._asdict(), "path": change.path.segments}
    del kept["content"]
    kept["target"] = None if change.target is None else change.target.segments
    return kept


def _change(row: Mapping[str, Any]) -> ProposedChange:
    target = row["target"]
    return ProposedChange(
        row["operation"],
        _path(row["path"]),
        row["base"],
        None if target is None else _path(target),
        row["size_bytes"],
        row["sha256"],
        row["keep_id"],
    )


def _path(names: Sequence[str]) -> MemoryPath:
    return MemoryPath.of(tuple(names))
