"""PostgreSQL: retention lets go of what may go and no more; verification notices meddling; uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import UnknownId
from memoranda.stores.base import Context, Moment, Move, Put, Remove, Retention
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.testing.promises.steps import history, memories, p, tree
from tests.stores.postgres_server import database, url_for

AGENT = Context(actor="agent", command="test")
DAY_NS = 86_400 * 10**9
START_NS = 1_900_000_000 * 10**9


class Clock:
    """Goes on when it is told."""

    def __init__(self) -> None:
        self.now = START_NS

    def __call__(self) -> int:
        self.now += 1000
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(home: Path, clock: Clock, retention: Retention) -> Any:
    backend = PostgresBackend(url_for(home), clock=clock, retention=retention)
    return run_now(backend.for_user("acme"))


def write(store: Any, path: str, n: int) -> None:
    for number in range(n):
        run_now(store.apply([Put(p(path), b"%s %d" % (path.encode(), number))], AGENT))


def end(store: Any) -> None:
    assert run_now(store.verify()).problems == ()
    run_now(store._backend.close())


def test_what_is_old_goes_but_for_the_newest_versions(tmp_path: Path, clock: Clock) -> None:
    store = opened(tmp_path, clock, Retention(keep_days=2, keep_newest=3))
    write(store, "/a.md", 40)
    write(store, "/kept.md", 1)
    run_now(store.apply([Put(p("/gone.md"), b"x")], AGENT))
    run_now(store.apply([Remove(p("/gone.md"))], AGENT))
    run_now(store.record(AGENT))
    for _ in range(4):
        clock.now += DAY_NS
        write(store, "/b.md", 50)
    found = run_now(history(store))
    paths = [version.path.store_path for version in found if version.path is not None]
    assert paths.count("/a.md") == 3
    assert paths.count("/kept.md") == 1
    assert "/gone.md" not in paths
    assert all(v.created_at_ns >= clock.now - 3 * DAY_NS for v in found if str(v.path)[-4] == "b")
    assert run_now(store.usage()).versions == len(found)
    assert len(run_now(tree(store))) == 3
    with pytest.raises(UnknownId):
        run_now(store.list(p("/"), at=Moment(5)))
    assert len(run_now(memories(store, at=Moment(found[0].seq)))) == 3
    ((left,),) = database().rows("SELECT count(*) FROM memoranda.memory WHERE path IS NULL")
    assert left == 0
    end(store)


def test_nothing_goes_while_it_is_young_or_kept_for_ever(tmp_path: Path, clock: Clock) -> None:
    store = opened(tmp_path, clock, Retention(keep_days=0, keep_newest=1))
    write(store, "/a.md", 70)
    clock.now += 1000 * DAY_NS
    write(store, "/a.md", 70)
    assert len(run_now(history(store))) == 140
    end(store)


def test_a_jump_of_the_clock_lets_nothing_go(tmp_path: Path, clock: Clock) -> None:
    store = opened(tmp_path, clock, Retention(keep_days=2, keep_newest=1))
    write(store, "/a.md", 63)
    clock.now += 400 * DAY_NS
    write(store, "/b.md", 1)
    assert len(run_now(history(store))) == 64
    end(store)


def test_a_budget_thins_what_is_young_too(tmp_path: Path, clock: Clock) -> None:
    store = opened(tmp_path, clock, Retention(keep_newest=2, budget_bytes=20_000))
    write(store, "/a.md", 400)
    assert run_now(store.usage()).history_bytes < 40_000
    assert run_now(store.read(p("/a.md"))).data == b"/a.md 399"
    end(store)


def test_a_moved_memory_keeps_the_content_of_a_version_that_went(
    tmp_path: Path, clock: Clock
) -> None:
    store = opened(tmp_path, clock, Retention(keep_days=1, keep_newest=1))
    run_now(store.apply([Put(p("/d/a.md"), b"the only content")], AGENT))
    run_now(store.apply([Move(p("/d"), p("/e"))], AGENT))
    for _ in range(3):
        clock.now += DAY_NS - 10**6
        write(store, "/b.md", 64)
    assert len([v for v in run_now(history(store)) if str(v.path).endswith("a.md")]) == 1
    assert run_now(store.read(p("/e/a.md"))).data == b"the only content"
    end(store)


@pytest.mark.parametrize(
    ("meddling", "code"),
    [
        ("UPDATE memoranda.event SET actor = 'nobody' WHERE seq = 2", "chain"),
        ("DELETE FROM memoranda.event WHERE seq = 2", "chain"),
        ("UPDATE memoranda.content SET data = 'x' WHERE number = 2", "version"),
        ("UPDATE memoranda.state SET bytes = bytes + 1", "counter"),
        ("UPDATE memoranda.memory SET size = 1 WHERE path = '/a.md'", "head"),
    ],
)
def test_verification_notices_meddling(
    tmp_path: Path, clock: Clock, meddling: str, code: str
) -> None:
    store = opened(tmp_path, clock, Retention())
    write(store, "/a.md", 3)
    database().change(meddling)
    assert code in {problem.code for problem in run_now(store.verify()).problems}
    run_now(store._backend.close())


def test_uses_are_told_as_touch_was_told(tmp_path: Path, clock: Clock) -> None:
    store = opened(tmp_path, clock, Retention())
    write(store, "/a.md", 1)
    write(store, "/b.md", 1)
    run_now(store.touch([p("/a.md"), p("/none.md")], 77))
    run_now(store.flush())
    assert run_now(store.uses()) == {p("/a.md"): 77}
    end(store)
