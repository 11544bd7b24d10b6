"""The stores of one backend as the server has them: opened under a key, with its policy, and kept."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memoranda.async_memory import AsyncMemory
from memoranda.core import Core
from memoranda.drive import run_here, run_in_thread, suspending_pause
from memoranda.errors import Misuse, UnknownId
from memoranda.opening import mounts_of, shared_backend
from memoranda.retry import blocking_pause
from memoranda.server.problems import Problem
from memoranda.shared_backends import SharedBackend, release
from memoranda.store_source import StoreWithId
from memoranda.stores.base import Retention

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from memoranda.config import Settings
    from memoranda.mounting import MountSource
    from memoranda.policies.policy import Policy
    from memoranda.policies.rules import Setting
    from memoranda.server.keys import Key
    from memoranda.stores.base import Backend, StoreInfo, StorePage
    from memoranda.stores.records import Records

T = TypeVar("T")

_KEPT: Final = 4_096
"""How many opened memories are kept; each is a few small objects."""

UPKEEP: Final = "expiry"
"""Who does what the server does by itself."""

_STORE_ID: Final = re.compile(r"memstore_[0-9A-Za-z]{1,64}", re.ASCII)


class HostedStore(StoreWithId):
    """A store of the server's backend, which the server closes."""

    async def release(self) -> None:
        """The backend is the server's."""


class Hosted:
    """The backend at a URL. Everything is asked for with a key, and sees what the key may see.

    Whatever is not the key's, be it of another workspace, of none, or not among the stores that
    the key is for, raises the same ``UnknownId``. Used by one event loop; the work itself is done
    in its threads where the backend blocks.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url
        self._settings = settings
        self._shared: SharedBackend = shared_backend(url, awaited=True)
        suspends = self._shared.backend.suspends
        self._drive = run_here if suspends else run_in_thread
        self._pause = suspending_pause if suspends else blocking_pause
        self._opened: OrderedDict[tuple[str, str, str, str, bool], Core] = OrderedDict()
        self._let_go: list[Core] = []

    @property
    def backend(self) -> Backend:
        """What the stores lie in."""
        return self._shared.backend

    def records(self, kind: str) -> Records:
        """What belongs to no store; for ``do``."""
        return self.backend.records(kind)

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine of the library gives, without holding the event loop."""
        return await self._drive(work)

    async def close(self) -> None:
        """Write what waits and close the backend."""
        for core in (*self._opened.values(), *self._let_go):
            await self._drive(core.close())
        await self._drive(release(self._shared))

    # ---- stores

    async def info(self, key: Key, store_id: str) -> StoreInfo:
        """What is known of a store; raises ``UnknownId``."""
        _check(key, store_id)
        return await self._drive(self.backend.info(store_id, key.workspace))

    async def create(
        self, key: Key, name: str, description: str, metadata: Mapping[str, str]
    ) -> StoreInfo:
        """Make a store without a user."""
        return await self._drive(
            self.backend.create(
                name, workspace=key.workspace, description=description, metadata=metadata
            )
        )

    async def page(
        self, key: Key, after: str | None, limit: int, *, include_archived: bool
    ) -> StorePage:
        """Stores of the key's workspace, newest first; also those that the key is not for.

        Raises a ``Problem`` (400) for a position that is none.
        """
        try:
            return await self._drive(
                self.backend.list(
                    key.workspace, after=after, limit=limit, include_archived=include_archived
                )
            )
        except Misuse:
            if after is None:
                raise
            # Only the backend knows its positions, and this one came from a client.
            raise Problem(400, "This is no position in the list of stores.") from None

    async def update(
        self,
        key: Key,
        store_id: str,
        *,
        name: str | None,
        description: str | None,
        metadata: Mapping[str, str] | None,
    ) -> StoreInfo:
        """Change what is given."""
        _check(key, store_id)
        return await self._drive(
            self.backend.update(
                store_id, key.workspace, name=name, description=description, metadata=metadata
            )
        )

    async def archive(self, key: Key, store_id: str) -> StoreInfo:
        """Archive a store for good."""
        _check(key, store_id)
        return await self._drive(self.backend.archive(store_id, key.workspace))

    async def erase(self, key: Key, store_id: str) -> None:
        """Erase a store for good, through its policy."""
        core = await self.core(key, store_id)
        try:
            await self._drive(core.erase(store_id))
        finally:
            self.forget(key.workspace, store_id)

    # ---- memories

    async def core(self, key: Key, store_id: str, *, mounted: bool = False) -> Core:
        """A store's memory, opened under the key: the key is the actor, its role the policy's.

        ``mounted`` shows the stores that the policy mounts, as an agent sees them; else it is the
        memories of this store alone.
        """
        _check(key, store_id)
        name = (key.workspace, store_id, key.id, key.role, mounted)
        core = self._opened.get(name)
        if core is not None:
            self._opened.move_to_end(name)
            return core
        info = await self._drive(self.backend.info(store_id, key.workspace))
        source = HostedStore(self._shared, store_id, key.workspace)
        policy = self._policy(info, key)
        mounts: tuple[MountSource, ...] = ()
        if mounted and policy.mounts:
            mounts = mounts_of(policy, self._url, awaited=self.backend.suspends)
        core = Core(source, policy, key.id, self._pause, mounts)
        await self._drive(core.store())
        self._opened[name] = core
        if len(self._opened) > _KEPT:
            self._keep_for_later(self._opened.popitem(last=False)[1])
        return core

    async def memory(self, key: Key, store_id: str) -> AsyncMemory:
        """A store as an agent or a program sees it, with what is mounted. It needs no closing."""
        core = await self.core(key, store_id, mounted=True)
        return AsyncMemory(core, self._drive, _nothing)

    def upkeep(self, info: StoreInfo) -> Core:
        """A store's memory for what the server does by itself, under nobody's key; not kept. It
        needs no closing."""
        source = HostedStore(self._shared, info.id, info.workspace)
        return Core(source, _keeping(self.policy(info)), UPKEEP, self._pause)

    def forget(self, workspace: str, store_id: str) -> None:
        """A store is gone: let go of what was opened of it."""
        for name in [name for name in self._opened if name[:2] == (workspace, store_id)]:
            self._keep_for_later(self._opened.pop(name))

    def _keep_for_later(self, core: Core) -> None:
        """A request may still use it; what it holds of other backends is given back at the end."""
        if core.policy.mounts:
            self._let_go.append(core)

    def _policy(self, info: StoreInfo, key: Key) -> Policy:
        """What holds for a store here. On a server no budget thins the history, unless it is set."""
        policy = _keeping(self.policy(info))
        return policy if key.may("write") else replace(policy, read_only=True)

    def policy(self, info: StoreInfo) -> Policy:
        """What is set for a store, for whoever uses it."""
        return self._settings.policy_for(self._url, info.user, _id_of(info))

    async def rules(self, key: Key, store_id: str) -> Mapping[str, Setting]:
        """Every setting of a store with where it was set; raises ``UnknownId``."""
        info = await self.info(key, store_id)
        return self._settings.explain(self._url, info.user, _id_of(info))


def _keeping(policy: Policy) -> Policy:
    """Without a budget that thins the history, unless one is set."""
    return policy if policy.retention else replace(policy, retention=Retention())


def _check(key: Key, store_id: str) -> None:
    if not _STORE_ID.fullmatch(store_id) or not key.reaches(store_id):
        raise UnknownId("store")


def _id_of(info: StoreInfo) -> str | None:
    """The id of a store by which rules name it: only of one without a user."""
    return info.id if info.user is None else None


def _nothing() -> None:
    """The backend is the server's."""
