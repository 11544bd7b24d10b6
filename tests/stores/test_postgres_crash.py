"""PostgreSQL's own promise, and that we lean on it right: kill -9 of the whole server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoranda.drive import run_now
from memoranda.stores.postgres.backend import PostgresBackend
from tests.stores import server_kills
from tests.stores.postgres_server import Database, Server


@pytest.fixture
def durable() -> Iterator[Server]:
    """A server that means it."""
    server = Server.made("fsync=on")
    yield server
    server.stop()


def strike(server: Server, rounds: int) -> None:
    db = Database(server.admin)
    backend = PostgresBackend(db.url)
    server_kills.strike(server, run_now(backend.for_user("acme")), rounds)
    run_now(backend.close())
    db.close()


def test_a_killed_server_loses_nothing_acknowledged_and_clients_go_on(durable: Server) -> None:
    strike(durable, 2)


@pytest.mark.full
def test_fifty_kills_of_the_server_lose_nothing_acknowledged(durable: Server) -> None:
    strike(durable, 50)
