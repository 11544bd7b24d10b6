"""Stores that misbehave on purpose, around any store: slow, failing, crashing, taking notes.

    store = FailingStore(inner, at=Call(3, "apply"))       # the third apply raises Unavailable
    store = CrashingStore(inner, at=Call(1, "apply", done=True))
    store = SlowStore(inner, lambda name: gate.wait())
    store = RecordingStore(inner)                            # store.calls == ["read", "apply"]

``WrappingBackend`` puts such a store around every one that a backend hands out.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from memoranda.errors import MemorandaError, Unavailable
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    LISTING_CHUNK,
    Backend,
    Change,
    Content,
    Context,
    Entry,
    Hit,
    Moment,
    Origin,
    Outline,
    Page,
    Problem,
    Report,
    Store,
    StoreInfo,
    StorePage,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
    WrapperStore,
)

if TYPE_CHECKING:
    from memoranda.stores.records import Records

T = TypeVar("T")

CRASH_EXIT_CODE: Final = 86
"""What a process that ``CrashingStore`` ended exits with."""


class InterceptingStore(WrapperStore):
    """A store whose every call but ``id`` goes through ``around``."""

    async def around(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        """Make the call ``name`` of the inner store by awaiting ``call()``, or do otherwise."""
        return await call()

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        return await self.around("read", lambda: self.inner.read(path, start, length))

    async def stat(self, path: MemoryPath) -> Entry:
        return await self.around("stat", lambda: self.inner.stat(path))

    async def locate(self, memory_id: str) -> Entry:
        return await self.around("locate", lambda: self.inner.locate(memory_id))

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        return await self.around("outline", lambda: self.inner.outline(directory, line_chars))

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        return await self.around(
            "list",
            lambda: self.inner.list(prefix, depth=depth, after=after, limit=limit, at=at),
        )

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return await self.around("search", lambda: self.inner.search(query, prefix, limit=limit))

    async def usage(self) -> Usage:
        return await self.around("usage", self.inner.usage)

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        return await self.around("apply", lambda: self.inner.apply(changes, context))

    async def record(self, context: Context) -> None:
        await self.around("record", lambda: self.inner.record(context))

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        await self.around("touch", lambda: self.inner.touch(paths, at_ns))

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        return await self.around(
            "versions",
            lambda: self.inner.versions(where, after=after, limit=limit, content=content),
        )

    async def version(self, version_id: str) -> Version:
        return await self.around("version", lambda: self.inner.version(version_id))

    async def moment(self, at_ns: int) -> Moment:
        return await self.around("moment", lambda: self.inner.moment(at_ns))

    async def redact(self, version_id: str, context: Context) -> Version:
        return await self.around("redact", lambda: self.inner.redact(version_id, context))

    async def verify(self) -> Report:
        return await self.around("verify", self.inner.verify)

    async def repair(self) -> Report:
        return await self.around("repair", self.inner.repair)

    async def notices(self) -> tuple[Problem, ...]:
        return await self.around("notices", self.inner.notices)

    async def close(self) -> None:
        await self.around("close", self.inner.close)


class RecordingStore(InterceptingStore):
    """A store that keeps the names of its calls, in order, each before it is made."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.calls: list[str] = []

    async def around(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        self.calls.append(name)
        return await call()


class SlowStore(InterceptingStore):
    """A store that waits before each call: ``wait`` gets the name of the call and blocks.

    Tests hand in the ``wait`` of an event rather than a time, so that they prove an order.
    """

    def __init__(self, inner: Store, wait: Callable[[str], object]) -> None:
        super().__init__(inner)
        self.wait = wait

    async def around(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        self.wait(name)
        return await call()


class SuspendingStore(InterceptingStore):
    """A store that awaits ``pause`` around each call, as one beyond a network does.

    ``pause`` has to suspend at least once, ``lambda: asyncio.sleep(0)`` for instance.
    """

    def __init__(self, inner: Store, pause: Callable[[], Awaitable[object]]) -> None:
        super().__init__(inner)
        self.suspends = True  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.pause = pause

    async def around(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        await self.pause()
        result = await call()
        await self.pause()
        return result


class Call(NamedTuple):
    """Which call a fault strikes: the ``number``-th (from 1), counting those named ``name``.

    Every call counts where ``name`` is None. ``done`` strikes after the call has done its work
    and before its answer is given, as a lost connection does; else before it begins.
    """

    number: int
    name: str | None = None
    done: bool = False


class StrickenStore(InterceptingStore):
    """A store in which something strikes at one call; ``strike`` says what."""

    def __init__(self, inner: Store, at: Call) -> None:
        super().__init__(inner)
        self.at = at
        self._left = at.number
        self._counting = threading.Lock()

    def strike(self) -> None:
        """What happens at that call."""
        raise NotImplementedError

    async def around(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        strikes = self._is_struck(name)
        if strikes and not self.at.done:
            self.strike()
        result = await call()
        if strikes:
            self.strike()
        return result

    def _is_struck(self, name: str) -> bool:
        if self.at.name not in {None, name}:
            return False
        with self._counting:
            self._left -= 1
            return self._left == 0


class FailingStore(StrickenStore):
    """A store in which one call raises ``error``; those before and after it work."""

    def __init__(self, inner: Store, at: Call, error: MemorandaError | None = None) -> None:
        super().__init__(inner, at)
        self.error = error or Unavailable("The storage failed, as it was told to.")

    def strike(self) -> None:
        raise self.error


class CrashingStore(StrickenStore):
    """A store that ends the process at one call, without any clean-up (``CRASH_EXIT_CODE``)."""

    def strike(self) -> None:
        os._exit(CRASH_EXIT_CODE)


class WrappingBackend(Backend):
    """A backend whose stores are wrapped by ``wrap``: to test layers, or to spread a fault.

    ``suspends`` says so where the wrappers suspend; else it is what the inner backend says.
    """

    def __init__(
        self, inner: Backend, wrap: Callable[[Store], Store], *, suspends: bool | None = None
    ) -> None:
        self.inner = inner
        self.wrap = wrap
        self.suspends = inner.suspends if suspends is None else suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.capabilities = inner.capabilities  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        return self.wrap(await self.inner.for_user(user, workspace))

    async def open(self, store_id: str, workspace: str = "default") -> Store:
        return self.wrap(await self.inner.open(store_id, workspace))

    async def create(
        self,
        name: str,
        *,
        workspace: str = "default",
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        return await self.inner.create(
            name, workspace=workspace, description=description, metadata=metadata
        )

    async def find_user(self, user: str, workspace: str = "default") -> StoreInfo | None:
        return await self.inner.find_user(user, workspace)

    async def info(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return await self.inner.info(store_id, workspace)

    async def list(
        self,
        workspace: str = "default",
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
        workspace: str = "default",
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        return await self.inner.update(
            store_id, workspace, name=name, description=description, metadata=metadata
        )

    async def archive(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return await self.inner.archive(store_id, workspace)

    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        await self.inner.erase(store_id, context, workspace)

    async def take_up(self, info: StoreInfo, origin: Origin) -> Store:
        return self.wrap(await self.inner.take_up(info, origin))

    async def workspaces(self) -> tuple[str, ...]:
        return await self.inner.workspaces()

    def records(self, kind: str) -> Records:
        return self.inner.records(kind)

    async def close(self) -> None:
        await self.inner.close()
