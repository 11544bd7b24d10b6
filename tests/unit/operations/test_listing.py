"""Whole listings: every page is read, and no more than is needed."""

from __future__ import annotations

from memoranda.drive import run_now
from memoranda.operations.listing import (
    list_all,
    memories_at,
    newest_version,
    newest_versions,
)
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.stores.base import (
    Context,
    Directory,
    Moment,
    Move,
    Put,
    Store,
    Version,
    VersionFilter,
    VersionPage,
    WrapperStore,
)
from tests.stand_ins import fresh_store

WHO = Context()


def p(text: str) -> MemoryPath:
    return parse_path(f"/memories{text}")


class Counting(WrapperStore):
    """Counts how many pages of versions were read."""

    pages = 0

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        self.pages += 1
        return await super().versions(where, after=after, limit=limit, content=content)


def filled(count: int) -> Store:
    store = fresh_store()
    changes = [Put(p(f"/d{number % 3}/{number:05}.md"), b"x") for number in range(count)]
    run_now(store.apply(changes, WHO))
    return store


def test_a_listing_of_several_pages_comes_whole_and_in_order() -> None:
    store = filled(1_200)
    entries = run_now(list_all(store, ROOT))
    assert len(entries) == 1_200
    assert [entry.path.store_path for entry in entries] == sorted(
        entry.path.store_path for entry in entries
    )
    assert run_now(list_all(store, ROOT, depth=1)) == [
        Directory(p("/d0"), 400),
        Directory(p("/d1"), 400),
        Directory(p("/d2"), 400),
    ]


def test_the_memory_at_a_path_is_found_now_and_at_any_moment() -> None:
    store = filled(3)
    path = p("/d1/00001.md")
    (entry,) = run_now(memories_at(store, path)).values()
    assert entry.path == path
    moved = run_now(store.apply([Move(path, p("/elsewhere"))], WHO))[0]
    assert run_now(memories_at(store, path)) == {}
    before = run_now(memories_at(store, path, Moment(moved.seq - 1)))
    assert [one.path for one in before.values()] == [path]
    assert run_now(memories_at(store, path, Moment(moved.seq))) == {}
    assert run_now(memories_at(store, p("/d0"), Moment(moved.seq))).keys() == {
        one.memory_id for one in run_now(memories_at(store, p("/d0"))).values()
    }


def test_an_empty_store_has_no_memories_at_its_root() -> None:
    assert run_now(memories_at(fresh_store(), ROOT)) == {}


def test_the_newest_versions_come_up_to_the_limit_or_all() -> None:
    store = filled(1_100)
    everything = run_now(newest_versions(store, VersionFilter()))
    assert len(everything) == 1_100
    for limit, pages in ((0, 0), (1, 1), (1_000, 1), (1_001, 2), (5_000, 2)):
        counting = Counting(store)
        assert run_now(newest_versions(counting, VersionFilter(), limit)) == everything[:limit]
        assert counting.pages == pages


def test_the_newest_wanted_version_is_looked_for_no_further_than_it_lies() -> None:
    store = Counting(filled(100))

    def wanted(seq: int) -> Version | None:
        store.pages = 0
        return run_now(newest_version(store, VersionFilter(), lambda version: version.seq == seq))

    first = run_now(newest_versions(store, VersionFilter()))[-1].seq
    newest = wanted(first + 99)
    assert newest is not None
    assert (newest.seq, store.pages) == (first + 99, 1)
    assert wanted(first) is not None
    assert store.pages == 5
    assert wanted(first - 1) is None
