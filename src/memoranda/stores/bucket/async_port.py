"""The port on an event loop, on obstore's asynchronous calls."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import obstore

from memoranda.errors import Misuse
from memoranda.stores.bucket import address
from memoranda.stores.bucket.faults import Missing, Taken, translated
from memoranda.stores.bucket.port import AT_ONCE, Got, Port, Seen, Tag, Wish, chunks, tag_of
from memoranda.stores.bucket.sync_port import (
    DELETED_AT_ONCE,
    check_process,
    listed,
    options_of,
    seen_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

    from obstore.store import ObjectStore

    from memoranda.stores.bucket.address import Address

T = TypeVar("T")
A = TypeVar("A")


class AsyncPort(Port):
    """obstore's client belongs to no loop; only the turns do."""

    suspends: ClassVar[bool] = True

    def __init__(self, where: Address) -> None:
        self._where = where
        self._store: ObjectStore | None = None
        self._pid = os.getpid()
        self._turns: WeakKeyDictionary[
            asyncio.AbstractEventLoop, WeakValueDictionary[str, asyncio.Lock]
        ] = WeakKeyDictionary()
        self._is_closed = False

    async def get(self, key: str, known: Tag | None = None) -> Got:
        return await self._get(Wish(key), known)

    async def get_all(self, wishes: Sequence[Wish]) -> list[bytes]:
        async def work(wish: Wish) -> bytes:
            return (await self._get(wish)).data

        return await _each(work, wishes)

    async def put_all(self, objects: Mapping[str, bytes]) -> None:
        async def work(item: tuple[str, bytes]) -> None:
            with translated():
                await obstore.put_async(
                    self._opened(), *item, mode="overwrite", use_multipart=False
                )

        await _each(work, list(objects.items()))

    async def put(self, key: str, data: bytes, known: Tag | None) -> Tag:
        mode: Any = "create" if known is None else dict(known)
        try:
            with translated():
                return tag_of(
                    await obstore.put_async(
                        self._opened(), key, data, mode=mode, use_multipart=False
                    )
                )
        except Missing as error:
            raise Taken from error

    async def delete(self, keys: Sequence[str]) -> None:
        for some in chunks(keys, DELETED_AT_ONCE):
            with translated():
                await obstore.delete_async(self._opened(), some)

    async def keys(
        self, prefix: str, after: str | None = None, most: int | None = None
    ) -> list[Seen]:
        found: list[Seen] = []
        with translated():
            stream = listed(self._opened(), prefix, after)
            async for page in stream:
                found += [seen_of(one) for one in page]
                if most is not None and len(found) >= most:
                    break
        return found[:most]

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

    async def _get(self, wish: Wish, known: Tag | None = None) -> Got:
        with translated():
            result = await obstore.get_async(
                self._opened(), wish.key, options=options_of(wish, known)
            )
            meta: Any = result.meta
            return Got(bytes(await result.bytes_async()), tag_of(meta))

    def _opened(self) -> ObjectStore:
        if self._is_closed:
            raise Misuse("The backend is closed.")
        if self._store is None:
            self._store = address.connect(self._where)
            self._pid = os.getpid()
        check_process(self._pid)
        return self._store


async def _each(work: Callable[[A], Awaitable[T]], items: Sequence[A]) -> list[T]:
    """Do work on each, some at once; the first failure ends it, and nothing is left running."""
    if len(items) <= 1:
        return [await work(item) for item in items]
    room = asyncio.Semaphore(AT_ONCE)

    async def one(item: A) -> T:
        async with room:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
