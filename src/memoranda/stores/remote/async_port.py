"""The port on an event loop, on the SDK's asynchronous client."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

import anthropic

from memoranda.errors import Misuse
from memoranda.stores.remote.faults import translated
from memoranda.stores.remote.port import Port, client_options, http_options

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from anthropic.resources.beta.memory_stores import MemoryStores

    from memoranda.stores.remote.address import Address

T = TypeVar("T")


class AsyncPort(Port):
    """The SDK's asynchronous client, one for each event loop that comes.

    A client's connections belong to its loop and are closed as the loop ends, or with the backend.
    """

    suspends: ClassVar[bool] = True

    def __init__(self, where: Address, key: str) -> None:
        self._where = where
        self._key = key
        self._clients: dict[asyncio.AbstractEventLoop, _Client] = {}
        self._turns: WeakKeyDictionary[
            asyncio.AbstractEventLoop, WeakValueDictionary[str, asyncio.Lock]
        ] = WeakKeyDictionary()
        self._is_closed = False

    async def ask(self, request: Callable[[MemoryStores], T]) -> T:
        client = await self._opened()
        with translated():
            # Calls of both colours are spelled the same; these give what has to be awaited.
            stores = cast("MemoryStores", client.beta.memory_stores)
            return await cast("Awaitable[T]", request(stores))

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncGenerator[None]:
        turns = self._turns.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        lock = turns.get(name)
        if lock is None:
            turns[name] = lock = asyncio.Lock()
        async with lock:
            yield

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        self._is_closed = True
        own = self._clients.pop(asyncio.get_running_loop(), None)
        if own is not None:
            await own.end.aclose()

    async def _opened(self) -> anthropic.AsyncAnthropic:
        if self._is_closed:
            raise Misuse("The backend is closed.")
        loop = asyncio.get_running_loop()
        found = self._clients.get(loop)
        if found is not None and found.pid == os.getpid():
            return found.client
        for ended in [other for other in self._clients if other.is_closed()]:
            del self._clients[ended]
        client = anthropic.AsyncAnthropic(
            **client_options(self._where, self._key),
            http_client=anthropic.DefaultAsyncHttpxClient(
                **http_options(self._where),
                timeout=self._where.timeout_seconds,
            ),
        )
        end = _closed_with_its_loop(client)
        self._clients[loop] = _Client(client, end, os.getpid())
        await anext(end)
        return client


class _Client(NamedTuple):
    """A client, what closes it, and the process that made it: after a fork it is the parent's."""

    client: anthropic.AsyncAnthropic
    end: AsyncGenerator[None]
    pid: int


async def _closed_with_its_loop(client: anthropic.AsyncAnthropic) -> AsyncGenerator[None]:
    """Suspended for as long as the client is used: a loop closes such generators as it ends, which is
    the only word of its end that reaches a library."""
    try:
        yield
    finally:
        await client.close()
