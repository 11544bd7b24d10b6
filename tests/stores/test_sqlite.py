"""The SQLite backend keeps every promise of the store contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from memoranda.drive import run_now
from memoranda.errors import IsADirectory, Misuse, NotFound, Unavailable
from memoranda.stores import sqlite
from memoranda.stores.base import Backend, Context, Put
from memoranda.stores.group_commit import Job
from memoranda.stores.log.sql_batch import ChangeJob
from memoranda.stores.log.sql_store import SqlStore
from memoranda.stores.sqlite import SqliteBackend, SqliteDatabase
from memoranda.stores.turnstile import Turnstile
from memoranda.testing.promises.steps import p
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
