"""PostgreSQL behind PgBouncer in transaction mode: clients share sessions and leave nothing in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from memoranda.drive import run_now
from memoranda.errors import Misuse
from memoranda.stores.base import Backend, Context, Edit, Put
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.postgres.migrate import migrate
from memoranda.testing.promises.steps import append, p, tree
from memoranda.testing.store_suite import StoreSuite
from tests.stores.pooler import CONNECTIONS, PROGRAM, Pooler
from tests.stores.postgres_server import APP, Database, own_database

pytestmark = pytest.mark.skipif(
    PROGRAM is None,
    reason="NOT TESTED: pgbouncer is not installed (apt-get install pgbouncer), so nothing here"
    " shows that stores work behind a pooler",
)
AGENT = Context(actor="agent", command="test")
CLIENTS = 8
WRITES = 12


@pytest.fixture(scope="module")
def pooler() -> Iterator[Pooler]:
    own_database()
    made = Pooler("memo_faults")
    yield made
    made.close()


@pytest.fixture
def db(pooler: Pooler) -> Database:
    del pooler
    found = own_database()
    found.wipe()
    return found


def left_behind(pooler: Pooler, db: Database) -> list[tuple[object, ...]]:
    """What clients left in the sessions of the server: settings, statements, locks, tables."""
    found: list[tuple[object, ...]] = []
    # Transactions that are open at once are in different sessions: all of them are looked at.
    clients = [psycopg.connect(pooler.url, prepare_threshold=None) for _ in range(CONNECTIONS)]
    for client in clients:
        found += client.execute(
            "SELECT nullif(current_setting('memoranda.store', true), ''),"
            " nullif(current_setting('memoranda.workspace', true), ''),"
            " (SELECT count(*) FROM pg_prepared_statements),"
            " current_setting('lock_timeout'), current_setting('transaction_isolation'),"
            " current_setting('idle_in_transaction_session_timeout')"
        ).fetchall()
    for client in clients:
        client.close()
    locks = "SELECT locktype FROM pg_locks WHERE locktype = 'advisory'"
    temporary = "SELECT relname FROM pg_class WHERE relpersistence = 't'"
    return found + db.rows(locks) + db.rows(temporary)


CLEAN = [(None, None, 0, "0", "read committed", "0")] * CONNECTIONS


def test_clients_that_share_sessions_see_their_own_stores_and_leave_nothing(
    pooler: Pooler, db: Database
) -> None:
    def work(client: int) -> None:
        backend = PostgresBackend(pooler.url)
        store = run_now(backend.for_user(f"user{client}"))
        run_now(store.apply([Put(p("/a.md"), b"")], AGENT))
        for number in range(WRITES):
            line = b"%d.%d\n" % (client, number)
            run_now(store.apply([Edit(p("/a.md"), append(line))], AGENT))
            run_now(store.search("nothing", p("/")))
            run_now(store.outline(p("/"), 80))
        own = b"".join(b"%d.%d\n" % (client, number) for number in range(WRITES))
        assert run_now(tree(store)) == {"/a.md": own}
        assert run_now(store.verify()).problems == ()
        run_now(backend.close())

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, range(CLIENTS)))
    sessions = db.rows("SELECT count(*) FROM pg_stat_activity WHERE usename = %s", APP)
    assert sessions == [(CONNECTIONS,)]
    assert left_behind(pooler, db) == CLEAN


def test_tasks_that_share_sessions_do_so_too_and_one_may_be_cancelled(
    pooler: Pooler, db: Database
) -> None:
    async def play() -> None:
        backend = PostgresBackend(pooler.url, suspends=True)

        stores = [await backend.for_user(f"user{client}") for client in range(CLIENTS)]
        for store in stores:
            await store.apply([Put(p("/a.md"), b"")], AGENT)

        async def work(client: int) -> None:
            store = stores[client]
            for number in range(WRITES):
                await store.apply([Edit(p("/a.md"), append(b"%d.%d\n" % (client, number)))], AGENT)

        tasks = [asyncio.create_task(work(client)) for client in range(CLIENTS)]
        while not (await stores[0].read(p("/a.md"))).size_bytes:
            await asyncio.sleep(0)
        tasks[0].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert [one for one in done[1:] if one is not None] == []
        for client, store in enumerate(stores):
            lines = (await store.read(p("/a.md"))).data.splitlines()
            assert lines == [b"%d.%d" % (client, number) for number in range(len(lines))]
            assert client == 0 or len(lines) == WRITES
        await backend.close()

    asyncio.run(play())
    assert left_behind(pooler, db) == CLEAN


def test_a_migration_through_it_leaves_no_lock_behind(pooler: Pooler, db: Database) -> None:
    # One that is refused at its end has taken the lock before.
    with pytest.raises(Misuse, match="no such role"):
        migrate(pooler.url, "nobody_of_that_name")
    assert left_behind(pooler, db) == CLEAN


def test_what_a_session_keeps_would_be_seen_here(pooler: Pooler, db: Database) -> None:
    with psycopg.connect(pooler.url, autocommit=True, prepare_threshold=None) as client:
        client.execute("SELECT set_config('memoranda.store', '7', false)")
    try:
        assert left_behind(pooler, db) != CLEAN
    finally:
        db.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", APP)


@pytest.mark.full
class TestStoreBehindAPooler(StoreSuite):
    @pytest.fixture(autouse=True)
    def _pooler(self, pooler: Pooler, db: Database) -> None:
        self.url = pooler.url
        self.db = db

    async def open_backend(self, home: Path) -> Backend:
        return PostgresBackend(self.url)

    def stored_bytes(self, home: Path) -> list[bytes]:
        return self.db.everything()


@pytest.mark.full
class TestStoreThatSuspendsBehindAPooler(TestStoreBehindAPooler):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        return PostgresBackend(self.url, suspends=True)
