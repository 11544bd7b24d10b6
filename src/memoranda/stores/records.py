"""What belongs to no store: small records of a backend, by kind and key, changed by compare-and-swap.

Keys of the server lie here, and which tool calls it has begun. Values are JSON texts of a few
hundred bytes; never contents of memories, which erasure and redaction would not find here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from memoranda.errors import AlreadyExists, Conflict, IsADirectory, NotFound
from memoranda.light_named_tuples import NamedTuple
from memoranda.path import ROOT
from memoranda.stores.changes import Context, Expect, IfVersion, Put, Remove, Retention
from memoranda.stores.companions import RECORDS

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Backend, Store

ABSENT: Final = ""
"""The revision of a record that is not there."""

CHANGED: Final = "Somebody else changed this record."

_USER: Final = "records"
# Nobody looks back at them: only the present one counts.
_CONTEXT: Final = Context("server", "record", retention=Retention(keep_days=1, keep_newest=1))


class Record(NamedTuple):
    """One record. ``revision`` is opaque and another one after each change."""

    key: str
    value: str
    revision: str


class Records(ABC):
    """The records of one kind. ``key`` is 1 to 128 of ``A-Z a-z 0-9 _ -``, and known to be."""

    @abstractmethod
    async def get(self, key: str) -> Record | None:
        """The record with this key. One access."""

    @abstractmethod
    async def list(self, after: str = "", limit: int = 1000) -> tuple[Record, ...]:
        """Records in the order of their keys, those after ``after``."""

    @abstractmethod
    async def put(self, key: str, value: str, expect: str | None = None) -> Record:
        """Make or change a record, durable on return.

        ``expect`` is the revision that it has to have (``ABSENT``: none may be there), else
        ``Conflict``; None takes any. A record that holds this very value already is left as it is,
        whatever was expected: a write whose answer got lost may be done again.
        """

    @abstractmethod
    async def remove(self, key: str) -> bool:
        """Remove a record; whether there was one."""


class RecordsInStore(Records):
    """Records as the memories of a store that no user has: for backends without a table."""

    def __init__(self, backend: Backend, kind: str) -> None:
        self._backend = backend
        self._kind = kind

    async def get(self, key: str) -> Record | None:
        return await self._read(await self._store(), ROOT.child(key))

    async def list(self, after: str = "", limit: int = 1000) -> tuple[Record, ...]:
        store = await self._store()
        start = f"/{after}" if after else None
        page = await store.list(ROOT, depth=0, after=start, limit=limit)
        found = [await self._read(store, entry.path) for entry in page.entries]
        return tuple(record for record in found if record is not None)

    async def put(self, key: str, value: str, expect: str | None = None) -> Record:
        store = await self._store()
        path = ROOT.child(key)
        wanted = IfVersion(expect) if expect else Expect.ANY if expect is None else Expect.ABSENT
        try:
            await store.apply((Put(path, value.encode(), wanted),), _CONTEXT)
        except (AlreadyExists, NotFound, Conflict) as error:
            there = await self._read(store, path)
            if there is None or there.value != value:
                raise Conflict(CHANGED) from error
            return there
        return Record(key, value, (await store.stat(path)).version_id)

    async def remove(self, key: str) -> bool:
        store = await self._store()
        try:
            await store.apply((Remove(ROOT.child(key)),), _CONTEXT)
        except NotFound:
            return False
        return True

    async def _store(self) -> Store:
        return await self._backend.for_user(f"{_USER}-{self._kind}", RECORDS)

    async def _read(self, store: Store, path: MemoryPath) -> Record | None:
        try:
            entry = await store.stat(path)
            content = (await store.version(entry.version_id)).content
        except (NotFound, IsADirectory):
            return None
        return None if content is None else Record(path.name, content.decode(), entry.version_id)
