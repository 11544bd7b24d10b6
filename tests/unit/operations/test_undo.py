"""Undo: the last batch taken back, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memoranda.drive import run_now
from memoranda.errors import Conflict, ContentGone, NotFound
from memoranda.operations.listing import memories_at, newest_versions
from memoranda.operations.undo import undo
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.stores.base import (
    Change,
    Context,
    Move,
    Put,
    Remove,
    Store,
    Version,
    VersionFilter,
    VersionPage,
    WrapperStore,
)
from tests.stand_ins import fresh_store

WHO = Context(actor="user_1", command="undo")


def p(text: str) -> MemoryPath:
    return parse_path(f"/memories{text}")


def do(store: Store, *changes: Change) -> Version:
    """Apply a batch; the newest version of it."""
    run_now(store.apply(changes, Context()))
    return run_now(store.versions(limit=1)).versions[0]


def take_back(store: Store, path: str = "") -> tuple[Version, ...]:
    return run_now(undo(store, p(path), WHO))


def picture(store: Store) -> dict[str, tuple[str, bytes]]:
    entries = run_now(memories_at(store, ROOT)).values()
    return {
        entry.path.store_path: (entry.memory_id, run_now(store.read(entry.path)).data)
        for entry in entries
    }


@pytest.mark.parametrize(
    "changes",
    [
        [Put(p("/new"), b"1")],
        [Put(p("/a"), b"changed")],
        [Remove(p("/a"))],
        [Remove(p("/d"))],
        [Move(p("/a"), p("/x/y"))],
        [Move(p("/d"), p("/a2"))],
        [Move(p("/a"), p("/t")), Move(p("/d/b"), p("/a")), Move(p("/t"), p("/d/b"))],
        [Put(p("/new"), b"1"), Put(p("/a"), b"2"), Remove(p("/d/b")), Move(p("/d/c"), p("/z"))],
    ],
    ids=["create", "change", "remove", "remove all", "move", "move all", "swap", "mixed"],
)
def test_the_last_batch_is_taken_back_whole_with_ids_and_twice_is_not_at_all(
    changes: list[Change],
) -> None:
    store = fresh_store()
    do(store, Put(p("/a"), b"1"), Put(p("/d/b"), b"2"), Put(p("/d/c"), b"3"))
    before = picture(store)
    do(store, *changes)
    after = picture(store)
    made = take_back(store)
    assert picture(store) == before
    assert {(version.actor, version.command) for version in made} == {("user_1", "undo")}
    take_back(store)
    assert picture(store) == after


def test_of_an_empty_store_nothing_is_taken_back() -> None:
    assert take_back(fresh_store()) == ()
    store = fresh_store()
    do(store, Put(p("/a"), b"1"))
    assert take_back(store, "/b") == ()


def test_the_last_batch_of_a_path_is_taken_back_and_later_ones_elsewhere_stay() -> None:
    store = fresh_store()
    do(store, Put(p("/d/a"), b"1"), Put(p("/d/b"), b"1"))
    do(store, Put(p("/d/a"), b"2"))
    do(store, Put(p("/e"), b"3"))
    take_back(store, "/d")
    assert {path: data for path, (_, data) in picture(store).items()} == {
        "/d/a": b"1",
        "/d/b": b"1",
        "/e": b"3",
    }


def test_a_batch_of_a_path_is_taken_back_elsewhere_too() -> None:
    store = fresh_store()
    do(store, Put(p("/a"), b"1"))
    do(store, Put(p("/a"), b"2"), Put(p("/b"), b"2"))
    take_back(store, "/a")
    assert {path: data for path, (_, data) in picture(store).items()} == {"/a": b"1"}


@pytest.mark.parametrize(
    "later",
    [
        Put(p("/b"), b"later"),
        Move(p("/b"), p("/c")),
        Remove(p("/b")),
        Put(p("/gone"), b"another in its old place"),
        Put(p("/gone/below"), b"its old place is a directory"),
    ],
)
def test_a_later_change_in_the_way_is_a_conflict_and_nothing_is_done(later: Change) -> None:
    store = fresh_store()
    do(store, Put(p("/gone"), b"0"))
    do(store, Put(p("/a"), b"1"), Put(p("/b"), b"1"), Remove(p("/gone")))
    do(store, later)
    now = picture(store)
    with pytest.raises(Conflict):
        take_back(store, "/a")
    assert picture(store) == now


def test_a_removal_whose_memory_is_back_already_is_a_conflict() -> None:
    store = fresh_store()
    made = do(store, Put(p("/a"), b"1"))
    do(store, Remove(p("/a")))
    do(store, Put(p("/b"), b"1", keep_id=made.memory_id))
    with pytest.raises(Conflict):
        take_back(store, "/a")


def test_what_was_redacted_since_cannot_come_back() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"secret"))
    do(store, Put(p("/a"), b"clean"))
    run_now(store.redact(old.id, WHO))
    with pytest.raises(ContentGone):
        take_back(store)


def test_a_large_directory_that_was_moved_is_back_with_all_below_it() -> None:
    store = fresh_store()
    do(store, *[Put(p(f"/d/{number % 7}/{number}"), b"%d" % number) for number in range(300)])
    before = picture(store)
    do(store, Move(p("/d"), p("/e")))
    take_back(store)
    assert picture(store) == before


class Overtaken(WrapperStore):
    """Between the look and the batch somebody removes what the batch is about."""

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        raise NotFound(p("/a"))


def test_a_race_that_is_lost_is_a_conflict() -> None:
    store = fresh_store()
    do(store, Put(p("/a"), b"1"))
    with pytest.raises(Conflict):
        take_back(Overtaken(store))


class WithLate(WrapperStore):
    """A person saved into a file that had been replaced already."""

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        page = await self.inner.versions(where, after=after, limit=limit, content=content)
        newest = page.versions[0]
        late = newest._replace(late=True, seq=newest.seq + 1, batch=newest.seq + 1, id="late")
        return page._replace(versions=(late, *page.versions))


def test_a_late_version_is_nobodys_doing_and_stays() -> None:
    store = fresh_store()
    do(store, Put(p("/a"), b"1"))
    before = picture(store)
    do(store, Put(p("/a"), b"2"))
    take_back(WithLate(store))
    assert picture(store) == before
    assert len(run_now(newest_versions(store, VersionFilter()))) == 3
