"""The next head: what a sealed batch makes of a head, and how a head goes into the trees. No I/O but
the pages that a tree has to read to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memoranda.light_dataclasses import replace
from memoranda.stores.base import Ceiling
from memoranda.stores.bucket import tree
from memoranda.stores.bucket.head import (
    EVENTS,
    EVER,
    MEMORIES,
    PATHS,
    TREES,
    VERSIONS,
    ever_key,
    new_attempt,
    path_row,
    version_key,
)
from memoranda.stores.bucket.kept import DRAFT_BYTES, Kept, row_of, taken_by
from memoranda.stores.planning import Plan, Seen
from memoranda.stores.sealing import seal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.shelf import Bench
    from memoranda.stores.bucket.sight import Sight
    from memoranda.stores.bucket.tree import Key, Root, Row
    from memoranda.stores.planning import Item
    from memoranda.stores.sealing import Sealed, Written

    Changes = Mapping[str, Mapping[Key, Row | None]]


async def advanced(sight: Sight, bench: Bench, plan: Plan, sealed: Sealed, token: str) -> Head:
    """The head after a batch; its contents and long drafts are put on the bench."""
    head = sight.head
    written = sealed.written
    placed = _placed(bench, written)
    tail = [_kept(one, token, placed) for one in written]
    changed = [one.item for one in written if one.item is not None]
    paths = dict(head.paths)
    for one in written:
        if one.is_vacated and one.item is not None:
            before = plan.before[one.item.id]
            assert before.path is not None  # it was somewhere
            text = before.path.store_path
            paths[text] = (paths[text][0] if text in paths else before.size, None)
    for item in changed:
        if item.path is None:
            continue
        text = item.path.store_path
        if text in paths:
            size = paths[text][0]
        else:
            was = plan.before.get(item.id)
            size = was.size if was is not None and was.path == item.path else None
        paths[text] = (size, path_row(item))
    ever = [
        ever_key(one.item.path.store_path, one.item.id)
        for one in written
        if one.is_arrived and one.item is not None and one.item.path is not None
    ]
    return replace(
        head,
        turn=head.turn + 1,
        attempt=new_attempt(),
        state=sealed.state,
        versions=head.versions + len(sealed.versions),
        history=head.history + sum(kept.taken for kept in tail),
        tail=(*head.tail, *tail),
        paths={text: kept for text, kept in paths.items() if kept != (None, None)},
        memories=dict(head.memories) | await _memories(sight, changed, sealed.uses),
        ever=(*head.ever, *ever),
    )


async def folded(sight: Sight, bench: Bench, head: Head, more: Changes | None = None) -> Head:
    """A head with nothing left beside the trees; ``more`` are changes of trees that go before its
    own. ``sight`` shows the trees that it has so far."""
    extra: Changes = more or {}
    own: dict[str, dict[Any, Row | None]] = {
        PATHS: {text: row for text, (_, row) in head.paths.items()},
        MEMORIES: dict(head.memories),
        EVENTS: {kept.event.seq: row_of(kept) for kept in head.tail},
        VERSIONS: {
            version_key(kept.event.memory, kept.event.seq): [None, kept.event.at]
            for kept in head.tail
            if kept.event.memory is not None
        },
        EVER: {key: [None] for key in head.ever},
    }
    roots: dict[str, Root] = {}
    for name in TREES:
        changes = own[name] | dict(extra.get(name, {}))
        root = await tree.update(bench, sight.head.roots.get(name), changes)
        if root is not None:
            roots[name] = root
    return replace(head, roots=roots, tail=(), paths={}, memories={}, ever=())


async def _memories(
    sight: Sight, changed: list[Item], uses: Mapping[MemoryPath, int]
) -> dict[int, Row]:
    """The rows of memories that changed or were used; what is not there is passed over."""
    used = {item.id: uses[path] for path, item in (await sight.items(uses)).items()} if uses else {}
    before = await sight.memories_of({*(item.id for item in changed), *used})
    rows: dict[int, Row] = {}
    for number, at_ns in used.items():
        row = before[number]
        rows[number] = [*row[:3], max(at_ns, row[3] or 0)]
    for item in changed:
        known = rows.get(item.id) or before.get(item.id)
        path = None if item.path is None else item.path.store_path
        rows[item.id] = [path, item.created, item.head, known[3] if known else None]
    return rows


def _placed(bench: Bench, written: Sequence[Written]) -> dict[int, str]:
    """Places by event: of the content that it brings, or of its audit draft where that is long. An
    event that brings a content keeps a long draft with itself."""
    seqs: list[int] = []
    contents: list[bytes] = []
    for one in written:
        if one.data:
            seqs.append(one.event.seq)
            contents.append(one.data)
        elif one.event.memory is None and len(one.event.audit or "") > DRAFT_BYTES:
            seqs.append(one.event.seq)
            contents.append((one.event.audit or "").encode())
    placed = dict(zip(seqs, bench.pack(contents), strict=True))
    for one in written:
        if one.item is not None and one.data is not None:
            one.item.place = placed.get(one.event.seq, "")
    return placed


def _kept(one: Written, token: str, placed: Mapping[int, str]) -> Kept:
    event, item = one.event, one.item
    taken = taken_by(len(one.data or b""))
    named = token if event.seq == event.batch else None
    if item is None and event.seq in placed:
        draft = placed[event.seq], len(event.audit or "")
        taken += draft[1]
        return Kept(event._replace(audit=None), one.chain, taken, named, draft=draft)
    place = None if item is None or item.path is None else item.place
    return Kept(event, one.chain, taken, named, place)


async def noted(
    sight: Sight, bench: Bench, notes: Sequence[tuple[Context, int]], now_ns: int
) -> Head:
    """The head after audit entries of what is no change."""
    plan = Plan(sight.head, Seen(sight.head.state, {}, ()), Ceiling())
    sealed = seal(sight.head, plan, None, (list(notes), {}), now_ns)
    assert sealed is not None  # it has entries
    return await advanced(sight, bench, plan, sealed, new_attempt())
