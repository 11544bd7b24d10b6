"""Versions: what the history shows of the events.

An event of a file is a version of it. An event of a directory (a move, a removal) is a version of
each file beneath it at that time, shown as theirs. Of the versions of one memory in one batch only
the newest is shown: one batch, one version.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.digests import sha256
from memoranda.errors import Corrupt, UnknownId
from memoranda.stores.base import Moment, Version, VersionFilter, VersionPage
from memoranda.stores.log import bodies, events, ids
from memoranda.stores.log.schema import WENT_AWAY
from memoranda.stores.log.time_travel import STEP_COLUMNS, Past, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.path import MemoryPath
    from memoranda.stores.log.store_log import StoreLog

_NEWEST_FIRST: Final = (
    f"SELECT {STEP_COLUMNS} FROM event WHERE seq <= ? AND seq > ? AND node IS NOT NULL"
    " ORDER BY seq DESC"
)
_EVER_IN: Final = (
    "SELECT id, name FROM node WHERE gone IS NULL AND parent = ?",
    "SELECT id, name FROM node WHERE gone IS NOT NULL AND parent = ?",
    f"SELECT node, oname FROM event WHERE {WENT_AWAY} AND oparent = ?",
)
_EVER_AT: Final = (
    f"{_EVER_IN[0]} AND name = ?",
    f"{_EVER_IN[1]} AND name = ?",
    f"{_EVER_IN[2]} AND oname = ?",
)


class Shown(NamedTuple):
    """One version as the history shows it: ``step`` is the event, ``own`` the file's event whose
    content it has (the same one, or an older one beneath a directory's event)."""

    step: Step
    node: int
    path: MemoryPath | None
    own: Step | None

    @property
    def key(self) -> tuple[int, int]:
        """Where it stands, newest first."""
        return -self.step.seq, -self.node


# ---------------------------------------------------------------- what the store promises


def versions(
    log: StoreLog, where: VersionFilter, after: str | None, limit: int, *, content: bool
) -> VersionPage:
    """What ``Store.versions`` promises. ``after`` is the id of the last version of the page before;
    raises ``UnknownId`` for one that this store never gave."""
    top, position = _start(log, after)
    if where.to_ns is not None:
        top = min(top, log.base + moment(log, where.to_ns).seq)
    found = _stream(log, where, top)
    chosen: list[Shown] = []
    listed: list[Version] = []
    for shown in found:
        if where.from_ns is not None and shown.step.at < where.from_ns:
            break
        if position is not None and shown.key <= position:
            continue
        version = made(log, shown)
        if _matches(version, where):
            chosen.append(shown)
            listed.append(version)
            if len(listed) > limit:
                break
    after = listed[limit - 1].id if len(listed) > limit > 0 else None
    listed = listed[:limit]
    if content:
        listed = [
            version._replace(content=_content(log, shown, version))
            for shown, version in zip(chosen, listed, strict=False)
        ]
    return VersionPage(tuple(listed), after)


def one(log: StoreLog, version_id: str) -> Version:
    """What ``Store.version`` promises."""
    shown = find(log, version_id)
    version = made(log, shown)
    return version._replace(content=_content(log, shown, version))


def find(log: StoreLog, version_id: str) -> Shown:
    """The version with an id; raises ``UnknownId``."""
    numbers = ids.event_of(log, version_id)
    if numbers is not None:
        seq, node = numbers
        past = Past(log, seq)
        step = past.step(seq)
        if step is not None and step.node is not None:
            if step.node == node:
                past.know(step)
                return _shown(past, step, node)
            past.back_to(seq - 1)  # beneath a directory before its event is beneath it after, too
            if any(track.node.id == step.node for track in past.lines_up(node)[1:]):
                return _shown(Past(log, seq), step, node)
    raise UnknownId("version")


def moment(log: StoreLog, at_ns: int) -> Moment:
    """What ``Store.moment`` promises: halves the range of numbers, since times never go back."""
    low, high = log.base, log.last_seq()  # the time of low is not after at_ns
    while low < high:
        middle = (low + high + 1) // 2
        row = log.db.execute(
            "SELECT seq, at FROM event WHERE seq >= ? ORDER BY seq LIMIT 1", (middle,)
        ).fetchone()
        assert row is not None  # high is one
        if row[1] <= at_ns:
            low = row[0]
        else:
            high = middle - 1
    return Moment(low - log.base)


# ---------------------------------------------------------------- which versions


def _start(log: StoreLog, after: str | None) -> tuple[int, tuple[int, int] | None]:
    """The event to start from, and the key of the last version that was shown. Starts at the end
    of that version's batch, so that what was coalesced into it is seen again."""
    if after is None:
        return log.end - 1, None
    numbers = ids.event_of(log, after)
    if numbers is None:
        raise UnknownId("version")
    seq, node = numbers
    top = seq
    batch = log.db.execute("SELECT batch FROM event WHERE seq = ?", (seq,)).get
    for newer, its_batch in log.db.execute(
        "SELECT seq, batch FROM event WHERE seq > ? AND seq < ? ORDER BY seq", (seq, log.end)
    ):
        if its_batch != batch:
            break
        top = newer
    return top, (-seq, -node)


def _stream(log: StoreLog, where: VersionFilter, top: int) -> Iterator[Shown]:
    if where.memory_id is not None:
        number = ids.node_of(log, where.memory_id)
        numbers = set[int]() if number is None else {number}
        if where.path is not None:
            numbers = {n for n in numbers if _was_at(log, n, where.path)}
    elif where.path is None or where.path.is_root:
        return of_store(log, top)
    else:
        path = where.path
        numbers = {n for n in _maybe_at(log, path) if _was_at(log, n, path)}
    return heapq.merge(*(of_memory(log, n, top) for n in numbers), key=lambda shown: shown.key)


def of_memory(log: StoreLog, number: int, top: int) -> Iterator[Shown]:
    """The versions of one memory, newest first, from event ``top`` back."""
    past = Past(log, top)
    batch = None
    while (lines := past.lines_up(number)) and lines[0].step is not None:
        step = max(track.step for track in lines if track.step is not None)  # by number
        if step.batch != batch:
            batch = step.batch
            yield _shown(past, step, number)
        past.back_to(step.seq - 1)


def of_store(log: StoreLog, top: int) -> Iterator[Shown]:
    """The versions of all memories, newest first, from event ``top`` back."""
    past = Past(log, top)
    batch = None
    seen: set[int] = set()
    for row in log.db.execute(_NEWEST_FIRST, (top, log.base)):
        step = Step(*row)
        past.back_to(step.seq)
        if step.batch != batch:
            batch = step.batch
            seen.clear()
        for number in _changed_by(past, step):
            if number not in seen:
                seen.add(number)
                yield _shown(past, step, number)


def _changed_by(past: Past, step: Step) -> list[int]:
    """The memories of which an event is a version, in the order of the history; without those of
    which nothing older is kept."""
    assert step.node is not None
    if not (step.name or step.oname or "").endswith("/"):
        return [step.node]
    if step.op == events.DELETED:
        past.back_to(step.seq - 1)
    beneath = past.files_beneath(step.node)
    return sorted((track.node.id for track in beneath if track.step is not None), reverse=True)


def _maybe_at(log: StoreLog, path: MemoryPath) -> set[int]:
    """Files that were once at ``path`` or beneath it, and maybe some more: each name of the path
    may have been there at another time."""
    directories = {log.base}
    for name in path.segments[:-1]:
        directories = {n for d in directories for n in _ever(log, d, name + "/")}
    files = {n for d in directories for n in _ever(log, d, path.name)}
    directories = {n for d in directories for n in _ever(log, d, path.name + "/")}
    done: set[int] = set()
    while directories - done:
        directory = (directories - done).pop()
        done.add(directory)
        for number, inside in _ever_in(log, directory):
            (directories if (inside or "").endswith("/") else files).add(number)
    return files


def _ever(log: StoreLog, directory: int, name: str) -> set[int]:
    return {row[0] for one in _EVER_AT for row in log.db.execute(one, (directory, name))}


def _ever_in(log: StoreLog, directory: int) -> list[tuple[Any, ...]]:
    return [row for one in _EVER_IN for row in log.db.execute(one, (directory,))]


def _was_at(log: StoreLog, number: int, path: MemoryPath) -> bool:
    return any(
        shown.path is not None and (shown.path == path or shown.path.is_below(path))
        for shown in of_memory(log, number, log.end - 1)
    )


def _matches(version: Version, where: VersionFilter) -> bool:
    return (where.operation is None or version.operation == where.operation) and (
        where.actor is None or version.actor == where.actor
    )


# ---------------------------------------------------------------- one version


def _shown(past: Past, step: Step, number: int) -> Shown:
    """An event as a version of a memory; takes ``past`` back to it."""
    deleted = step.op == events.DELETED
    past.back_to(step.seq - deleted)
    if step.node == number:
        at = (step.oparent, step.oname) if deleted else (step.parent, step.name)
        return Shown(step, number, past.path(*at), step)
    track = past.track(number)
    assert track is not None  # who asks found the node beneath the directory
    return Shown(step, number, past.path(track.parent, track.name), past.head(track))


def made(log: StoreLog, shown: Shown) -> Version:
    """A version without its content."""
    step, number, path, own = shown
    assert step.op is not None
    operation = events.OPERATIONS[step.op]
    if step.op == events.MODIFIED and own is not None and own.batch == step.batch:
        operation = events.OPERATIONS[own.op or step.op]  # made and moved along in one batch
    redacted = _redaction(log, shown)
    size, sha = (None, None) if own is None or operation == "deleted" else (own.size, own.sha)
    return Version(
        id=ids.version_id(log, step.seq, number),
        memory_id=ids.memory_id(log, number),
        operation=operation,
        path=None if redacted else path,
        actor=step.actor,
        command=step.command,
        created_at_ns=step.at,
        seq=step.seq - log.base,
        size_bytes=None if redacted else size,
        sha256=None if redacted or sha is None else sha.hex(),
        trace_id=step.trace,
        redacted_at_ns=redacted[0] if redacted else None,
        redacted_by=redacted[1] if redacted else None,
        late=bool(step.late),
        batch=step.batch - log.base,
    )


def _redaction(log: StoreLog, shown: Shown) -> tuple[int, str | None] | None:
    """When and by whom a version was redacted. A version that a directory's move stands for is,
    too, once the content it shows is blanked."""
    step, number, _, own = shown
    if own is not None and own.redacted_at is not None:
        is_blank = own.sha is None and step.op != events.DELETED
        if own is step or is_blank:
            return own.redacted_at, own.redacted_by
    if step.node == number:
        return None
    return log.db.execute(
        "SELECT at, by FROM redacted WHERE seq = ? AND node = ?", (step.seq, number)
    ).fetchone()


def _content(log: StoreLog, shown: Shown, version: Version) -> bytes | None:
    if version.sha256 is None or shown.own is None:
        return None
    data = bodies.content(log, shown.own.seq)
    if sha256(data).digest() != shown.own.sha:
        raise Corrupt("A version does not match its hash.")
    return data
