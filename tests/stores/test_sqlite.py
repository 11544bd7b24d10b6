"""The SQLite backend keeps every promise of the store contract."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memoranda.stores.base import Backend
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.store_suite import StoreSuite


class TestSqliteStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return SqliteBackend(home / "stores.db")

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return [file.read_bytes() for file in home.iterdir()]
