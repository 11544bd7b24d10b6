"""From one state to another: one batch, each step possible, ids kept."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.drive import run_now
from memoranda.errors import ContentGone, MemorandaError
from memoranda.operations.listing import memories_at
from memoranda.operations.moments import moment_of
from memoranda.operations.plan import changes_between, left_by
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.stores.base import (
    Change,
    Context,
    Move,
    Put,
    Remove,
    Store,
    Version,
)
from tests.stand_ins import fresh_store

WHO = Context(actor="tester", command="restore")


def p(text: str) -> MemoryPath:
    return parse_path(f"/memories{text}")


def do(store: Store, *changes: Change) -> tuple[Version, ...]:
    return run_now(store.apply(changes, WHO))


def picture(store: Store) -> Mapping[str, tuple[str, bytes]]:
    """Every path with the id and the content of what lives there."""
    return {
        str(entry.path): (memory_id, run_now(store.read(entry.path)).data)
        for memory_id, entry in run_now(memories_at(store, ROOT)).items()
    }


def back_to(store: Store, version: Version) -> list[Change]:
    """Lead the store back to how it was after a version; the changes that did it."""

    async def plan() -> list[Change]:
        then = await memories_at(store, ROOT, await moment_of(store, version.id))
        return await changes_between(store, await memories_at(store, ROOT), then)

    changes = run_now(plan())
    do(store, *changes)
    return changes


def test_nothing_is_done_where_nothing_differs() -> None:
    store = fresh_store()
    (version,) = do(store, Put(p("/a"), b"1"))
    assert back_to(store, version) == []


def test_what_came_goes_and_what_went_comes_back_under_its_id() -> None:
    store = fresh_store()
    do(store, Put(p("/a"), b"1"))
    (before,) = do(store, Put(p("/d/b"), b"2"))
    then = picture(store)
    do(store, Remove(p("/d")), Put(p("/new"), b"3"), Put(p("/a"), b"changed"))
    back_to(store, before)
    assert picture(store) == then


def test_a_memory_that_moved_moves_back_and_gets_its_content_back() -> None:
    store = fresh_store()
    (before,) = do(store, Put(p("/a"), b"1"))
    then = picture(store)
    do(store, Move(p("/a"), p("/d/e/b")), Put(p("/d/e/b"), b"2"))
    changes = back_to(store, before)
    assert [type(change) for change in changes] == [Move, Put]
    assert picture(store) == then


@pytest.mark.parametrize("backwards", [False, True])
def test_names_that_were_passed_on_are_passed_back_by_moves(backwards: bool) -> None:
    store = fresh_store()
    names = ["/1", "/2", "/3", "/4"]
    if backwards:
        names.reverse()
    *_, before = do(store, *[Put(p(name), name.encode()) for name in names])
    then = picture(store)
    steps = zip(reversed(names), ["/free", *reversed(names)], strict=False)
    do(store, *[Move(p(source), p(target)) for source, target in steps])
    changes = back_to(store, before)
    assert {type(change) for change in changes} == {Move}
    assert picture(store) == then


def test_memories_that_swapped_their_names_get_them_back() -> None:
    store = fresh_store()
    *_, before = do(store, Put(p("/a"), b"1"), Put(p("/b"), b"2"))
    then = picture(store)
    do(store, Move(p("/a"), p("/c")), Move(p("/b"), p("/a")), Move(p("/c"), p("/b")))
    back_to(store, before)
    assert picture(store) == then


def test_a_file_that_became_a_directory_is_a_file_again() -> None:
    store = fresh_store()
    *_, before = do(store, Put(p("/a"), b"1"), Put(p("/d/x"), b"2"))
    then = picture(store)
    do(store, Move(p("/a"), p("/a/b")), Move(p("/d/x"), p("/z")), Put(p("/d"), b"3"))
    back_to(store, before)
    assert picture(store) == then


def test_a_file_makes_way_before_its_path_is_a_directory_again() -> None:
    store = fresh_store()
    *_, before = do(store, Put(p("/a/y"), b"1"), Put(p("/z"), b"2"))
    then = picture(store)
    do(store, Move(p("/a/y"), p("/0")), Move(p("/z"), p("/a")))
    changes = back_to(store, before)
    assert {type(change) for change in changes} == {Move}
    assert picture(store) == then


def test_a_memory_that_lives_elsewhere_stays_there_and_a_new_one_takes_its_place() -> None:
    store = fresh_store()
    (before,) = do(store, Put(p("/d/a"), b"1"))
    do(store, Move(p("/d/a"), p("/e/a")))

    async def plan() -> list[Change]:
        then = await memories_at(store, p("/d"), await moment_of(store, before.id))
        return await changes_between(store, {}, then)

    do(store, *run_now(plan()))
    now = picture(store)
    assert now["/memories/e/a"] == (before.memory_id, b"1")
    assert now["/memories/d/a"][1] == b"1"
    assert now["/memories/d/a"][0] != before.memory_id


def test_a_store_in_which_somebody_was_faster_refuses_the_batch() -> None:
    store = fresh_store()
    *_, before = do(store, Put(p("/a"), b"1"), Put(p("/b"), b"2"), Put(p("/c"), b"3"))
    do(store, Move(p("/a"), p("/aa")), Remove(p("/b")), Put(p("/c"), b"33"), Put(p("/d"), b"4"))

    async def plan() -> list[Change]:
        then = await memories_at(store, ROOT, await moment_of(store, before.id))
        return await changes_between(store, await memories_at(store, ROOT), then)

    changes = run_now(plan())
    for change in (
        Put(p("/aa"), b"faster"),
        Put(p("/b"), b"faster"),
        Put(p("/c"), b"faster"),
        Put(p("/d"), b"faster"),
    ):
        do(store, change)
        now = picture(store)
        with pytest.raises(MemorandaError):
            do(store, *changes)
        assert picture(store) == now
        do(store, *run_now(plan()))
        do(store, Move(p("/a"), p("/aa")), Remove(p("/b")), Put(p("/c"), b"33"), Put(p("/d"), b"4"))
        changes = run_now(plan())


def test_a_removal_leaves_nothing_and_a_redacted_version_cannot_be_had() -> None:
    store = fresh_store()
    (made,) = do(store, Put(p("/a"), b"1"))
    (gone,) = do(store, Remove(p("/a")))
    assert left_by(gone) == {}
    redacted = run_now(store.redact(made.id, WHO))
    with pytest.raises(ContentGone):
        left_by(redacted)
    with pytest.raises(ContentGone):
        left_by(redacted, p("/b"))


def test_a_content_that_was_redacted_while_it_was_planned_cannot_come_back() -> None:
    store = fresh_store()
    (made,) = do(store, Put(p("/a"), b"1"))
    then = run_now(memories_at(store, ROOT))
    do(store, Put(p("/a"), b"2"))
    run_now(store.redact(made.id, WHO))
    with pytest.raises(ContentGone):
        run_now(changes_between(store, {}, then))


PLACES = [p(text) for text in ("/a", "/b", "/c", "/a/a", "/a/b", "/b/a/c", "/c/c")]
place = st.sampled_from(PLACES)
change = st.one_of(
    st.builds(Put, place, st.binary(max_size=2)),
    st.builds(Remove, place),
    st.builds(Move, place, place),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(change, min_size=2, max_size=12), st.data())
def test_any_state_is_reached_again_from_any_other(
    history: list[Change], data: st.DataObject
) -> None:
    store = fresh_store()
    seen: list[tuple[Version, Mapping[str, tuple[str, bytes]]]] = []
    for one in history:
        try:
            made = do(store, one)
        except MemorandaError:
            continue
        if made:
            seen.append((made[-1], picture(store)))
    if not seen:
        return
    for version, then in data.draw(st.permutations(seen)):
        back_to(store, version)
        assert picture(store) == then
