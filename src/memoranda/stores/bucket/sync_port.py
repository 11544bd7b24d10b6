"""The port that blocks: its coroutines never suspend."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

import obstore

from memoranda.after_fork import renew
from memoranda.errors import Misuse
from memoranda.stores.bucket import address
from memoranda.stores.bucket.faults import Missing, Taken, translated
from memoranda.stores.bucket.port import AT_ONCE, Got, Port, Seen, Tag, Wish, chunks, tag_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from obstore.store import ObjectStore

    from memoranda.stores.bucket.address import Address

T = TypeVar("T")
A = TypeVar("A")

DELETED_AT_ONCE = 900
LISTED_AT_ONCE = 1000


class SyncPort(Port):
    """Each call is one of obstore's blocking calls; several at once go through a few threads."""

    suspends: ClassVar[bool] = False

    def __init__(self, where: Address) -> None:
        self._where = where
        self._opening = Lock()  # guards the two below, and the locks
        self._store: ObjectStore | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._pid = os.getpid()
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()
        self._is_closed = False
        renew(self)

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``."""
        self._opening = Lock()
        self._turns = WeakValueDictionary()
        self._threads = None

    async def get(self, key: str, known: Tag | None = None) -> Got:
        return self._get(Wish(key), known)

    async def get_all(self, wishes: Sequence[Wish]) -> list[bytes]:
        return self._each(lambda wish: self._get(wish).data, wishes)

    async def put_all(self, objects: Mapping[str, bytes]) -> None:
        self._each(self._put_over, list(objects.items()))

    async def put(self, key: str, data: bytes, known: Tag | None) -> Tag:
        mode: Any = "create" if known is None else dict(known)
        try:
            with translated():
                return tag_of(
                    obstore.put(self._opened(), key, data, mode=mode, use_multipart=False)
                )
        except Missing as error:
            raise Taken from error

    async def delete(self, keys: Sequence[str]) -> None:
        for some in chunks(keys, DELETED_AT_ONCE):
            with translated():
                obstore.delete(self._opened(), some)

    async def keys(
        self, prefix: str, after: str | None = None, most: int | None = None
    ) -> list[Seen]:
        found: list[Seen] = []
        with translated():
            stream = listed(self._opened(), prefix, after)
            for page in stream:
                found += [seen_of(one) for one in page]
                if most is not None and len(found) >= most:
                    break
        return found[:most]

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
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown()

    def _get(self, wish: Wish, known: Tag | None = None) -> Got:
        with translated():
            result = obstore.get(self._opened(), wish.key, options=options_of(wish, known))
            data = bytes(result.bytes())
            return Got(data, tag_of(_meta(result)))

    def _put_over(self, item: tuple[str, bytes]) -> None:
        with translated():
            obstore.put(self._opened(), *item, mode="overwrite", use_multipart=False)

    def _each(self, work: Callable[[A], T], items: Sequence[A]) -> list[T]:
        if len(items) <= 1:
            return [work(item) for item in items]
        self._opened()
        with self._opening:
            threads = self._threads
            if threads is None:
                threads = self._threads = ThreadPoolExecutor(AT_ONCE, "memoranda-bucket")
        return list(threads.map(work, items))

    def _opened(self) -> ObjectStore:
        store = self._store
        if store is not None and self._pid == os.getpid():
            return store
        with self._opening:
            check_process(self._pid if store is not None else None)
            if self._is_closed:
                raise Misuse("The backend is closed.")
            if self._store is None:
                self._store = address.connect(self._where)
                self._pid = os.getpid()
            return self._store


class _Turn:
    """A lock that goes once nobody uses it any more."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = Lock()


def check_process(pid: int | None) -> None:
    """Raise ``Misuse`` in a process that was forked off from the one whose client it is: the client's
    threads are not here, and a call would wait for them for ever."""
    if pid is not None and pid != os.getpid():
        raise Misuse(
            "This process was forked off after the object store was used; open the memory in the"
            " new process, or start processes with spawn."
        )


def options_of(wish: Wish, known: Tag | None) -> Any:
    """What a read is told. A tag without an e_tag can't be asked for: then all is read."""
    options: dict[str, Any] = {}
    if known is not None and "e_tag" in known:
        options["if_none_match"] = known["e_tag"]
    if wish.span is not None:
        options["range"] = wish.span
    return options


def _meta(result: Any) -> dict[str, object]:
    return dict(result.meta)


def listed(store: ObjectStore, prefix: str | None = None, after: str | None = None) -> Any:
    """A listing by pages, to be gone through blocking or suspending."""
    return obstore.list(  # pyright: ignore[reportUnknownMemberType] - of another form of it
        store, prefix, offset=after, chunk_size=LISTED_AT_ONCE
    )


def seen_of(meta: Any) -> Seen:
    """An object in a listing, as the client gives it."""
    return Seen(str(meta["path"]), int(meta["last_modified"].timestamp() * 1e9))
