"""Restore: a path or everything becomes what it was, and history only grows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memoranda.drive import run_now
from memoranda.errors import (
    AlreadyExists,
    Conflict,
    ContentGone,
    MemoryFull,
    Misuse,
    UnknownId,
    Unsupported,
)
from memoranda.operations.listing import memories_at, newest_versions
from memoranda.operations.restore import Restored, preview_restore, restore
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.policies.limits import LimitSize
from memoranda.retry import blocking_pause
from memoranda.stores.base import (
    Capabilities,
    Ceiling,
    Change,
    Context,
    Move,
    Put,
    Remove,
    Store,
    Version,
    VersionFilter,
    WrapperStore,
)
from tests.stand_ins import fresh_store

WHO = Context(actor="user_1", command="restore")


def p(text: str) -> MemoryPath:
    return parse_path(f"/memories{text}")


def do(store: Store, *changes: Change) -> Version:
    """Apply a batch; the newest version of it."""
    run_now(store.apply(changes, Context()))
    return run_now(store.versions(limit=1)).versions[0]


def back(store: Store, to: str | datetime, path: MemoryPath = ROOT) -> Restored:
    return run_now(restore(store, path, to, WHO, blocking_pause))


def contents(store: Store) -> dict[str, bytes]:
    entries = run_now(memories_at(store, ROOT)).values()
    return {entry.path.store_path: run_now(store.read(entry.path)).data for entry in entries}


def ids(store: Store) -> dict[str, str]:
    entries = run_now(memories_at(store, ROOT)).values()
    return {entry.path.store_path: entry.memory_id for entry in entries}


def history(store: Store) -> list[Version]:
    return run_now(newest_versions(store, VersionFilter()))


# ---------------------------------------------------------------- one memory


def test_a_memory_gets_the_content_of_one_of_its_versions_as_a_new_version() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Put(p("/a"), b"new"), Put(p("/other"), b"stays"))
    restored = back(store, old.id, p("/a"))
    assert contents(store) == {"/a": b"old", "/other": b"stays"}
    (version,) = restored.versions
    assert (version.memory_id, version.actor, version.command) == (
        old.memory_id,
        "user_1",
        "restore",
    )
    assert len(history(store)) == 4


def test_a_memory_that_was_renamed_since_gets_its_old_content_where_it_lives_now() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Move(p("/a"), p("/b")), Put(p("/b"), b"new"))
    back(store, old.id, p("/b"))
    assert contents(store) == {"/b": b"old"}
    assert ids(store) == {"/b": old.memory_id}


def test_a_deleted_memory_comes_back_under_its_id() -> None:
    store = fresh_store()
    old = do(store, Put(p("/d/a"), b"old"))
    do(store, Remove(p("/d")))
    back(store, old.id, p("/d/a"))
    assert ids(store) == {"/d/a": old.memory_id}


def test_a_memory_that_took_the_place_of_a_deleted_one_makes_room_for_it() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Remove(p("/a")))
    do(store, Put(p("/a"), b"another memory"))
    back(store, old.id, p("/a"))
    assert contents(store) == {"/a": b"old"}
    assert ids(store) == {"/a": old.memory_id}


def test_a_memory_that_was_written_here_and_lives_elsewhere_is_copied_back() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Move(p("/a"), p("/b")))
    back(store, old.id, p("/a"))
    assert contents(store) == {"/a": b"old", "/b": b"old"}
    assert ids(store)["/b"] == old.memory_id


def test_to_the_version_of_a_removal_is_to_nothing() -> None:
    store = fresh_store()
    do(store, Put(p("/a"), b"1"))
    gone = do(store, Remove(p("/a")))
    do(store, Put(p("/a"), b"2"))
    back(store, gone.id, p("/a"))
    assert contents(store) == {}


def test_a_version_that_is_redacted_cannot_come_back() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"secret"))
    do(store, Put(p("/a"), b"clean"))
    run_now(store.redact(old.id, WHO))
    with pytest.raises(ContentGone):
        back(store, old.id, p("/a"))
    assert contents(store) == {"/a": b"clean"}


# ---------------------------------------------------------------- a moment


def test_everything_becomes_what_it_was_right_after_the_batch_of_a_version() -> None:
    store = fresh_store()
    first, _ = run_now(store.apply([Put(p("/a"), b"1"), Put(p("/d/b"), b"2")], Context()))
    then = contents(store), ids(store)
    do(store, Move(p("/d"), p("/e")), Remove(p("/a")), Put(p("/new"), b"3"))
    restored = back(store, first.id)
    assert (contents(store), ids(store)) == then
    assert len({version.batch for version in restored.versions}) == 1


def test_a_directory_becomes_what_it_was_and_nothing_else_changes() -> None:
    store = fresh_store()
    do(store, Put(p("/d/a"), b"1"), Put(p("/d/e/b"), b"2"))
    mark = do(store, Put(p("/mark"), b""))
    do(store, Put(p("/d/a"), b"changed"), Remove(p("/d/e")), Put(p("/mark"), b"later"))
    back(store, mark.id, p("/d"))
    assert contents(store) == {"/d/a": b"1", "/d/e/b": b"2", "/mark": b"later"}


def test_a_path_that_was_not_there_is_gone_again() -> None:
    store = fresh_store()
    mark = do(store, Put(p("/mark"), b""))
    do(store, Put(p("/d/a"), b"1"), Put(p("/d/b"), b"2"))
    back(store, mark.id, p("/d"))
    assert contents(store) == {"/mark": b""}


def test_a_time_stands_for_the_state_at_that_time() -> None:
    store = fresh_store()
    version = do(store, Put(p("/a"), b"1"))
    do(store, Put(p("/a"), b"2"))
    zone = timezone(timedelta(hours=5))
    microsecond = timedelta(microseconds=version.created_at_ns // 1000)
    at = (datetime(1970, 1, 1, tzinfo=UTC) + microsecond).astimezone(zone)
    if run_now(store.moment((version.created_at_ns // 1000) * 1000 + 999)).seq == version.seq:
        back(store, at)
        assert contents(store) == {"/a": b"1"}
    back(store, datetime(1971, 1, 1, tzinfo=UTC))
    assert contents(store) == {}
    back(store, datetime(2200, 1, 1, tzinfo=UTC))
    assert contents(store) == {}


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(Misuse, match="time zone"):
        back(fresh_store(), datetime(2026, 1, 1))  # noqa: DTZ001


def test_an_unknown_version_is_unknown() -> None:
    for path in (ROOT, p("/a")):
        with pytest.raises(UnknownId):
            back(fresh_store(), "memver_none", path)


def test_nothing_is_stored_where_nothing_differs() -> None:
    store = fresh_store()
    version = do(store, Put(p("/a"), b"1"))
    assert back(store, version.id) == Restored((), ())
    assert len(history(store)) == 1


def test_what_was_redacted_stays_as_it_is_and_is_reported() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"secret"))
    mark = do(store, Put(p("/mark"), b""))
    do(store, Put(p("/a"), b"clean"), Put(p("/new"), b""))
    run_now(store.redact(old.id, WHO))
    assert back(store, mark.id).kept == (p("/a"),)
    assert contents(store) == {"/a": b"clean", "/mark": b""}


def test_a_store_without_a_past_says_so_before_anything_starts() -> None:
    store = WrapperStore(fresh_store())
    version = do(store, Put(p("/a"), b"1"))
    store.capabilities = Capabilities(time_travel=False)  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(Unsupported):
        back(store, version.id)


# ---------------------------------------------------------------- limits and others


def test_limits_hold_for_what_comes_back() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"123456"))
    do(store, Put(p("/a"), b""))
    with pytest.raises(MemoryFull):
        back(LimitSize(store, Ceiling(total_bytes=5)), old.id)
    assert contents(store) == {"/a": b""}


class Interrupted(WrapperStore):
    """Before each batch somebody else writes."""

    def __init__(self, inner: Store, times: int) -> None:
        super().__init__(inner)
        self.times = times

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        if self.times:
            self.times -= 1
            await self.inner.apply([Put(p("/a"), b"faster %d" % self.times)], Context())
        return await self.inner.apply(changes, context)


def test_a_writer_in_between_makes_it_plan_again() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Put(p("/a"), b"new"))
    back(Interrupted(store, 3), old.id)
    assert contents(store) == {"/a": b"old"}
    assert len(history(store)) == 6


async def no_pause(seconds: float) -> None:
    """Time doesn't matter here."""


def test_it_gives_up_where_the_store_never_holds_still() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Put(p("/a"), b"new"))
    with pytest.raises(Conflict):
        run_now(restore(Interrupted(store, 99), p("/a"), old.id, WHO, no_pause))
    with pytest.raises(Conflict):
        run_now(restore(Interrupted(store, 99), ROOT, old.id, WHO, no_pause))


class Stubborn(WrapperStore):
    """Refuses every batch, though nothing changed."""

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        raise AlreadyExists(p("/a"))


def test_what_is_refused_twice_in_the_same_way_is_raised_as_it_is() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"))
    do(store, Put(p("/a"), b"new"))
    with pytest.raises(AlreadyExists):
        run_now(restore(Stubborn(store), p("/a"), old.id, WHO, no_pause))


def test_a_preview_says_what_a_restore_does_then_and_changes_nothing() -> None:
    store = fresh_store()
    old = do(store, Put(p("/a"), b"old"), Put(p("/b"), b"b"), Put(p("/c"), b"c"))
    do(store, Put(p("/a"), b"new"), Move(p("/b"), p("/x")), Remove(p("/c")), Put(p("/d"), b"d"))
    before = run_now(store.usage())
    changes, kept = run_now(preview_restore(store, ROOT, old.id))
    assert [(change, str(path)) for change, path in changes] == [
        ("change", "/memories/a"),
        ("move back", "/memories/b"),
        ("bring back", "/memories/c"),
        ("remove", "/memories/d"),
    ]
    assert kept == ()
    assert run_now(store.usage()) == before
    run_now(restore(store, ROOT, old.id, WHO, no_pause))
    assert run_now(preview_restore(store, ROOT, old.id)) == ((), ())
