"""Sealed stores keep every promise of the store contract, whatever lies below."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memoranda.stores.base import Backend
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sealed.backend import SealedBackend
from memoranda.stores.sealed.keys import Keys, LocalKey
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.faults import SuspendingStore, WrappingBackend
from memoranda.testing.model import USUAL, run_machine
from memoranda.testing.store_suite import StoreSuite

KEYS = Keys(LocalKey(bytes(range(32))))


# The same code as over SQLite but for the file.
@pytest.mark.full
class TestSealedRam(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return SealedBackend(RamBackend(), KEYS)


class TestSealedSqlite(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return SealedBackend(SqliteBackend(home / "stores.db"), KEYS)


class TestSealedFolder(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return SealedBackend(FolderBackend(home / "memory"), KEYS)


class TestSealedStoreThatSuspends(StoreSuite):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        inner = WrappingBackend(
            RamBackend(),
            lambda store: SuspendingStore(store, lambda: asyncio.sleep(0)),
            suspends=True,
        )
        return SealedBackend(inner, KEYS)


def test_random_operations_agree_with_a_plain_dict() -> None:
    run_machine(TestSealedRam, USUAL)
