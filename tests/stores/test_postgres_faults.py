"""PostgreSQL: connections that break at any byte, servers that go, time limits, cancelled tasks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from memoranda.drive import run_now
from memoranda.errors import MemorandaError, Unavailable
from memoranda.stores import patience
from memoranda.stores.base import Context, Edit, Expect, Put, Store
from memoranda.stores.postgres import address
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.testing.promises.steps import append, history, p, tree
from tests.stores.postgres_proxy import Direction, Proxy, through
from tests.stores.postgres_server import Database, own_database, own_server

AGENT = Context(actor="agent", command="test")
STEPS: dict[Direction, int] = {"to_server": 97, "to_client": 13}
"""Every so many bytes a connection is cut: an answer is short, and no part of it may be missed."""
NEVER_SO_LONG = 4000


@pytest.fixture
def db() -> Database:
    found = own_database()
    found.wipe()
    return found


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy(own_server().home)
    yield made
    made.close()


@pytest.fixture
def url(db: Database, proxy: Proxy) -> str:
    return through(db.url, own_server().home, proxy)


async def write_while_it_is_cut(
    store: Store, proxy: Proxy, db: Database, direction: Direction, step: int
) -> int:
    """Cut a write at every so many bytes of one direction; how many cuts that were."""
    await store.apply([Put(p("/first.md"), b"x")], AGENT)
    for n_bytes in range(0, NEVER_SO_LONG, step):
        path = f"/{direction}/{n_bytes}.md"
        proxy.arm(direction, n_bytes)
        versions = await store.apply([Put(p(path), b"%d" % n_bytes, Expect.ABSENT)], AGENT)
        was_whole = proxy.disarm()
        assert [str(one.operation) for one in versions] == ["created"]
        seqs = db.rows("SELECT seq FROM memoranda.event WHERE path = %s", path)
        assert seqs == [(versions[0].seq,)], (direction, n_bytes)
        if was_whole:
            break
    assert (await store.verify()).problems == ()
    return proxy.cuts


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_a_write_is_done_once_wherever_its_connection_breaks__sync(
    url: str, db: Database, proxy: Proxy, direction: Direction
) -> None:
    backend = PostgresBackend(url)
    store = run_now(backend.for_user("acme"))
    assert run_now(write_while_it_is_cut(store, proxy, db, direction, STEPS[direction])) > 3
    run_now(backend.close())


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_a_write_is_done_once_wherever_its_connection_breaks__async(
    url: str, db: Database, proxy: Proxy, direction: Direction
) -> None:
    async def play() -> None:
        backend = PostgresBackend(url, suspends=True)
        store = await backend.for_user("acme")
        assert await write_while_it_is_cut(store, proxy, db, direction, STEPS[direction]) > 3
        await backend.close()

    asyncio.run(play())


@pytest.mark.full
@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_a_write_is_done_once_at_every_single_byte(
    url: str, db: Database, proxy: Proxy, direction: Direction
) -> None:
    backend = PostgresBackend(url)
    store = run_now(backend.for_user("acme"))
    assert run_now(write_while_it_is_cut(store, proxy, db, direction, 1)) > 300
    run_now(backend.close())


def test_a_users_first_write_whose_answer_got_lost_makes_one_store(
    url: str, db: Database, proxy: Proxy
) -> None:
    for n_bytes in range(0, 700, 61):
        backend = PostgresBackend(url)
        store = run_now(backend.for_user(f"user{n_bytes}"))
        proxy.arm("to_client", n_bytes)
        (version,) = run_now(store.apply([Put(p("/a.md"), b"x", Expect.ABSENT)], AGENT))
        proxy.disarm()
        assert run_now(store.version(version.id)).content == b"x"
        assert len(run_now(history(store))) == 1
        run_now(backend.close())
    assert db.rows("SELECT count(*) FROM memoranda.store") == [(12,)]
    assert proxy.cuts > 3


def test_an_edit_is_never_made_twice_though_its_answer_gets_lost(url: str, proxy: Proxy) -> None:
    backend = PostgresBackend(url)
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/a.md"), b"")], AGENT))
    for number in range(70):
        proxy.arm("to_client", 13 * number)
        run_now(store.apply([Edit(p("/a.md"), append(b"%d\n" % number))], AGENT))
        proxy.disarm()
    wanted = b"".join(b"%d\n" % number for number in range(70))
    assert run_now(store.read(p("/a.md"))).data == wanted
    assert proxy.cuts > 3
    run_now(backend.close())


def test_writers_go_on_by_themselves_through_an_outage(
    url: str, db: Database, proxy: Proxy
) -> None:
    backend = PostgresBackend(url)
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/a.md"), b"")], AGENT))
    under_way = threading.Barrier(4)

    def write(writer: int) -> None:
        for number in range(12):
            run_now(store.apply([Edit(p("/a.md"), append(b"%d.%d\n" % (writer, number)))], AGENT))
            if number == 3:
                under_way.wait(30)

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, writer) for writer in range(3)]
        under_way.wait(30)
        proxy.take_down()
        proxy.bring_up()
        for writer in writers:
            writer.result()
    lines = run_now(store.read(p("/a.md"))).data.splitlines()
    assert sorted(lines) == sorted(b"%d.%d" % (w, n) for w in range(3) for n in range(12))
    assert run_now(store.verify()).problems == ()
    run_now(backend.close())


def test_a_server_that_is_not_there_is_unavailable_and_not_named(
    proxy: Proxy, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience.patiently, "__defaults__", (0.1,))
    monkeypatch.setattr(address, "CONNECTION_SECONDS", 0.3)
    backend = PostgresBackend(f"{url}&connect_timeout=1")
    proxy.take_down()
    with pytest.raises(Unavailable) as caught:
        run_now(backend.for_user("acme"))
    assert str(proxy.home) not in str(caught.value)
    assert "memo_app" not in str(caught.value)
    run_now(backend.close())


def locked(db: Database) -> psycopg.Connection:
    """Somebody who holds the lock of every store."""
    holder = psycopg.connect(db.superuser)
    holder.execute("SELECT 1 FROM memoranda.state FOR UPDATE")
    return holder


def test_a_statement_that_takes_too_long_is_unavailable_and_leaves_the_pool_sound(
    db: Database,
) -> None:
    backend = PostgresBackend(f"{db.url}&pool_size=2&options=-c%20statement_timeout%3D150")
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/a.md"), b"old")], AGENT))
    holder = locked(db)
    for _ in range(4):
        with pytest.raises(Unavailable, match="took too long"):
            run_now(store.apply([Put(p("/a.md"), b"new")], AGENT))
    assert run_now(store.read(p("/a.md"))).data == b"old"
    holder.close()
    run_now(store.apply([Put(p("/a.md"), b"newer")], AGENT))
    assert run_now(tree(store)) == {"/a.md": b"newer"}
    assert len(run_now(history(store))) == 2
    run_now(backend.close())


def test_cancelled_writes_are_whole_or_not_there_and_leave_the_pool_sound(db: Database) -> None:
    async def play() -> None:
        backend = PostgresBackend(f"{db.url}&pool_size=2", suspends=True)
        store = await backend.for_user("acme")
        await store.apply([Put(p("/a.md"), b"old")], AGENT)
        holder = locked(db)
        for number in range(6):
            changes = [Put(p("/a.md"), b"new %d" % number), Put(p(f"/b{number}.md"), b"new")]
            task = asyncio.create_task(store.apply(changes, AGENT))
            while not waiting_for_locks(db):
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        holder.close()
        assert await tree(store) == {"/a.md": b"old"}
        await store.apply([Put(p("/a.md"), b"newer")], AGENT)
        assert await tree(store) == {"/a.md": b"newer"}
        assert (await store.verify()).problems == ()
        await backend.close()

    asyncio.run(play())


def waiting_for_locks(db: Database) -> int:
    """How many sessions wait for one."""
    ((found,),) = db.rows("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    return int(found)


def test_serializable_by_default_only_means_more_tries(db: Database) -> None:
    option = "options=-c%20default_transaction_isolation%3Dserializable"
    backend = PostgresBackend(f"{db.url}&{option}")
    store: Any = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/a.md"), b"")], AGENT))

    def write(writer: int) -> None:
        for number in range(8):
            run_now(store.apply([Edit(p("/a.md"), append(b"%d.%d\n" % (writer, number)))], AGENT))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(run_now(store.read(p("/a.md"))).data.splitlines()) == 32
    run_now(backend.close())


def test_connections_that_an_administrator_ends_cost_nobody_a_failure(db: Database) -> None:
    backend = PostgresBackend(db.url)
    store = run_now(backend.for_user("acme"))
    for number in range(5):
        run_now(store.apply([Put(p("/a.md"), b"%d" % number)], AGENT))
        db.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memo_app'")
        assert run_now(store.read(p("/a.md"))).data == b"%d" % number
    run_now(backend.close())


def test_a_database_without_our_tables_says_what_to_do(db: Database) -> None:
    backend = PostgresBackend(db.url.replace("/memo_faults", "/postgres"))
    with pytest.raises(MemorandaError, match="migrate"):
        run_now(backend.for_user("acme"))
    run_now(backend.close())
