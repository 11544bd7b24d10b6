"""The SQLite backend keeps every promise of the store contract."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from memoranda.drive import run_now
from memoranda.errors import IsADirectory, Misuse, NotFound, Unavailable, UnknownId
from memoranda.stores import sqlite
from memoranda.stores.base import Backend, Context, Put
from memoranda.stores.group_commit import Job
from memoranda.stores.log import sql_store
from memoranda.stores.log.connection import Connection
from memoranda.stores.log.sql_batch import ChangeJob, Place, find
from memoranda.stores.log.sql_store import SqlStore
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend, SqliteDatabase
from memoranda.stores.sqlite_file import DatabaseFile
from memoranda.stores.turnstile import Turnstile
from memoranda.testing.promises.steps import p, put, read
from memoranda.testing.store_suite import StoreSuite

AGENT = Context(actor="agent", command="test")


class TestSqliteStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return SqliteBackend(home / "stores.db")

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return [file.read_bytes() for file in home.iterdir()]


@pytest.fixture
def backend(tmp_path: Path) -> SqliteBackend:
    return SqliteBackend(tmp_path / "stores.db")


@pytest.fixture
def store(backend: SqliteBackend) -> SqlStore:
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/d/a.md"), b"one")], AGENT))
    return store


def test_refused_reads_keep_their_connection(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_now(store.read(p("/d/a.md")))
    monkeypatch.setattr(sqlite, "connect", None)
    for path, refusal in (("/none.md", NotFound), ("/d", IsADirectory)) * 3:
        with pytest.raises(refusal):
            run_now(store.read(p(path)))


def test_a_read_that_began_before_the_store_was_made_finds_nothing_and_no_error(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_now(run_now(backend.for_user("somebody")).apply([Put(p("/a.md"), b"x")], AGENT))
    store = run_now(backend.for_user("acme"))

    def found_and_then_made(db: Connection, place: Place) -> tuple[StoreLog, bool] | None:
        found = find(db, place)
        monkeypatch.undo()
        run_now(store.apply([Put(p("/a.md"), b"one")], AGENT))
        return found

    monkeypatch.setattr(sql_store, "find", found_and_then_made)
    with pytest.raises(NotFound):
        run_now(store.read(p("/a.md")))
    assert run_now(store.read(p("/a.md"))).data == b"one"


def test_a_file_that_vanishes_while_it_is_opened_is_unavailable_and_not_named(
    backend: SqliteBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanish(_: Turnstile) -> None:
        (tmp_path / "stores.db").unlink()

    monkeypatch.setattr(Turnstile, "enter", vanish)
    store = run_now(backend.for_user("acme"))
    with pytest.raises(Unavailable) as caught:
        run_now(store.apply([Put(p("/a.md"), b"one")], AGENT))
    assert str(tmp_path) not in str(caught.value)


def test_what_is_noted_while_a_change_commits_is_written_at_the_close(
    backend: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = backend._group
    commit = group.run

    def committing(job: Job) -> None:
        commit(job)
        run_now(store.record(AGENT))

    with monkeypatch.context() as patch:
        patch.setattr(group, "run", committing)
        run_now(store.apply([Put(p("/b.md"), b"two")], AGENT))
    place = store._place
    assert place.records.are_waiting
    run_now(backend.close())
    assert not place.records.are_waiting


def test_a_backend_that_cannot_write_what_waits_is_closed_all_the_same(
    backend: SqliteBackend,
    store: SqlStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_now(store.record(AGENT))
    with monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "writing", raising(Unavailable("The disk is full.")))
        with pytest.raises(Unavailable):
            run_now(store.close())
        with pytest.raises(Misuse):
            run_now(store.read(p("/d/a.md")))
        run_now(backend.close())
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert backend.is_closed
    run_now(backend.close())


def test_a_change_that_comes_too_late_does_not_open_a_closed_database_again(
    backend: SqliteBackend, store: Any
) -> None:
    job = ChangeJob(store._place, [Put(p("/b.md"), b"two")], AGENT)
    run_now(backend.close())
    with pytest.raises(Misuse):
        backend.commit(job)


def raising(error: Exception) -> Callable[..., NoReturn]:
    """A function that does nothing but raise."""

    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def test_a_store_that_nobody_made_has_no_memories_and_no_directories(tmp_path: Path) -> None:
    for backend in (SqliteBackend(tmp_path / "f.db"), RamBackend()):
        store = run_now(backend.for_user("acme"))
        with pytest.raises(UnknownId):
            run_now(backend.info(store.id))
        for _ in range(2):  # without a file; then in a file with a store of somebody else
            with pytest.raises(UnknownId):
                run_now(store.locate("mem_1"))
            with pytest.raises(NotFound):
                run_now(store.outline(p("/d"), 100))
            run_now(put(run_now(backend.for_user("globex")), "/a.md", b"x"))
        run_now(backend.close())


def test_a_store_that_was_never_written_is_erased_like_any_other(tmp_path: Path) -> None:
    backend = SqliteBackend(tmp_path / "f.db")
    made = run_now(backend.create("notes"))
    run_now(backend.erase(made.id, AGENT))
    with pytest.raises(UnknownId):
        run_now(backend.info(made.id))
    run_now(backend.close())


def test_a_file_that_another_took_the_place_of_is_not_opened_by_the_next_reader(
    tmp_path: Path,
) -> None:
    path = tmp_path / "f.db"
    backend = SqliteBackend(path)
    store = run_now(backend.for_user("acme"))
    run_now(put(store, "/a.md", b"x"))
    other = SqliteBackend(tmp_path / "other.db")
    run_now(put(run_now(other.for_user("acme")), "/a.md", b"other"))
    run_now(other.close())
    with backend.database.reading():  # so that the next read needs a connection of its own
        os.replace(tmp_path / "other.db", path)
        with pytest.raises(Unavailable, match="moved"):
            run_now(read(store, "/a.md"))
    run_now(backend.close())


def test_a_file_that_vanishes_before_a_reader_has_opened_it_is_unavailable(
    backend: SqliteBackend, store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_made = DatabaseFile.is_made

    def vanish(self: DatabaseFile) -> bool:
        found = is_made(self)
        (tmp_path / "stores.db").unlink()
        return found

    run_now(backend.close())
    again = SqliteBackend(tmp_path / "stores.db")
    reader = run_now(again.for_user("acme"))
    monkeypatch.setattr(DatabaseFile, "is_made", vanish)
    with pytest.raises(Unavailable) as caught:
        run_now(reader.read(p("/d/a.md")))
    assert str(tmp_path) not in str(caught.value)
    run_now(again.close())
