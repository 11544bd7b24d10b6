"""The port that blocks: its coroutines never suspend."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, TypeVar
from weakref import WeakValueDictionary

import anthropic

from memoranda.after_fork import renew
from memoranda.errors import Misuse
from memoranda.stores.remote.faults import translated
from memoranda.stores.remote.port import Port, client_options, http_options

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from anthropic.resources.beta.memory_stores import MemoryStores

    from memoranda.stores.remote.address import Address

T = TypeVar("T")


class SyncPort(Port):
    """The SDK's blocking client, one a process."""

    suspends: ClassVar[bool] = False

    def __init__(self, where: Address, key: str) -> None:
        self._where = where
        self._key = key
        self._is_closed = False
        self._begin()
        renew(self)

    def _begin(self) -> None:
        self._opening = Lock()  # guards the two below
        self._client: anthropic.Anthropic | None = None
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``: the connections are the parent's, and shared they would mix
        two conversations."""
        self._of_parent = self._client  # kept: to let it go would close the parent's
        self._begin()

    async def ask(self, request: Callable[[MemoryStores], T]) -> T:
        client = self._opened()
        with translated():
            return request(client.beta.memory_stores)

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncGenerator[None]:
        with self._opening:
            turn = self._turns.get(name)
            if turn is None:
                self._turns[name] = turn = _Turn()
        with turn.lock:
            yield

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - this colour blocks

    async def close(self) -> None:
        with self._opening:
            self._is_closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> anthropic.Anthropic:
        with self._opening:
            if self._is_closed:
                raise Misuse("The backend is closed.")
            if self._client is None:
                self._client = anthropic.Anthropic(
                    **client_options(self._where, self._key),
                    http_client=anthropic.DefaultHttpxClient(
                        **http_options(self._where),
                        timeout=self._where.timeout_seconds,
                    ),
                )
                # The SDK imports these when they are first used, which threads had better not do at once.
                stores = self._client.beta.memory_stores
                _ = stores.memories, stores.memory_versions
            return self._client


class _Turn:
    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
