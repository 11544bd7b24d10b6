"""Where a memory's store comes from, and what is given back when the memory is closed."""

from __future__ import annotations

from abc import ABC, abstractmethod

from memoranda.arguments import text
from memoranda.errors import Misuse
from memoranda.shared_backends import SharedBackend, release
from memoranda.stores.base import Context, Store
from memoranda.stores.companions import PROPOSALS, label_of, label_of_user
from memoranda.tenant import Tenant


class StoreSource(ABC):
    """Finds one store, always the same."""

    @abstractmethod
    async def find(self) -> Store:
        """The store; a user's is made at its first change."""

    async def proposals(self) -> Store | None:
        """The companion that keeps what waits for a person; None where there is none."""
        return None

    @abstractmethod
    async def erase(self, confirm: str, context: Context) -> None:
        """Erase the store for good. ``confirm`` is its name; another one raises ``Misuse``."""

    @abstractmethod
    async def release(self) -> None:
        """Give back what was taken to find it."""


class StoreOfUser(StoreSource):
    """The store that belongs to a user."""

    def __init__(self, shared: SharedBackend, tenant: Tenant) -> None:
        self._shared = shared
        self._tenant = tenant

    async def find(self) -> Store:
        return await self._shared.backend.for_user(*self._tenant)

    async def proposals(self) -> Store:
        label = label_of_user(*self._tenant)
        return await self._shared.backend.for_user(label, PROPOSALS)

    async def erase(self, confirm: str, context: Context) -> None:
        user, workspace = self._tenant
        _check(confirm, user, "user")
        info = await self._shared.backend.find_user(user, workspace)
        if info is not None:  # else nothing was ever written
            await self._shared.backend.erase(info.id, context, workspace)

    async def release(self) -> None:
        await release(self._shared)


class StoreWithId(StoreSource):
    """A store that was made through the API."""

    def __init__(self, shared: SharedBackend, store_id: str, workspace: str) -> None:
        self._shared = shared
        self._store_id = store_id
        self._workspace = workspace

    async def find(self) -> Store:
        return await self._shared.backend.open(self._store_id, self._workspace)

    async def proposals(self) -> Store:
        info = await self._shared.backend.info(self._store_id, self._workspace)
        return await self._shared.backend.for_user(label_of(info), PROPOSALS)

    async def erase(self, confirm: str, context: Context) -> None:
        _check(confirm, self._store_id, "store")
        await self._shared.backend.erase(self._store_id, context, self._workspace)

    async def release(self) -> None:
        await release(self._shared)


class GivenStore(StoreSource):
    """A store that the program made and keeps."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self) -> Store:
        return self._store

    async def erase(self, confirm: str, context: Context) -> None:
        raise Misuse("A store that you brought is erased through its backend.")

    async def release(self) -> None:
        """Nothing was taken."""


def _check(confirm: str, name: str, of_what: str) -> None:
    if text("confirm", confirm) != name:
        raise Misuse(f"Erasing is for good: give the name of the {of_what} as `confirm`.")
