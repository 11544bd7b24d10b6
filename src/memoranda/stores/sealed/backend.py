"""A backend whose stores are sealed, around any other one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memoranda.errors import Misuse
from memoranda.stores.base import Backend, Context, Origin, Store, StoreInfo, StorePage
from memoranda.stores.companions import PROPOSALS, label_of, label_of_user
from memoranda.stores.sealed.ring import WORKSPACE, RingKeeper
from memoranda.stores.sealed.store import SealedStore
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant

if TYPE_CHECKING:
    from memoranda.stores.records import Records
    from memoranda.stores.sealed.keys import Keys

_ITS_OWN: Final = f"The workspace {WORKSPACE} is where the keys of sealed stores lie."


class SealedBackend(Backend):
    """Seals the contents of each store of ``inner`` with keys of its own, wrapped by ``keys``.

    Works over backends that block and over ones that suspend; ``inner`` belongs to it from now on.
    Stores that were filled without it can't be read through it: copy them over.
    """

    def __init__(self, inner: Backend, keys: Keys) -> None:
        self.inner = inner
        self._keys = keys
        # It suspends and is able to what its inner backend is, so these differ by object.
        self.suspends = inner.suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.capabilities = inner.capabilities  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> Store:
        tenant = check_tenant(user, workspace)
        _check(workspace)
        store = await self.inner.for_user(user, workspace)
        return await self._sealed(store, label_of_user(tenant.user, tenant.workspace))

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> Store:
        _check(workspace)
        info = await self.inner.info(store_id, workspace)
        return await self._sealed(await self.inner.open(store_id, workspace), label_of(info))

    async def create(
        self,
        name: str,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        _check(workspace)
        return await self.inner.create(
            name, workspace=workspace, description=description, metadata=metadata
        )

    async def take_up(self, info: StoreInfo, origin: Origin) -> Store:
        _check(info.workspace)
        return await self._sealed(await self.inner.take_up(info, origin), label_of(info))

    async def workspaces(self) -> tuple[str, ...]:
        return tuple(each for each in await self.inner.workspaces() if each != WORKSPACE)

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        return await self.inner.find_user(user, workspace)

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        return await self.inner.info(store_id, workspace)

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        return await self.inner.list(
            workspace, after=after, limit=limit, include_archived=include_archived
        )

    async def update(
        self,
        store_id: str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        return await self.inner.update(
            store_id, workspace, name=name, description=description, metadata=metadata
        )

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        return await self.inner.archive(store_id, workspace)

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        _check(workspace)
        info = await self.inner.info(store_id, workspace)
        # The store first: a hold may forbid it, and then its keys have to stay.
        await self.inner.erase(store_id, context, workspace)
        label = label_of(info)
        # And the keys of its proposals, which went with it.
        for name in (label, label_of_user(label, PROPOSALS)):
            keys = await self.inner.find_user(name, WORKSPACE)
            if keys is not None:
                await self.inner.erase(keys.id, context, WORKSPACE)

    def records(self, kind: str) -> Records:
        return self.inner.records(kind)

    async def rewrap_keys(
        self, *, data_keys: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Have the current key-encryption key wrap the data keys of all stores; of how many another
        one did before. With ``data_keys`` each store gets a new one, which seals what is written from
        then on; of how many that is.

        Contents stay as they are. Online: give every process both keys first, the new one as the
        current one. May be repeated after a kill at any step; once it gives 0 the former key is not
        needed any more. Raises ``Misuse`` where neither key fits, ``Conflict`` where another
        process does the same at this moment. ``progress`` is told how many stores are done, and how
        many there are.
        """
        n_rewrapped = 0
        rings = await self._stores_in(WORKSPACE)
        for number, info in enumerate(rings, 1):
            label = info.user or ""
            keeper = RingKeeper(await self.inner.for_user(label, WORKSPACE), label, self._keys)
            n_rewrapped += await keeper.rewrap(new_data_key=data_keys)
            await keeper.close()
            if progress is not None:
                progress(number, len(rings))
        return n_rewrapped

    async def erase_orphans(self, context: Context, before_ns: int) -> int:
        """Erase keys of stores that are gone: of an erasure that was killed before it came to them.
        Of how many.

        Only keys that were made before ``before_ns`` (since 1970): those of a store that is just
        being made have none yet. Reads the list of all stores; raises ``Unsupported`` where the
        workspaces can't be listed.
        """
        labels: set[str] = set()
        for workspace in await self.workspaces():
            labels.update(label_of(info) for info in await self._stores_in(workspace))
        orphans = [
            info
            for info in await self._stores_in(WORKSPACE)
            if info.user not in labels and info.created_at_ns < before_ns
        ]
        for info in orphans:
            await self.inner.erase(info.id, context, WORKSPACE)
        return len(orphans)

    async def _stores_in(self, workspace: str) -> Sequence[StoreInfo]:
        found: tuple[StoreInfo, ...] = ()
        after: str | None = None
        while True:
            page = await self.inner.list(workspace, after=after)
            found += page.stores
            after = page.after
            if after is None:
                return found

    async def close(self) -> None:
        await self.inner.close()

    async def _sealed(self, store: Store, label: str) -> Store:
        companion = await self.inner.for_user(label, WORKSPACE)
        sealed = SealedStore(store, RingKeeper(companion, label, self._keys))
        await sealed.load()
        return sealed


def _check(workspace: str) -> None:
    if workspace == WORKSPACE:
        raise Misuse(_ITS_OWN)
