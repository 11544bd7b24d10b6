"""The suite itself: an honest store passes it, whole and with every capability taken away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from memoranda.stores.base import Backend
from memoranda.testing.store_suite import StoreSuite
from tests.testing.dict_store import DictBackend, Disk, everything


class DictSuite(StoreSuite):
    """The suite on dicts; each home has a disk of its own."""

    backend_class: ClassVar[type[DictBackend]] = DictBackend
    disks: ClassVar[dict[Path, Disk]] = {}

    def disk(self, home: Path) -> Disk:
        return self.disks.setdefault(home, Disk())

    async def open_backend(self, home: Path) -> Backend:
        return self.backend_class(self.disk(home))

    def stored_files(self, home: Path, store_id: str, user: str) -> Mapping[str, bytes]:
        live = self.disk(home).shelves[store_id].state.live
        return {path.store_path: one.content for path, one in live.items()}

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return [everything(self.disk(home))]


class TestDictStore(DictSuite):
    """An honest store keeps every promise."""
