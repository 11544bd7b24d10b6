"""PostgreSQL: the second wall between stores, hostile texts, roles, migrations, URLs."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memoranda.drive import run_now
from memoranda.errors import MemorandaError, Misuse, Unavailable, UnknownId
from memoranda.stores.base import Context, Put, VersionFilter
from memoranda.stores.open import open_backend
from memoranda.stores.postgres import address
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.postgres.migrate import main, migrate, steps
from memoranda.testing.promises.contents import HOSTILE_NAMES
from memoranda.testing.promises.steps import history, p, tree
from tests.stores.postgres_server import APP, OWNER, TABLES, Database, database, url_for

AGENT = Context(actor="agent", command="test")
OF_A_STORE = ("state", "memory", "event", "content")
INJECTIONS = (
    "'; DROP SCHEMA memoranda CASCADE; --",
    "' OR '1'='1",
    "$1",
    "%s",
    "%(store)s",
    "{}",
    "\\'; SELECT 1; --",
    "$$; DELETE FROM memoranda.event; $$",
    "a'||(SELECT secret FROM memoranda.store)||'",
    "\x00'; --",
    "\ud800'; --",
    "/*",
    '"; --',
    "E'\\x41'",
    "U&'\\0041'",
    "memoranda.store()",
)


@pytest.fixture
def db(tmp_path: Path) -> Database:
    url_for(tmp_path)
    return database()


@pytest.fixture
def two(db: Database) -> tuple[Any, Any]:
    """The stores of two users, each with a past."""
    backend = PostgresBackend(db.url)
    stores = tuple(run_now(backend.for_user(user)) for user in ("alice", "bob"))
    for store, text in zip(stores, (b"alice's", b"bob's"), strict=True):
        run_now(store.apply([Put(p("/a.md"), text)], AGENT))
        run_now(store.apply([Put(p("/a.md"), text + b" again")], AGENT))
    return stores[0], stores[1]


def number_of(store: Any) -> int:
    return int(store._place.made.number)


def test_a_query_without_a_filter_sees_the_one_store_that_was_named(
    db: Database, two: tuple[Any, Any]
) -> None:
    with psycopg.connect(db.url) as connection:
        for store, own in zip(two, (b"alice's", b"bob's"), strict=True):
            number = number_of(store)
            connection.execute("SELECT set_config('memoranda.store', %s, true)", (str(number),))
            for table in OF_A_STORE:
                rows = connection.execute(f"SELECT store FROM memoranda.{table}".encode())
                assert {row[0] for row in rows} == {number}, table
            contents = connection.execute("SELECT data FROM memoranda.content").fetchall()
            assert len(contents) == 2
            assert all(row[0].startswith(own) for row in contents)


def test_a_connection_that_forgot_to_name_its_store_sees_and_changes_nothing(
    db: Database, two: tuple[Any, Any]
) -> None:
    with psycopg.connect(db.url, autocommit=True) as connection:
        for named in (False, True):
            if named:  # a setting that ended with its transaction leaves an empty text behind
                connection.execute("SELECT set_config('memoranda.store', '1', true)")
                connection.execute("SELECT set_config('memoranda.workspace', 'default', true)")
            for table in TABLES:
                statement = f"SELECT count(*) FROM memoranda.{table}".encode()
                assert connection.execute(statement).fetchone() == (0,), table
                gone = connection.execute(f"DELETE FROM memoranda.{table}".encode())
                assert gone.rowcount == 0, table
    assert run_now(tree(two[0])) == {"/a.md": b"alice's again"}


def test_rows_of_another_store_can_neither_be_changed_nor_slipped_in(
    db: Database, two: tuple[Any, Any]
) -> None:
    mine, theirs = map(number_of, two)
    with psycopg.connect(db.url) as connection:
        connection.execute("SELECT set_config('memoranda.store', %s, true)", (str(mine),))
        for statement in (
            "UPDATE memoranda.memory SET size = 0 WHERE store = %s",
            "DELETE FROM memoranda.event WHERE store = %s",
            "DELETE FROM memoranda.content WHERE store = %s",
        ):
            assert connection.execute(statement, (theirs,)).rowcount == 0
        for statement in (
            "INSERT INTO memoranda.content(store, number, data) VALUES (%s, 99, '')",
            "UPDATE memoranda.memory SET store = %s",
        ):
            with pytest.raises(psycopg.Error, match="row-level security"), connection.transaction():
                connection.execute(statement, (theirs,))
    assert run_now(two[1].verify()).ok


def test_partitions_have_no_door_of_their_own(db: Database, two: tuple[Any, Any]) -> None:
    partitions = db.rows(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'memoranda' AND c.relispartition AND c.relkind = 'r'"
    )
    assert len(partitions) == 64
    with psycopg.connect(db.url, autocommit=True) as connection:
        for (name,) in partitions:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT 1 FROM memoranda.{name}".encode())


def test_even_the_owner_is_held_by_the_wall(db: Database, two: tuple[Any, Any]) -> None:
    with psycopg.connect(db.owner) as connection:
        for table in TABLES:
            statement = f"SELECT count(*) FROM memoranda.{table}".encode()
            assert connection.execute(statement).fetchone() == (0,), table


def test_stores_are_kept_apart_though_our_own_filter_is_gone(
    db: Database, two: tuple[Any, Any]
) -> None:
    """The functions once more, without any ``store = p_store`` in their queries."""
    ((source,),) = db.rows("SELECT pg_get_functiondef('memoranda.read_memory'::regproc::oid)")
    bare = source.replace("m.store = p_store AND ", "").replace("c.store = p_store AND ", "")
    assert bare != source
    try:
        db.rows("SELECT 1")
        with psycopg.connect(db.superuser, autocommit=True) as admin:
            admin.execute(bare.encode())
        for store, text in zip(two, (b"alice's again", b"bob's again"), strict=True):
            assert run_now(store.read(p("/a.md"))).data == text
    finally:
        with psycopg.connect(db.superuser, autocommit=True) as admin:
            admin.execute(source.encode())


def test_hostile_texts_are_only_texts(db: Database, two: tuple[Any, Any]) -> None:
    store, other = two
    backend = store._backend
    for text in INJECTIONS:
        by = Context(actor=text, command=text, trace_id=text, audit={text: text})
        run_now(store.apply([Put(p("/hostile.md"), text.encode("utf-8", "replace"))], by))
        run_now(store.record(by))
        run_now(store.search(text, p("/")))
        run_now(store.list(p("/"), after=text))
        run_now(store.versions(VersionFilter(actor=text)))
        info = run_now(backend.create(text, description=text, metadata={text: text}))
        assert run_now(backend.info(info.id)) == info
        asked: list[Coroutine[Any, Any, object]] = [
            store.locate(text),
            store.version(text),
            store.versions(after=text),
            store.redact(text, by),
            backend.info(text),
            backend.info(info.id, text),
            backend.open(text, text),
            backend.for_user(text),
            backend.list(after=text),
        ]
        for question in asked:
            with pytest.raises((UnknownId, Misuse)):
                run_now(question)
    for name in HOSTILE_NAMES:
        run_now(store.apply([Put(p(f"/{name}"), name.encode())], AGENT))
    assert run_now(store.verify()).problems == ()
    assert len(run_now(tree(store))) == len(HOSTILE_NAMES) + 2 - ("a.md" in HOSTILE_NAMES)
    assert run_now(tree(other)) == {"/a.md": b"bob's again"}
    assert len(run_now(history(other))) == 2


def test_starting_a_migration_many_times_at_once_does_it_once(db: Database) -> None:
    name = "memo_migrated"
    with psycopg.connect(db.superuser, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        admin.execute(f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE template0".encode())
    try:
        owner = db.owner.replace("/memo?", f"/{name}?") if "/memo?" in db.owner else None
        if owner is None:
            pytest.skip("only with a server of our own")
        with ThreadPoolExecutor(4) as pool:
            started = [pool.submit(migrate, owner, APP) for _ in range(4)]
        done = [one.result() for one in started]
        assert sorted(done) == [0, 0, 0, len(steps())]
        assert migrate(owner) == 0
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("INSERT INTO memoranda.migration VALUES (9999, 'future')")
        with pytest.raises(Unavailable, match="newer Memoranda"):
            migrate(owner)
    finally:
        with psycopg.connect(db.superuser, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_roles_that_the_wall_would_not_hold_are_refused(db: Database) -> None:
    for role in (OWNER, "postgres", "nobody_of_that_name"):
        with pytest.raises(Misuse, match="role"):
            migrate(db.owner, role)


def test_the_command_line_says_what_it_did(
    db: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([db.owner, "--role", APP]) == 0
    assert "up to date" in capsys.readouterr().out
    assert main(["postgresql://nobody@/none?host=/nowhere"]) == Unavailable.exit_code
    assert "nowhere" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret@host/db?pool_size=0",
        "postgresql://u:s3cret@host/db?pool_size=many",
        "postgresql://u:s3cret@host/db?no_such_setting=1",
        "postgresql://u:s3cret@[::1/db",
    ],
)
def test_a_url_that_cannot_be_is_misuse_and_not_repeated(url: str) -> None:
    with pytest.raises(Misuse) as caught:
        open_backend(url)
    assert "s3cret" not in str(caught.value)


def test_without_the_driver_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(MemorandaError, match=r"memoranda\[postgres\]"):
        address.parse("postgresql://u@host/db")
