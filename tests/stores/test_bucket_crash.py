"""Buckets: kill -9 of the whole object store while several write."""

from __future__ import annotations

from collections.abc import Iterator

import obstore
import pytest

from memoranda.drive import run_now
from memoranda.stores.bucket.backend import BucketBackend
from tests.stores import server_kills
from tests.stores.bucket_server import Server, client_of


@pytest.fixture
def seaweed() -> Iterator[Server]:
    server = Server()
    server.start()
    yield server
    server.stop()


def strike(server: Server, rounds: int) -> None:
    url = server.url("killed")
    obstore.put(client_of(url), "it", b"")  # the bucket comes with its first object
    backend = BucketBackend(url)
    server_kills.strike(server, run_now(backend.for_user("acme")), rounds)
    run_now(backend.close())


def test_a_killed_object_store_loses_nothing_acknowledged_and_clients_go_on(
    seaweed: Server,
) -> None:
    strike(seaweed, 1)


@pytest.mark.full
def test_fifty_kills_of_the_object_store_lose_nothing_acknowledged(seaweed: Server) -> None:
    strike(seaweed, 50)
