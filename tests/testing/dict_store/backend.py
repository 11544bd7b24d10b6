"""The backend of the stores of dicts."""

from __future__ import annotations

from collections.abc import Mapping

from memoranda import errors
from memoranda.stores.base import (
    Backend,
    Capabilities,
    Context,
    Store,
    StoreInfo,
    StorePage,
)
from memoranda.stores.companions import erase_proposals
from memoranda.tenant import check_tenant
from tests.testing.dict_store.batch import Batch
from tests.testing.dict_store.state import Disk, Shelf
from tests.testing.dict_store.store import DictStore

DictStore.batch_class = Batch


class DictBackend(Backend):
    """Stores of dicts on a ``Disk`` that outlives the backend."""

    capabilities = Capabilities()
    store_class: type[DictStore] = DictStore

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.closed = False
        self.owners: dict[DictStore, tuple[str, str]] = {}

    # ---- shelves

    def of_user(self, user: str, workspace: str) -> Shelf | None:
        for shelf in self.disk.shelves.values():
            if (shelf.info.user, shelf.info.workspace) == (user, workspace):
                return shelf
        return None

    def of_id(self, store_id: str, workspace: str) -> Shelf:
        shelf = self.disk.shelves.get(store_id)
        if shelf is None or shelf.info.workspace != workspace:
            raise errors.UnknownId("store")
        return shelf

    def new_shelf(
        self,
        name: str,
        user: str | None,
        workspace: str,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> Shelf:
        at = self.disk.now()
        store_id = self.disk.new_id("memstore")
        info = StoreInfo(store_id, workspace, name, user, description, dict(metadata or {}), at, at)
        self.disk.shelves[store_id] = Shelf(info)
        return self.disk.shelves[store_id]

    def make_shelf(self, store: DictStore) -> Shelf:
        found = store.find_shelf()
        if found is not None:
            return found
        user, workspace = self.owners[store]
        return self.new_shelf(user, user, workspace)

    def is_archived(self, store: DictStore) -> bool:
        shelf = store.find_shelf()
        return shelf is not None and shelf.info.archived_at_ns is not None

    # ---- the contract

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        check_tenant(user, workspace)
        store = self.store_class(self, lambda: self.of_user(user, workspace))
        self.owners[store] = (user, workspace)
        return store

    async def open(self, store_id: str, workspace: str = "default") -> Store:
        self.of_id(store_id, workspace)
        return self.store_class(self, lambda: self.of_id(store_id, workspace))

    async def create(
        self,
        name: str,
        *,
        workspace: str = "default",
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        return self.new_shelf(name, None, workspace, description, metadata).info

    async def find_user(self, user: str, workspace: str = "default") -> StoreInfo | None:
        check_tenant(user, workspace)
        shelf = self.of_user(user, workspace)
        return shelf.info if shelf else None

    async def info(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return self.of_id(store_id, workspace).info

    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        infos = sorted(
            (
                shelf.info
                for shelf in self.disk.shelves.values()
                if shelf.info.workspace == workspace
                and (include_archived or shelf.info.archived_at_ns is None)
            ),
            key=lambda info: (-info.created_at_ns, info.id),
        )
        rest = [one for one in infos if after is None or -one.created_at_ns > int(after)]
        page = tuple(rest[:limit])
        return StorePage(page, str(-page[-1].created_at_ns) if len(rest) > limit else None)

    def renew(self, shelf: Shelf, **changed: object) -> StoreInfo:
        new = shelf.info._replace(**changed)  # type: ignore[arg-type]
        if new != shelf.info:
            shelf.info = new._replace(updated_at_ns=self.disk.now())
        return shelf.info

    async def update(
        self,
        store_id: str,
        workspace: str = "default",
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        shelf = self.of_id(store_id, workspace)
        given = {"name": name, "description": description, "metadata": metadata}
        return self.renew(
            shelf, **{key: value for key, value in given.items() if value is not None}
        )

    async def archive(self, store_id: str, workspace: str = "default") -> StoreInfo:
        shelf = self.of_id(store_id, workspace)
        if shelf.info.archived_at_ns is None:
            self.renew(shelf, archived_at_ns=self.disk.now())
        return shelf.info

    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        info = self.of_id(store_id, workspace).info
        del self.disk.shelves[store_id]
        await erase_proposals(self, info, context)

    async def close(self) -> None:
        self.closed = True


def everything(disk: Disk) -> bytes:
    """All that the disk holds, as text to search in."""
    return repr([(shelf.info, shelf.state) for shelf in disk.shelves.values()]).encode()
