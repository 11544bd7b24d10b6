"""Many stores of one workspace of a Memory Stores API.

Whose a store is stands in its metadata (``memoranda.user``, ``memoranda.workspace``), which people
may set by hand. The API can't look for it, so all stores are walked, once for each user.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakValueDictionary

from anthropic import omit

from memoranda.errors import Misuse, RefusedByServer, UnknownId
from memoranda.path import ROOT
from memoranda.stores.base import Backend, Capabilities, StoreInfo, StorePage
from memoranda.stores.companions import erase_proposals
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.patience import Lost
from memoranda.stores.remote.faults import Declined, items_of, unreadable
from memoranda.stores.remote.listing import AT_ONCE, MISSING
from memoranda.stores.remote.shapes import info_of, is_id, tags_of, time_of
from memoranda.stores.remote.store import CAPABILITIES, RemoteStore
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from anthropic.pagination import SyncPageCursor
    from anthropic.resources.beta.memory_stores import MemoryStores
    from anthropic.types.beta import BetaManagedAgentsMemoryStore

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context, Entry
    from memoranda.stores.remote.address import Address
    from memoranda.stores.remote.port import Port

SETTLE_SECONDS: Final = 0.25
"""How long one who made a user's store waits for others that did so at the same moment."""

_KNOWN_PATHS: Final = 1_000
_TRIES: Final = 3


class Place:
    """A store that handles share: its id once it is made, and which memory was last seen where."""

    def __init__(self, store_id: str, workspace: str, user: str | None, *, is_made: bool) -> None:
        self.id = store_id
        self.workspace = workspace
        self.user = user
        self.is_made = is_made
        self._known: OrderedDict[MemoryPath, str] = OrderedDict()

    def known(self, path: MemoryPath) -> str | None:
        """The id of the memory that was last seen at a path; only a hint."""
        return self._known.get(path)

    def know(self, entry: Entry) -> None:
        """Remember where a memory is."""
        self._known[entry.path] = entry.memory_id
        if len(self._known) > _KNOWN_PATHS:
            try:
                self._known.popitem(last=False)
            except KeyError:  # another thread was faster
                return

    def forget(self, path: MemoryPath) -> None:
        """It is there no more."""
        self._known.pop(path, None)


class RemoteBackend(Backend):
    """Stores at a server. Safe to use from many threads, or tasks, and processes.

    ``settle_seconds`` is for tests.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(
        self,
        where: Address,
        key: str,
        *,
        suspends: bool = False,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self.suspends = suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.port: Port = _port(where, key, suspends=suspends)
        self.is_closed = False
        self.actor: str | None = None
        """Whose key this is, once a version told."""
        self._settle_seconds = settle_seconds
        self._places: WeakValueDictionary[tuple[str, str], Place] = WeakValueDictionary()

    # ---- stores

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> RemoteStore:
        tenant = check_tenant(user, workspace)
        self._check_open()
        key = (tenant.workspace, tenant.user)
        place = self._places.get(key)
        if place is not None and place.is_made and not await self._is_there(place):
            self._places.pop(key, None)  # it was erased
            place = None
        if place is None:
            made_up = new_store_id(time.time_ns())
            place = self._places.setdefault(key, Place(made_up, *key, is_made=False))
        if not place.is_made:
            await self.look_for(place)
        return RemoteStore(self, place)

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> RemoteStore:
        info = await self.info(store_id, workspace)
        key = (workspace, store_id)
        place = self._places.setdefault(key, Place(info.id, workspace, info.user, is_made=True))
        return RemoteStore(self, place)

    async def create(
        self,
        name: str,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        """Make a store without a user. If the answer gets lost there may be two of it: the API knows no
        name that is taken."""
        self._check_open()
        return await self._create(
            name, description, {**(metadata or {}), **tags_of(None, workspace)}
        )

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        tenant = check_tenant(user, workspace)
        self._check_open()
        found: StoreInfo | None = None
        async for info in self._walk():
            if (info.user, info.workspace) == (tenant.user, tenant.workspace) and (
                found is None or (info.created_at_ns, info.id) < (found.created_at_ns, found.id)
            ):
                found = info
        return found

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        self._check_open()
        if not is_id(store_id, "memstore_"):
            raise UnknownId("store")
        try:
            answer = await self.port.look(lambda stores: stores.retrieve(store_id))
        except Declined as error:
            raise _unknown(error) from error
        info = info_of(answer)
        if info.workspace != workspace:
            raise UnknownId("store")
        return info

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        self._check_open()
        last = None if after is None else _position(after)
        found: list[StoreInfo] = []
        until_us = None if last is None else -last[0] // 1000
        async for info in self._walk(until_us, include_archived=include_archived):
            if info.workspace == workspace and (last is None or _rank(info) > last):
                found.append(info)
                if len(found) > limit and _rank(info)[0] > _rank(found[limit - 1])[0]:
                    break
        found.sort(key=_rank)
        shown = tuple(found[:limit])
        more = len(found) > limit and bool(shown)
        return StorePage(shown, f"{shown[-1].created_at_ns}-{shown[-1].id}" if more else None)

    async def update(
        self,
        store_id: str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        before = await self.info(store_id, workspace)
        patch: dict[str, str | None] | None = None
        if metadata is not None:
            patch = {**dict.fromkeys(before.metadata), **metadata}
        try:
            # Done again it changes nothing, so it may be sent again.
            answer = await self.port.look(
                lambda stores: stores.update(
                    store_id,
                    name=omit if name is None else name,
                    description=omit if description is None else description,
                    metadata=omit if patch is None else patch,
                )
            )
        except Declined as error:
            raise _unknown(error) from error
        return info_of(answer)

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        await self.info(store_id, workspace)
        try:
            return info_of(await self.port.look(lambda stores: stores.archive(store_id)))
        except Declined as error:
            raise _unknown(error) from error

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        info = await self.info(store_id, workspace)
        try:
            await self.port.look(lambda stores: stores.delete(store_id))
        except Declined as error:
            if error.status != MISSING:  # an earlier try was done, or somebody else was faster
                raise _unknown(error) from error
        await erase_proposals(self, info, context)

    async def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            await self.port.close()

    # ---- what its stores use

    async def look_for(self, place: Place) -> None:
        """See whether a user's store was made meanwhile."""
        if place.user is not None and not place.is_made:
            found = await self.find_user(place.user, place.workspace)
            if found is not None:
                place.id = found.id
                place.is_made = True

    async def ensure(self, place: Place) -> str:
        """A user's store, made if nobody has made it; its id.

        The API lets two make it at the same moment. Whoever makes one waits a moment and then takes
        the oldest there is, as everybody does; the other stays, empty.
        """
        assert place.user is not None  # others exist when they are opened
        async with self.port.turn(f"{place.workspace}/{place.user}"):
            await self.look_for(place)
            if not place.is_made:
                await self._make(place, place.user)
            return place.id

    async def _make(self, place: Place, user: str) -> None:
        """Make a user's store; again where an answer got lost and no store is there."""
        lost: Lost | None = None
        for _ in range(_TRIES):
            try:
                await self._create(user, "", tags_of(user, place.workspace))
            except Lost as error:
                lost = error
            await self.port.pause(self._settle_seconds)
            await self.look_for(place)
            if place.is_made:
                return
        raise lost or unreadable()

    # ---- their parts

    async def _create(self, name: str, description: str, metadata: dict[str, str]) -> StoreInfo:
        try:
            answer = await self.port.ask(
                lambda stores: stores.create(name=name, description=description, metadata=metadata)
            )
        except Declined as error:
            if error.status in {400, 413}:
                raise RefusedByServer(ROOT) from error
            raise
        return info_of(answer)

    async def _is_there(self, place: Place) -> bool:
        try:
            await self.info(place.id, place.workspace)
        except UnknownId:
            return False
        return True

    async def _walk(
        self, until_us: int | None = None, *, include_archived: bool = True
    ) -> AsyncGenerator[StoreInfo]:
        """All stores that the key sees, newest first, made not after a time."""
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            ask = partial(_page, cursor, until_us, include_archived=include_archived)
            answer = await self.port.look(ask)
            for each in items_of(answer.data):
                yield info_of(each)
            cursor = answer.next_page
            if not cursor:
                return
            if cursor in seen:
                raise unreadable()
            seen.add(cursor)

    def _check_open(self) -> None:
        if self.is_closed:
            raise Misuse("The backend is closed.")


def _port(where: Address, key: str, *, suspends: bool) -> Port:
    if suspends:
        from memoranda.stores.remote.async_port import AsyncPort

        return AsyncPort(where, key)
    from memoranda.stores.remote.sync_port import SyncPort

    return SyncPort(where, key)


def _page(
    cursor: str | None, until_us: int | None, stores: MemoryStores, *, include_archived: bool
) -> SyncPageCursor[BetaManagedAgentsMemoryStore]:
    return stores.list(
        limit=AT_ONCE,
        page=cursor or omit,
        include_archived=include_archived,
        created_at_lte=omit if until_us is None else time_of(until_us),
    )


def _rank(info: StoreInfo) -> tuple[int, str]:
    return -info.created_at_ns, info.id


def _position(after: str) -> tuple[int, str]:
    created, dash, store_id = after.partition("-")
    if not dash or not created.isascii() or not created.isdigit() or len(created) > 20:
        raise Misuse("This is no position in a list of stores.")
    return -int(created), store_id


def _unknown(error: Declined) -> Exception:
    """What a declined request about a store means."""
    if error.status == MISSING:
        return UnknownId("store")
    return RefusedByServer(ROOT) if error.status in {400, 413} else error
