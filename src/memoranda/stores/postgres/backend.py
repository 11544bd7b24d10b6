"""Many stores in one PostgreSQL database."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar
from weakref import WeakSet, WeakValueDictionary

from memoranda.errors import Misuse, StoreExists, UnknownId
from memoranda.stores.base import Backend, Capabilities, Retention, StoreInfo, StorePage
from memoranda.stores.companions import erase_proposals
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.patience import patiently
from memoranda.stores.postgres import address, stores
from memoranda.stores.postgres.place import Place
from memoranda.stores.postgres.store import CAPABILITIES, PostgresStore
from memoranda.stores.postgres.stores import Stores
from memoranda.stores.postgres.taking_up import take_up
from memoranda.stores.postgres.writing import Batch
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from memoranda.stores.base import Context, Origin
    from memoranda.stores.postgres.port import Port, Session
    from memoranda.stores.records import Records

T = TypeVar("T")

DEFAULT_RETENTION: Final = Retention()
"""A server has no history budget."""


class PostgresBackend(Backend):
    """Stores in the database at ``url`` (``postgresql://…``), which ``migrate`` has set up.

    ``suspends`` chooses the colour: False blocks, True is native to the event loop, on any number of
    loops in turn. Connects at the first use. Safe to use from many threads or tasks, processes and
    machines. ``clock`` gives nanoseconds since 1970; ``retention`` says how much history stays.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(
        self,
        url: str,
        *,
        suspends: bool = False,
        clock: Callable[[], int] = time.time_ns,
        retention: Retention = DEFAULT_RETENTION,
    ) -> None:
        where = address.parse(url)
        self.port = _port(where, suspends=suspends)
        self.suspends = suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.now = clock
        self.retention = retention
        self.is_closed = False
        self._places: WeakValueDictionary[tuple[str, str], Place] = WeakValueDictionary()
        self._waiting: WeakSet[Place] = WeakSet()

    # ---- stores

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> PostgresStore:
        tenant = check_tenant(user, workspace)
        self._check_open()
        key = (tenant.workspace, tenant.user)
        place = self._places.get(key)
        if place is not None and place.made is not None:
            known = place
            if not await self._patiently(lambda: stores.find(self.port, known)):
                self._places.pop(key, None)  # it was erased
                place = None
        if place is None:
            place = self._places.setdefault(key, Place(new_store_id(self.now()), *key))
        fresh = place
        await self._patiently(lambda: stores.made(self.port, fresh))
        return PostgresStore(self, place)

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> PostgresStore:
        info = await self.info(store_id, workspace)
        place = Place(info.id, info.workspace, None)
        place = self._places.setdefault((workspace, store_id), place)
        if await self._patiently(lambda: stores.made(self.port, place)) is None:
            raise UnknownId("store")
        return PostgresStore(self, place)

    async def create(
        self,
        name: str,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        now = self.now()
        info = StoreInfo.new(now, name, workspace, description, metadata)
        secret = stores.new_secret()

        # Its id is new and its own, so doing it again after a lost answer makes no second one.
        async def work(session: Session) -> None:
            await stores.make(session, info, secret)

        await self.transact(work)
        return info

    async def take_up(self, info: StoreInfo, origin: Origin) -> PostgresStore:
        info = info._replace(archived_at_ns=None)
        if await self._is_taken(info):
            raise StoreExists
        await self.transact(lambda session: take_up(session, info, origin))
        return await self.open(info.id, info.workspace)

    async def _is_taken(self, info: StoreInfo) -> bool:
        if info.user is not None and await self.find_user(info.user, info.workspace) is not None:
            return True
        try:
            await self.info(info.id, info.workspace)
        except UnknownId:
            return False
        return True

    async def workspaces(self) -> tuple[str, ...]:
        return await self.transact(stores.workspaces)

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        tenant = check_tenant(user, workspace)
        return await self._in(tenant.workspace, lambda these: these.of_user(tenant.user))

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        return await self._in(workspace, lambda these: these.get(store_id))

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        return await self._in(
            workspace, lambda these: these.page(after, limit, include_archived=include_archived)
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
        now = self.now()
        return await self._in(
            workspace,
            lambda these: these.update(
                store_id, now, name=name, description=description, metadata=metadata
            ),
        )

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        now = self.now()
        return await self._in(workspace, lambda these: these.archive(store_id, now))

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        now = self.now()
        info = await self.info(store_id, workspace)

        async def work(these: Stores) -> None:
            try:
                await these.erase(store_id, context, now)
            except UnknownId:
                return  # it is gone: by a try whose answer got lost, or by somebody faster

        await self._in(workspace, work)
        await erase_proposals(self, info, context)

    def records(self, kind: str) -> Records:
        from memoranda.stores.postgres.records import PostgresRecords

        return PostgresRecords(self, kind)

    async def close(self) -> None:
        if self.is_closed:
            return
        try:
            for place in tuple(self._waiting):
                await self.flush(place)
        finally:
            self.is_closed = True
            await self.port.close()

    # ---- what its stores use

    def note_waiting(self, place: Place) -> None:
        """Records may wait at a place: they are written at the close, if not before."""
        if place.records.are_waiting:
            self._waiting.add(place)

    async def flush_if_due(self, place: Place) -> None:
        """Write records that have waited long enough."""
        if place.made is not None and place.records.are_due(self.now()):
            await self.flush(place)

    async def flush(self, place: Place) -> None:
        """Write what waits for a store; a store that was never made has nothing to keep."""
        self._waiting.discard(place)
        if place.records.are_waiting and place.made is not None:
            try:
                await Batch(self.port, place, (), None, self.now()).run()
            except UnknownId:
                return  # it was erased: nobody can have them
            finally:
                self.note_waiting(place)

    # ---- the database

    def _check_open(self) -> None:
        if self.is_closed:
            raise Misuse("The backend is closed.")

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        return await patiently(self.port, work, time.monotonic)

    async def transact(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """What ``work`` gives in a transaction that sees no store; tried again while that helps."""
        self._check_open()
        return await self._patiently(lambda: self.port.transact(work))

    async def _in(self, workspace: str, work: Callable[[Stores], Awaitable[T]]) -> T:
        """What ``work`` gives in a transaction that sees one workspace's stores."""

        async def scoped(session: Session) -> T:
            return await work(await Stores.of(session, workspace))

        return await self.transact(scoped)


def _port(where: address.Address, *, suspends: bool) -> Port:
    if suspends:
        from memoranda.stores.postgres.async_port import AsyncPort

        return AsyncPort(where)
    from memoranda.stores.postgres.sync_port import SyncPort

    return SyncPort(where)
