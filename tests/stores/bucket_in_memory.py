"""An object store in this process, for what has to be quick or to fail at will."""

from __future__ import annotations

from pathlib import Path

from obstore.store import MemoryStore, ObjectStore

from memoranda.stores.bucket.address import Address
from memoranda.stores.bucket.async_port import AsyncPort
from memoranda.stores.bucket.sync_port import SyncPort

NOWHERE = Address("s3", "nowhere", "", ())


class MemorySyncPort(SyncPort):
    """Blocks; on a store of obstore's own in memory, which honours conditions."""

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(NOWHERE)
        self._store = store


class MemoryAsyncPort(AsyncPort):
    """Suspends; the same."""

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(NOWHERE)
        self._store = store


_stores: dict[Path, MemoryStore] = {}


def store_for(home: Path) -> MemoryStore:
    """The one object store of each home."""
    if home not in _stores:
        _stores.clear()  # the tests before have ended
        _stores[home] = MemoryStore()
    return _stores[home]
