"""From a batch to what can wait: each change with its content and with what it was made from.

The batch is rehearsed in the store's own transaction, which a last edit of ours ends without a
change: whatever the store would refuse it refuses now, and edits show what they would lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from memoranda.errors import (
    FileTooLarge,
    IsADirectory,
    MemoryFull,
    NotFound,
    Refused,
    TooManyFiles,
)
from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.policies.proposal import ABSENT, ProposedChange
from memoranda.stores.base import (
    Ceiling,
    Change,
    Context,
    Edit,
    Entry,
    Expect,
    IfContent,
    IfVersion,
    Move,
    Precondition,
    Put,
    Remove,
    Store,
)
from memoranda.stores.beneath import memories_beneath

if TYPE_CHECKING:
    from memoranda.text.splice import Splice

_Before: TypeAlias = dict[MemoryPath, Entry | None]


class Prepared(NamedTuple):
    """``batch`` is what was asked for, bound to what it was made from; ``proposed`` the same, memory
    by memory, with contents. ``changes_something`` is False where each memory would stay as it is."""

    batch: tuple[Change, ...]
    proposed: tuple[ProposedChange, ...]
    changes_something: bool


async def prepare(
    store: Store, changes: Sequence[Change], context: Context, ceiling: Ceiling
) -> Prepared:
    """A batch, ready to wait. Changes nothing; two reads a change, and one batch that is undone.

    Raises what ``Store.apply`` raises, and what ``ceiling`` names as far as can be said now.
    """
    before = await _before(store, changes)
    results: dict[int, bytes] = {}
    batch = _bound_batch(changes, before)
    rehearsed = [_noting(change, number, results) for number, change in enumerate(batch)]
    await _rehearse(store, rehearsed, context, before)
    proposed: list[ProposedChange] = []
    for number, change in enumerate(batch):
        proposed += await _proposed(store, change, before, results.get(number))
    await _check_ceiling(store, proposed, before, ceiling)
    same = all(
        one.operation == "write" and _is_as_before(one, before.get(one.path)) for one in proposed
    )
    return Prepared(tuple(batch), tuple(proposed), not same)


async def _before(store: Store, changes: Sequence[Change]) -> _Before:
    """What lies at the paths of a batch before it; nothing is said of directories."""
    before: _Before = {}
    for change in changes:
        path = change.source if isinstance(change, Move) else change.path
        if path not in before:
            try:
                before[path] = await store.stat(path)
            except NotFound:
                before[path] = None
            except IsADirectory:
                continue
    return before


def _bound_batch(changes: Sequence[Change], before: _Before) -> list[Change]:
    """The changes, each bound to what it was made from unless an earlier one decides about that."""
    touched: list[MemoryPath] = []
    bound: list[Change] = []
    for change in changes:
        path = change.source if isinstance(change, Move) else change.path
        is_touched = any(path == one or path.is_below(one) for one in touched)
        bound.append(change if is_touched else _bound(change, path, before))
        touched += (path, change.target) if isinstance(change, Move) else (path,)
    return bound


def _bound(change: Change, path: MemoryPath, before: _Before) -> Change:
    """The change on the condition that its memory is what it was when it was looked at.

    A condition of its own that does not hold stays, so that the store says so.
    """
    if path not in before:
        return change
    entry, expect = before[path], change.expect
    if entry is None:
        bound: Precondition = Expect.ABSENT if expect is Expect.ANY else expect
        return replace(change, expect=bound) if isinstance(change, Put) else change
    if expect is Expect.ANY or expect == IfContent(entry.sha256):
        return replace(change, expect=IfVersion(entry.version_id))
    return change


def _noting(change: Change, number: int, results: dict[int, bytes]) -> Change:
    """The change, which notes what an edit leads to."""
    if isinstance(change, Put):
        results[number] = change.content
    if not isinstance(change, Edit):
        return change
    judged = change

    def edit(old: bytes) -> Splice:
        splice = judged.edit(old)
        results[number] = splice.apply(old)
        return splice

    return replace(change, edit=edit)


class _Rehearsed(Refused):
    """Everything would have been done; caught where it was rehearsed."""


def _stop(old: bytes) -> Splice:
    raise _Rehearsed


async def _rehearse(
    store: Store, changes: Sequence[Change], context: Context, before: _Before
) -> None:
    """Have the store do a batch and take it back; raises what it refuses."""
    last = changes[-1]
    end = last.target if isinstance(last, Move) else last.path
    try:
        await store.apply([*changes, Edit(end, _stop)], context)
    except _Rehearsed:
        return
    except IsADirectory as error:
        # A whole directory was moved: there is no memory at the target to be edited.
        if not isinstance(last, Move) or error.path != end or end == last.source:
            raise
    except NotFound as error:
        # The same where something was removed, if it was there.
        if not isinstance(last, Remove) or error.path != end or before.get(end, end) is None:
            raise


async def _proposed(
    store: Store, change: Change, before: _Before, result: bytes | None
) -> list[ProposedChange]:
    if isinstance(change, Put | Edit):
        assert result is not None, "it was rehearsed"
        keep_id = change.keep_id if isinstance(change, Put) else None
        digest = sha256(result).hexdigest()
        base = _base(change.expect)
        return [
            ProposedChange("write", change.path, base, None, len(result), digest, keep_id, result)
        ]
    source = change.source if isinstance(change, Move) else change.path
    target = change.target if isinstance(change, Move) else None
    operation: Literal["remove", "move"] = "remove" if target is None else "move"
    if source in before:
        return [ProposedChange(operation, source, _base(change.expect), target)]
    # Memory by memory: what comes in meanwhile is not approved along with it.
    return [
        ProposedChange(
            operation,
            entry.path,
            entry.version_id,
            None if target is None else moved(entry.path, source, target),
        )
        for entry in await memories_beneath(store, source)
    ]


def moved(path: MemoryPath, source: MemoryPath, target: MemoryPath) -> MemoryPath:
    """Where a path at or beneath ``source`` is once that is moved to ``target``."""
    return MemoryPath.of((*target.segments, *path.segments[len(source.segments) :]))


def _base(expect: Precondition) -> str | None:
    if isinstance(expect, IfVersion):
        return expect.version_id
    return ABSENT if expect is Expect.ABSENT else None


def _is_as_before(change: ProposedChange, entry: Entry | None) -> bool:
    return entry is not None and change.sha256 == entry.sha256


async def _check_ceiling(
    store: Store, changes: Sequence[ProposedChange], before: _Before, ceiling: Ceiling
) -> None:
    """Raise what would be too much now: the store looks again when it is approved."""
    grown = added = 0
    for change in changes:
        entry = before.get(change.path)
        old = 0 if entry is None else entry.size_bytes
        if change.size_bytes is not None:
            limit = ceiling.file_bytes
            if limit is not None and change.size_bytes > max(old, limit):
                raise FileTooLarge(change.path, change.size_bytes, limit)
            grown += change.size_bytes - old
            added += entry is None
        elif change.operation == "remove":
            grown, added = grown - old, added - 1
    used = await store.usage()
    if ceiling.total_bytes is not None and used.size_bytes + grown > max(
        used.size_bytes, ceiling.total_bytes
    ):
        raise MemoryFull(used.size_bytes, ceiling.total_bytes)
    if ceiling.files is not None and used.files + added > max(used.files, ceiling.files):
        raise TooManyFiles(used.files)
