"""The RAM backend keeps every promise of the store contract."""

from __future__ import annotations

from pathlib import Path

from memoranda.stores.base import Backend
from memoranda.stores.ram import RamBackend
from memoranda.testing.store_suite import StoreSuite


class TestRamStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return RamBackend()
