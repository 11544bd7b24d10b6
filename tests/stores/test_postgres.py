"""The PostgreSQL backend keeps every promise of the store contract, in both colours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memoranda.stores.base import Backend
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.testing.store_suite import StoreSuite
from tests.stores.postgres_server import database

_homes: list[Path] = []


def url_for(home: Path) -> str:
    """The database, empty for each new home."""
    found = database()
    if _homes != [home]:
        found.wipe()
        _homes[:] = [home]
    return found.url


class TestPostgresStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return PostgresBackend(url_for(home))

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return database().everything()


class TestPostgresStoreThatSuspends(StoreSuite):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        return PostgresBackend(url_for(home), suspends=True)

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return database().everything()
