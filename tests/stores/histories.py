"""Histories made by chance, and what has to be the same of them wherever they are."""

from __future__ import annotations

import random
from typing import Any, Final

from memoranda.errors import Refused
from memoranda.operations.listing import list_all, newest_versions
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import (
    Change,
    Context,
    Entry,
    Move,
    Put,
    Remove,
    Store,
    VersionFilter,
)

NAMES: Final = ("a", "b", "c", ".hidden", "d e")
ACTORS: Final = ("agent", "user_ada", "external")


async def live_through(store: Store, seed: int, n_batches: int) -> None:
    """Have a store live through batches of every kind: files and directories come, change, swap
    places, move, go and return; some versions are redacted."""
    chance = random.Random(seed)
    gone: list[str] = []
    for number in range(n_batches):
        by = Context(chance.choice(ACTORS), f"c{number % 7}", chance.choice((None, f"t{number}")))
        before = {each.memory_id for each in await _entries(store)}
        try:
            await store.apply(_batch(chance, await _entries(store), gone), by)
        except Refused:
            continue
        gone += sorted(before - {each.memory_id for each in await _entries(store)})
    versions = await newest_versions(store, VersionFilter())
    for version in chance.sample(versions, len(versions) // 8):
        try:
            await store.redact(version.id, Context("user_privacy", "redact"))
        except Refused:
            continue


async def _entries(store: Store) -> list[Entry]:
    return [each for each in await list_all(store, ROOT) if isinstance(each, Entry)]


def _batch(chance: random.Random, entries: list[Entry], gone: list[str]) -> list[Change]:
    kind = chance.randrange(10)
    paths = [each.path for each in entries]
    if kind < 4 or len(paths) < 3:
        content = chance.randbytes(chance.choice((0, 3, 200, 70_000)))
        return [Put(_place(chance), content) for _ in range(chance.choice((1, 1, 3)))]
    one, other = chance.sample(paths, 2)
    if kind == 4:
        return [Remove(one)]
    if kind == 5:
        return [Remove(one.parent if one.parent != ROOT else one)]
    if kind == 6:
        aside = MemoryPath.of(("aside",))
        return [Move(one, aside), Move(other, one), Move(aside, other)]
    if kind == 7 and one.parent != ROOT:
        return [Move(one.parent, _place(chance)), Put(_place(chance), b"beside")]
    if kind == 8 and gone:
        return [Put(_place(chance), b"back", keep_id=gone.pop())]
    return [Move(one, _place(chance)), Put(other, b"and changed")]


def _place(chance: random.Random) -> MemoryPath:
    return MemoryPath.of(tuple(chance.choice(NAMES) for _ in range(chance.choice((1, 2, 2, 3)))))


async def picture(store: Store) -> dict[str, Any]:
    """What has to be the same in a copy: heads, contents, versions batch by batch."""
    batches: dict[int, set[Any]] = {}
    contents: dict[tuple[str, int], bytes | None] = {}
    for each in await newest_versions(store, VersionFilter()):
        batches.setdefault(each.batch, set()).add(
            (
                each.memory_id, each.operation, each.path, each.actor, each.command,
                each.created_at_ns, each.sha256, each.size_bytes, each.trace_id,
                each.redacted_at_ns is not None, each.redacted_by,
            )
        )  # fmt: skip
        contents[each.memory_id, each.created_at_ns] = (await store.version(each.id)).content
    heads = {each.path: (each.memory_id, each.sha256) for each in await _entries(store)}
    live = {path: (await store.read(path)).data for path in heads}
    return {
        "batches": [batches[number] for number in sorted(batches)],
        "contents": contents,
        "heads": heads,
        "live": live,
    }
