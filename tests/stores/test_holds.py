"""Expiry, retention and erasure, and the holds that stop all three, over each store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import Expiry, Memory, Policy, Retention
from memoranda.drive import run_now
from memoranda.errors import Held, UnknownId, Unsupported
from memoranda.operations.sweep import SKIPPED, sweep
from memoranda.path import parse_path
from memoranda.policies.expiry import DAY_NS, Uses
from memoranda.stores.base import Backend, Context, Put, Store
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.place import open_places
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend
from tests.stores import postgres_server
from tests.stores.bucket_server import url_for
from tests.testing.dict_store import DictBackend, Disk

KINDS: dict[str, Callable[[Path], Backend]] = {
    "ram": lambda home: RamBackend(),
    "sqlite": lambda home: SqliteBackend(home / "memory.db"),
    "folder": lambda home: FolderBackend(home / "memory"),
    "bucket": lambda home: BucketBackend(url_for(home)),
    "postgres": lambda home: PostgresBackend(postgres_server.url_for(home)),
}


@pytest.fixture(params=KINDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    backend = KINDS[request.param](tmp_path)
    yield backend
    run_now(backend.close())


@pytest.fixture
def store(backend: Backend) -> Store:
    return run_now(backend.for_user("acme"))


def filled(store: Store, *paths: str) -> int:
    """Memories with one content each; the time of the last."""
    for path in paths:
        run_now(store.apply((Put(parse_path(path), b"x"),), Context()))
    return run_now(store.audit(None, 1))[0].at_ns


def swept(store: Store, now_ns: int, *rules: Expiry, dry_run: bool = False) -> list[str]:
    done = run_now(sweep(store, rules, now_ns, dry_run=dry_run, progress=None))
    assert not done.skipped
    return [str(path) for path in done.removed]


def left(store: Store) -> list[str]:
    page = run_now(store.list(parse_path("/memories")))
    return [str(entry.path) for entry in page.entries]


def see_to_disk(number: int) -> None:
    """Now and then: a folder drops only what is on disk for certain, which closing sees to."""
    if number % 50 == 49:
        open_places.close_all()


A, B, C = "/memories/tmp/a", "/memories/tmp/d/b", "/memories/c"
OLD = Expiry(path="/memories/tmp/*", age_days=10)


def test_what_is_too_old_goes_where_a_rule_says_so_and_comes_back_by_restore(store: Store) -> None:
    now = filled(store, A, B, C)
    assert swept(store, now + 9 * DAY_NS, OLD) == []
    assert swept(store, now + 11 * DAY_NS, OLD, dry_run=True) == [A, B]
    assert left(store) == [C, A, B]
    assert swept(store, now + 11 * DAY_NS, OLD) == [A, B]
    assert left(store) == [C]
    memory = Memory.of_store(store)
    version = memory.history("/memories/tmp")[0]
    assert (version.actor, version.command, version.operation) == ("expiry", "sweep", "deleted")
    memory.undo()
    assert left(store) == [C, A, B]
    entries = memory.audit()
    assert [each.details for each in entries if each.command == "sweep" and not each.operation] == [
        {"removed": 0, "held": 0},
        {"removed": 2, "held": 0},
    ]


def test_what_was_viewed_stays_where_a_rule_is_about_uses(store: Store) -> None:
    now = filled(store, A, B)
    unused = Expiry(unused_days=10)
    uses = Uses(store, [unused], lambda: now + 8 * DAY_NS)
    run_now(uses.note(parse_path(A)))
    run_now(uses.note(parse_path("/memories/none")))
    assert set(run_now(store.uses())) == {parse_path(A)}
    assert swept(store, now + 12 * DAY_NS, unused) == [B]
    assert swept(store, now + 20 * DAY_NS, unused) == [A]


def test_views_and_reads_are_uses_and_listings_are_not(store: Store) -> None:
    memory = Memory.of_store(store, policy=Policy(expiry=(Expiry(unused_days=10),)))
    for path in (A, B, C):
        memory.write(path, "x")
    memory.execute({"command": "view", "path": A})
    memory.execute({"command": "view", "path": "/memories"})
    memory.read(B)
    assert set(run_now(store.uses())) == {parse_path(A), parse_path(B)}


def test_uses_are_noted_coarsely_and_only_where_a_rule_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = run_now(RamBackend().for_user("acme"))
    told: list[int] = []

    async def touch(paths: Any, at_ns: int) -> None:
        told.append(at_ns)

    monkeypatch.setattr(store, "touch", touch)
    times = iter([0, 1, DAY_NS, DAY_NS])
    uses = Uses(store, [Expiry(path="/memories/tmp/*", unused_days=1)], lambda: next(times))
    for path in (A, A, A, C):
        run_now(uses.note(parse_path(path)))
    assert told == [0, DAY_NS]


def test_a_round_is_skipped_after_the_clock_jumped_and_the_next_one_goes_on(store: Store) -> None:
    now = filled(store, A)
    later = now + 40 * DAY_NS
    rule = Expiry(age_days=5)
    for dry_run in (True, False):
        done = run_now(sweep(store, [rule], later, dry_run=dry_run, progress=None))
        assert (done.skipped, done.removed) == (True, ())
    entry = run_now(store.audit(None, 1))[0]
    assert (entry.actor, entry.outcome) == ("expiry", SKIPPED)
    assert swept(store, entry.at_ns + 6 * DAY_NS, rule) == [A]


def test_what_was_changed_meanwhile_stays_and_the_rest_goes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = filled(store, A, B)
    apply = store.apply
    done: list[str] = []

    async def and_somebody_else(changes: Any, context: Context) -> Any:
        if not done:
            done.append("once")
            await apply((Put(parse_path(A), b"newer"),), Context())
        return await apply(changes, context)

    monkeypatch.setattr(store, "apply", and_somebody_else)
    assert swept(store, now + 11 * DAY_NS, OLD) == [B]
    assert left(store) == [A]


def test_a_hold_keeps_what_lies_beneath_it_from_expiring(store: Store) -> None:
    now = filled(store, A, B, C)
    memory = Memory.of_store(store, actor="user_ada")
    held = memory.hold("/memories/tmp/d", reason="case 12")
    assert memory.holds() == (held,)
    assert (held.reason, held.actor) == ("case 12", "user_ada")
    done = run_now(sweep(store, [OLD], now + 11 * DAY_NS, dry_run=False, progress=None))
    assert [str(path) for path in done.removed] == [A]
    assert [str(path) for path in done.held] == [B]
    assert memory.lift_hold("/memories/tmp/d")
    assert not memory.lift_hold("/memories/tmp/d")
    assert swept(store, now + 11 * DAY_NS, OLD) == [B]
    assert [each.command for each in memory.audit() if each.path == "/memories/tmp/d"] == [
        "hold",
        "lift",
    ]


def test_a_hold_can_be_given_another_reason(store: Store) -> None:
    filled(store, A)
    memory = Memory.of_store(store)
    memory.hold(reason="one")
    memory.hold(reason="two")
    assert [hold.reason for hold in memory.holds()] == ["two"]


def test_a_held_store_can_not_be_erased(backend: Backend, store: Store) -> None:
    filled(store, A)
    run_now(store.hold(parse_path(A), "", Context()))
    with pytest.raises(Held):
        run_now(backend.erase(store.id, Context()))
    assert left(store) == [A]
    run_now(store.lift(parse_path(A), Context()))
    run_now(backend.erase(store.id, Context()))
    fresh = run_now(backend.for_user("acme"))
    assert run_now(fresh.holds()) == ()


def test_holds_need_a_store_that_somebody_made(store: Store) -> None:
    assert run_now(store.holds()) == ()
    assert run_now(store.uses()) == {}
    with pytest.raises(UnknownId):
        run_now(store.hold(parse_path(A), "", Context()))


def test_retention_drops_nothing_that_is_held(store: Store) -> None:
    memory = Memory.of_store(
        store, policy=Policy(retention=Retention(keep_days=1, keep_newest=1, budget_bytes=1))
    )
    memory.write(A, "0")
    memory.write(B, "0")
    memory.hold(A)
    for number in range(150):
        memory.write(A, f"{number}" * 40)
        memory.write(B, f"{number}" * 40)
        see_to_disk(number)
    held, free = memory.history(A, limit=None), memory.history(B, limit=None)
    assert len(held) == 151
    assert len(free) < 151
    assert memory.verify().ok


def test_a_store_that_is_held_as_a_whole_drops_nothing(store: Store) -> None:
    memory = Memory.of_store(store, policy=Policy(retention=Retention(budget_bytes=1)))
    memory.write(A, "0")
    memory.hold()
    for number in range(150):
        memory.write(A, f"{number}" * 40)
        see_to_disk(number)
    assert len(memory.history(A, limit=None)) == 151
    memory.lift_hold()
    for number in range(150):
        memory.write(A, f"{number}" * 40)
        see_to_disk(number)
    assert len(memory.history(A, limit=None)) < 200


def test_stores_without_holds_say_so() -> None:
    store = run_now(DictBackend(Disk()).for_user("acme"))
    path = parse_path(A)
    for ask in (
        store.holds(),
        store.uses(),
        store.hold(path, "", Context()),
        store.lift(path, Context()),
    ):
        with pytest.raises(Unsupported):
            run_now(ask)


def test_a_sweep_tells_how_far_it_is_after_each_batch(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.operations.sweep._BATCH", 2)
    now = filled(store, A, B, "/memories/tmp/e")
    told: list[tuple[int, int]] = []
    run_now(
        sweep(
            store,
            (OLD,),
            now + 11 * DAY_NS,
            dry_run=False,
            progress=lambda done, total: told.append((done, total)),
        )
    )
    assert told == [(2, 3), (3, 3)]
    assert left(store) == []
