"""What belongs to no store is kept in every backend, and changed by compare-and-swap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Conflict, Misuse
from memoranda.stores.base import Backend
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.records import ABSENT, Records, RecordsInStore
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.faults import WrappingBackend
from tests.stores.postgres_server import url_for

BACKENDS: dict[str, Callable[[Path], Backend]] = {
    "ram": lambda home: RamBackend(),
    "sqlite": lambda home: SqliteBackend(home / "memory.db"),
    "folder": lambda home: FolderBackend(home / "memory"),
    "postgres": lambda home: PostgresBackend(url_for(home)),
    "wrapped": lambda home: WrappingBackend(RamBackend(), lambda store: store),
}


@pytest.fixture(params=[*BACKENDS, "in a store"])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Records]:
    if request.param == "in a store":
        backend: Backend = FolderBackend(tmp_path / "memory")
        yield RecordsInStore(backend, "key")
    else:
        backend = BACKENDS[request.param](tmp_path)
        yield backend.records("key")
    run_now(backend.close())


def test_there_are_none_at_first_and_looking_makes_nothing(records: Records) -> None:
    assert run_now(records.get("a")) is None
    assert run_now(records.list()) == ()


def test_a_record_is_kept_under_its_key(records: Records) -> None:
    made = run_now(records.put("a", '{"n": 1}', ABSENT))
    assert run_now(records.get("a")) == made
    assert (made.key, made.value) == ("a", '{"n": 1}')
    assert run_now(records.list()) == (made,)


def test_a_change_needs_the_revision_that_is_there(records: Records) -> None:
    first = run_now(records.put("a", "1", ABSENT))
    second = run_now(records.put("a", "2", first.revision))
    assert second.revision != first.revision
    for stale in (first.revision, ABSENT):
        with pytest.raises(Conflict):
            run_now(records.put("a", "3", stale))
    assert run_now(records.get("a")) == second
    assert run_now(records.put("a", "3")).value == "3"


def test_a_record_that_is_gone_has_no_revision(records: Records) -> None:
    made = run_now(records.put("a", "1"))
    assert run_now(records.remove("a")) is True
    assert run_now(records.remove("a")) is False
    with pytest.raises(Conflict):
        run_now(records.put("a", "2", made.revision))
    assert run_now(records.put("a", "1", ABSENT)).value == "1"


def test_a_write_whose_answer_got_lost_may_be_done_again(records: Records) -> None:
    made = run_now(records.put("a", "1", ABSENT))
    assert run_now(records.put("a", "1", ABSENT)) == made


def test_records_are_listed_in_the_order_of_their_keys_page_by_page(records: Records) -> None:
    for key in ("b", "a", "d", "c"):
        run_now(records.put(key, key))
    assert [one.key for one in run_now(records.list(limit=2))] == ["a", "b"]
    assert [one.key for one in run_now(records.list("b", limit=9))] == ["c", "d"]


def test_of_many_who_begin_one_record_at_once_one_wins(records: Records) -> None:
    def begin(number: int) -> bool:
        try:
            run_now(records.put("a", str(number), ABSENT))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(begin, range(8))) == 1


@pytest.mark.parametrize("kind", ["ram", "sqlite", "folder", "postgres"])
def test_kinds_are_apart(kind: str, tmp_path: Path) -> None:
    backend = BACKENDS[kind](tmp_path)
    run_now(backend.records("key").put("a", "1"))
    assert run_now(backend.records("call").get("a")) is None
    run_now(backend.close())


@pytest.mark.parametrize("kind", ["sqlite", "folder"])
def test_they_are_there_when_the_backend_opens_again(kind: str, tmp_path: Path) -> None:
    first, second = BACKENDS[kind](tmp_path), BACKENDS[kind](tmp_path)
    run_now(first.records("key").put("a", "1"))
    assert run_now(second.records("key").list())[0].value == "1"
    run_now(first.close())
    run_now(second.close())
    with pytest.raises(Misuse):
        run_now(first.records("key").get("a"))
