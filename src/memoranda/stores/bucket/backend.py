"""Many stores in one bucket, below one prefix."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar
from weakref import WeakSet, WeakValueDictionary

from memoranda.errors import Held, Misuse, StoreExists, UnknownId
from memoranda.light_dataclasses import replace
from memoranda.stores.base import Backend, Capabilities, Retention, StoreInfo, StorePage
from memoranda.stores.bucket import address, control
from memoranda.stores.bucket.cache import DEFAULT_BYTES
from memoranda.stores.bucket.faults import Taken
from memoranda.stores.bucket.ground import Ground
from memoranda.stores.bucket.head import encode, erased, new_attempt, new_head
from memoranda.stores.bucket.place import Place, look
from memoranda.stores.bucket.store import CAPABILITIES, BucketStore
from memoranda.stores.bucket.swapping import persist, swap
from memoranda.stores.bucket.taking_up import take_up
from memoranda.stores.bucket.writing import Batch
from memoranda.stores.companions import erase_proposals
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.patience import Again, patiently
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from memoranda.stores.base import Context, Origin
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.port import Port
    from memoranda.stores.bucket.shelf import Bench
    from memoranda.stores.bucket.sight import Sight

T = TypeVar("T")

DEFAULT_RETENTION: Final = Retention()
"""A bucket has no history budget."""


class BucketBackend(Backend):
    """Stores in the bucket at ``url`` (``s3://…``, ``gs://…``, ``az://…``).

    ``suspends`` chooses the colour: False blocks, True is native to the event loop. Nothing is sent
    before the first use. Safe to use from many threads or tasks, processes and machines. ``clock``
    gives nanoseconds since 1970; ``retention`` says how much history stays; ``cache_bytes`` bounds
    what is kept of immutable objects. ``port`` stands in for the one that the URL names.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(
        self,
        url: str,
        *,
        suspends: bool = False,
        clock: Callable[[], int] = time.time_ns,
        retention: Retention = DEFAULT_RETENTION,
        cache_bytes: int = DEFAULT_BYTES,
        port: Port | None = None,
    ) -> None:
        self.ground = Ground(port or _port(url, suspends=suspends), cache_bytes)
        self.suspends = suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.now = clock
        self.retention = retention
        self.is_closed = False
        self._places: WeakValueDictionary[tuple[str, str], Place] = WeakValueDictionary()
        self._waiting: WeakSet[Place] = WeakSet()

    # ---- stores

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> BucketStore:
        tenant = check_tenant(user, workspace)
        self._check_open()
        key = (tenant.workspace, tenant.user)
        place = self._places.get(key)
        if place is not None and place.is_made:
            try:
                await self._look(place)
            except UnknownId:
                self._places.pop(key, None)  # it was erased
                place = None
        if place is None:
            place = self._places.setdefault(key, Place(new_store_id(self.now()), *key))
        try:
            await self._look(place)
        except UnknownId:
            pass  # it is being erased: from the next look on the user has none
        return BucketStore(self, place)

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> BucketStore:
        info = await self.info(store_id, workspace)
        place = Place(info.id, info.workspace, None)
        place = self._places.setdefault((workspace, store_id), place)
        await self._look(place)
        return BucketStore(self, place)

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
        data = encode(new_head(now))
        ground = self.ground

        # Its id is new and its own, so doing it again after a lost answer makes no second one.
        async def work() -> None:
            await ground.check()
            root = await ground.roots.make()
            try:
                await ground.port.put(f"{control.folder(info.id)}/head", data, None)
            except Taken:
                pass
            await control.publish(ground.port, root, info)

        await self._patiently(work)
        return info

    async def take_up(self, info: StoreInfo, origin: Origin) -> BucketStore:
        info = info._replace(archived_at_ns=None, metadata=dict(info.metadata))
        if await self._is_taken(info):
            raise StoreExists
        await self._patiently(lambda: take_up(self.ground, info, origin))
        return await self.open(info.id, info.workspace)

    async def _is_taken(self, info: StoreInfo) -> bool:
        if info.user is not None and await self.find_user(info.user, info.workspace) is not None:
            return True
        try:
            await self.info(info.id, info.workspace)
        except UnknownId:
            return False
        return True

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        tenant = check_tenant(user, workspace)

        async def work() -> StoreInfo | None:
            port, root = self.ground.port, await self.ground.roots.read()
            found = await control.pointer(port, root, tenant.workspace, tenant.user)
            if found.info is None or root is None:
                return None
            await control.heal(port, root, found.info)
            try:
                return await control.info_of(port, found.info.id, tenant.workspace)
            except UnknownId:
                return None

        return await self._patiently(work)

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        return await self._patiently(lambda: control.info_of(self.ground.port, store_id, workspace))

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        async def work() -> StorePage:
            root = await self.ground.roots.read()
            return await control.page(
                self.ground.port, root, workspace, after, limit, include_archived=include_archived
            )

        return await self._patiently(work)

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

        def changed(before: StoreInfo) -> StoreInfo:
            after = before._replace(
                name=before.name if name is None else name,
                description=before.description if description is None else description,
                metadata=before.metadata if metadata is None else dict(metadata),
            )
            if after == before:
                return before
            return after._replace(updated_at_ns=max(now, before.updated_at_ns))

        return await self._patiently(
            lambda: control.change(self.ground.port, store_id, workspace, changed)
        )

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        await self.info(store_id, workspace)
        now = self.now()

        async def closed(sight: Sight, bench: Bench) -> Head | None:
            del bench
            head = sight.head
            if head.state.archived:
                return None
            state = head.state._replace(archived=True)
            return replace(head, turn=head.turn + 1, attempt=new_attempt(), state=state)

        def changed(before: StoreInfo) -> StoreInfo:
            if before.archived_at_ns is not None:
                return before
            return before._replace(archived_at_ns=now, updated_at_ns=max(now, before.updated_at_ns))

        await swap(self.ground, Place(store_id, workspace, None), closed)
        return await self._patiently(
            lambda: control.change(self.ground.port, store_id, workspace, changed)
        )

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        # Also one whose erasure was begun and not ended: this ends it.
        await self._patiently(lambda: control.record(self.ground.port, store_id, workspace))
        port, now = self.ground.port, self.now()

        async def work() -> None:
            root = await self.ground.roots.make()
            await self._end_store(store_id, workspace)
            try:
                record = await control.record(port, store_id, workspace)
            except UnknownId:
                return  # a try whose answer got lost, or somebody faster, came to the end
            # Before the store, while it can still be found to be erased again.
            await erase_proposals(self, record.info, context)
            try:
                await control.begin_erasure(port, record)
            except Taken as error:
                raise Again("What is known of the store changes just now; try again.") from error
            home = control.folder(store_id)
            kept = {f"{home}/head", f"{home}/info"}
            gone = [one.key for one in await port.keys(home) if one.key not in kept]
            await port.delete(gone)
            await control.end_erasure(port, root, record, context, now)

        await self._patiently(work)

    async def close(self) -> None:
        if self.is_closed:
            return
        try:
            for place in tuple(self._waiting):
                await self.flush(place)
        finally:
            self.is_closed = True
            await self.ground.port.close()

    # ---- what its stores use

    def note_waiting(self, place: Place) -> None:
        """Records may wait at a place: they are written at the close, if not before."""
        if place.records.are_waiting:
            self._waiting.add(place)

    async def flush_if_due(self, place: Place) -> None:
        """Write records that have waited long enough."""
        if place.is_made and place.records.are_due(self.now()):
            await self.flush(place)

    async def flush(self, place: Place) -> None:
        """Write what waits for a store; a store that was never made has nothing to keep."""
        self._waiting.discard(place)
        if place.records.are_waiting and place.is_made:
            try:
                await Batch(self.ground, place, (), None, self.now()).run()
            except UnknownId:
                return  # it was erased: nobody can have them
            finally:
                self.note_waiting(place)

    # ---- their parts

    def _check_open(self) -> None:
        if self.is_closed:
            raise Misuse("The backend is closed.")

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        self._check_open()
        return await patiently(self.ground.port, work, time.monotonic)

    async def _look(self, place: Place) -> None:
        await self._patiently(lambda: look(self.ground.port, place, self.ground.roots))

    async def _end_store(self, store_id: str, workspace: str) -> None:
        """Have every write fail from now on, and every read find nothing; raises ``Held``."""
        place = Place(store_id, workspace, None)

        async def attempt() -> bool | None:
            try:
                known = await look(self.ground.port, place, self.ground.roots)
            except UnknownId:
                return True  # it was ended before
            assert known is not None  # it has no user
            if known.head.holds:
                raise Held
            try:
                await self.ground.port.put(place.key, encode(erased(known.head)), known.tag)
            except Taken:
                return None
            return True

        await persist(self.ground.port, attempt)


def _port(url: str, *, suspends: bool) -> Port:
    where = address.parse(url)
    address.check_driver()
    if suspends:
        from memoranda.stores.bucket.async_port import AsyncPort

        return AsyncPort(where)
    from memoranda.stores.bucket.sync_port import SyncPort

    return SyncPort(where)
