"""The scratch backend keeps every promise of the store contract."""

from __future__ import annotations

from pathlib import Path

from memoranda_scratch import ScratchBackend

from memoranda.stores.base import Backend
from memoranda.testing.store_suite import StoreSuite


class TestScratch(StoreSuite):
    """The suite as it is."""

    async def open_backend(self, home: Path) -> Backend:
        return ScratchBackend(home / "scratch.db")
