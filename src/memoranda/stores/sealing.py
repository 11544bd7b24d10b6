"""A plan as what is to be written: events with their links in the hash chain, counters, versions.

The digest of an event keys what can identify somebody (path, size, hash, audit draft) with the
store's secret, so that redaction can blank the values and the chain still holds. It is stored only
once something was blanked; until then it can be computed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from memoranda.digests import blake2b, sha256
from memoranda.stores.base import Version
from memoranda.stores.log import ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context
    from memoranda.stores.log.ids import Numbered
    from memoranda.stores.log.records import Taken
    from memoranda.stores.planning import Item, Plan, State

CREATED: Final = 1
MODIFIED: Final = 2
DELETED: Final = 3
OPERATIONS: Final[dict[int, Literal["created", "modified", "deleted"]]] = {
    CREATED: "created",
    MODIFIED: "modified",
    DELETED: "deleted",
}
EVENT_BYTES: Final = 200
"""What an event takes beside its content, in bytes: a round figure for the history budget."""
NO_CHAIN: Final = bytes(32)
"""What the first event of a store is chained to."""


class Event(NamedTuple):
    """A version of a memory, or an audit entry of no change.

    ``body`` is the number of the event that brought the content.
    """

    seq: int
    batch: int
    memory: int | None
    op: int | None
    path: str | None
    at: int
    actor: str
    command: str
    trace: str | None
    size: int | None
    sha: bytes | None
    body: int | None
    audit: str | None


class Written(NamedTuple):
    """An event with its place in the chain and what comes with it."""

    event: Event
    chain: bytes
    item: Item | None = None
    """The memory that it changed, as it is from now on."""
    data: bytes | None = None
    """The content that it brings."""
    is_vacated: bool = False
    """Whether the memory was elsewhere before, or is gone."""
    is_arrived: bool = False
    """Whether the memory was not at its path before."""


class Sealed(NamedTuple):
    """What a batch writes, and the versions that it makes."""

    state: State
    history_bytes: int
    written: Sequence[Written]
    uses: Mapping[MemoryPath, int]
    versions: tuple[Version, ...]


def seal(
    made: Numbered, plan: Plan, context: Context | None, taken: Taken, now_ns: int
) -> Sealed | None:
    """What a plan and waiting records come to; None if that is nothing.

    ``now_ns`` is the clock; time never goes back within a store.
    """
    notes, uses = taken
    events = _Events(made.secret, plan.state)
    for note, at_ns in notes:
        events.note(note, max(plan.state.at, min(at_ns, now_ns)))
    at = max(events.at, now_ns)
    if context is not None and context.at_ns is not None:
        at = max(events.at, context.at_ns)
    versions: list[Version] = []
    batch = events.seq + 1
    for item in plan.touched:
        before = plan.before.get(item.id)
        was_at = None if before is None else before.path
        if item.path is None and was_at is None:
            continue  # it came and went
        if before is not None and (item.path, item.sha) == (was_at, before.sha):
            continue  # it is what it was
        assert context is not None  # changes come with one
        seq = events.seq + 1
        if item.path is None:
            op, path = DELETED, item.last_path
        else:
            op, path = (MODIFIED if was_at is not None else CREATED), item.path
        assert path is not None  # it was or is somewhere
        if item.id < 0:
            item.id = seq
        if not item.created:
            item.created = at
        item.head, item.updated = seq, at
        data: bytes | None = None
        if item.path is not None and not item.body:
            assert item.data is not None  # it is new
            item.body = seq
            data = item.data
        is_gone = item.path is None
        event = Event(
            seq, batch, item.id, op, path.store_path, at, clean(context.actor),
            clean(context.command), None if context.trace_id is None else clean(context.trace_id),
            None if is_gone else item.size, None if is_gone else item.sha,
            None if is_gone else item.body, audit_text(context) if seq == batch else None,
        )  # fmt: skip
        is_elsewhere = item.path != was_at
        events.add(
            event,
            item,
            data,
            is_vacated=was_at is not None and is_elsewhere,
            is_arrived=item.path is not None and is_elsewhere,
        )
        versions.append(version_of(made, event, path))
    if not events.written and not uses:
        return None
    files, total = plan.totals()
    return Sealed(
        plan.state._replace(
            seq=events.seq,
            at=events.at,
            chain=events.chain,
            files=files,
            bytes=total,
        ),
        events.taken,
        events.written,
        uses,
        tuple(versions),
    )


class _Events:
    """Events in the making, each chained to the one before."""

    def __init__(self, secret: bytes, state: State) -> None:
        self._secret = secret
        self.seq = state.seq
        self.at = state.at
        self.chain = state.chain
        self.written: list[Written] = []
        self.taken = 0

    def note(self, context: Context, at_ns: int) -> None:
        """An audit entry of something that changed nothing."""
        seq = self.seq + 1
        trace = None if context.trace_id is None else clean(context.trace_id)
        self.add(
            Event(
                seq, seq, None, None, None, at_ns, clean(context.actor), clean(context.command),
                trace, None, None, None, audit_text(context),
            ),
        )  # fmt: skip

    def add(
        self,
        event: Event,
        item: Item | None = None,
        data: bytes | None = None,
        *,
        is_vacated: bool = False,
        is_arrived: bool = False,
    ) -> None:
        """One more, with what it changed and brings."""
        self.chain = chained(event, digest_of(event, self._secret), self.chain)
        self.seq, self.at = event.seq, event.at
        self.taken += EVENT_BYTES + len(data or b"")
        self.written.append(Written(event, self.chain, item, data, is_vacated, is_arrived))


def digest_of(event: Event, secret: bytes) -> bytes:
    """The keyed digest of what can identify."""
    said = f"{_sized(event.path)}{event.size} {_sized(event.audit)}"
    return blake2b(
        said.encode() + (event.sha or b""), digest_size=32, key=secret, person=b"digest"
    ).digest()


def chained(event: Event, digest: bytes, before: bytes) -> bytes:
    """The chain value of an event that follows one with the chain value ``before``."""
    said = (
        f"{event.seq} {event.batch} {event.memory} {event.op} {event.at}"
        f" {_sized(event.actor)}{_sized(event.command)}{_sized(event.trace)}"
    )
    return sha256(before + digest + said.encode()).digest()


def version_of(made: Numbered, event: Event, path: MemoryPath | None) -> Version:
    """The version that an event of a memory is."""
    assert event.memory is not None  # no audit entry
    assert event.op is not None
    return Version(
        id=ids.version_id(made, event.seq, event.memory),
        memory_id=ids.memory_id(made, event.memory),
        operation=OPERATIONS[event.op],
        path=path,
        actor=event.actor,
        command=event.command,
        created_at_ns=event.at,
        seq=event.seq,
        size_bytes=event.size,
        sha256=None if event.sha is None else event.sha.hex(),
        trace_id=event.trace,
        batch=event.batch,
    )


def audit_text(context: Context) -> str | None:
    """The audit draft as it is kept; ASCII."""
    return json.dumps(dict(context.audit)) if context.audit else None


def clean(text: str) -> str:
    """A text without what PostgreSQL can't hold: a NUL, half a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _sized(text: str | None) -> str:
    return "- " if text is None else f"{len(text)} {text} "
