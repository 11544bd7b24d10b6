"""A store in PostgreSQL."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from memoranda.errors import Corrupt, IsADirectory, Misuse, NotFound, Refused, UnknownId
from memoranda.stores.base import (
    LISTING_CHUNK,
    AuditEntry,
    AuditHead,
    AuditReport,
    Capabilities,
    Content,
    Entry,
    Hit,
    Hold,
    Moment,
    Outline,
    Page,
    Report,
    Store,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)
from memoranda.stores.log import ids
from memoranda.stores.patience import patiently
from memoranda.stores.postgres import audit, history, holds, listing, stores, upkeep
from memoranda.stores.postgres.writing import Batch
from memoranda.stores.sealing import NO_CHAIN

if TYPE_CHECKING:
    from builtins import list as rows_of
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Literal, LiteralString

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Context
    from memoranda.stores.postgres.backend import PostgresBackend
    from memoranda.stores.postgres.place import Made, Place
    from memoranda.stores.postgres.port import Row, Session

T = TypeVar("T")

CAPABILITIES: Final = Capabilities(shared_by_machines=True, audits=True, takes_history=True)
_READ: Final = "SELECT * FROM memoranda.read_memory(%s, %s, %s, %s)"
_STAT: Final = (
    "SELECT id, head, size, sha, created, updated FROM memoranda.memory"
    " WHERE store = %s AND path = %s"
)
_IS_DIRECTORY: Final = (
    "SELECT 1 FROM memoranda.memory WHERE store = %s AND path > %s AND path < %s LIMIT 1"
)
_LOCATE: Final = (
    "SELECT path, id, head, size, sha, created, updated FROM memoranda.memory"
    " WHERE store = %s AND id = %s AND path IS NOT NULL"
)
_USES: Final = (
    "SELECT path, used FROM memoranda.memory"
    " WHERE store = %s AND path IS NOT NULL AND used IS NOT NULL"
)
_USAGE: Final = "SELECT files, bytes, versions, history FROM memoranda.state WHERE store = %s"
_MEMORY: Final = 1
_DIRECTORY: Final = 2
_NO_STORE: Final = -1
_MOST_BYTES: Final = 2**30


def nothing_at(path: MemoryPath) -> Refused:
    """What a read of a store that was never written raises: only the root is there."""
    return IsADirectory(path) if path.is_root else NotFound(path)


class PostgresStore(Store):
    """A handle on one store of a ``PostgresBackend``.

    A cancelled call may have been done or not, never by half; nothing is told of which.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(self, backend: PostgresBackend, place: Place) -> None:
        self._backend = backend
        self._place = place
        self._closed = False
        # By the port: one class for both colours.
        self.suspends = backend.suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    @property
    def id(self) -> str:
        """The store's id. A user's store that nobody has made yet has the one that it will get
        unless somebody else makes it first."""
        return self._place.id

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        made = await self._made()
        if made is None:
            raise nothing_at(path)
        length = None if length is None else max(0, min(length, _MOST_BYTES))
        values = (
            made.number,
            "" if path.is_root else path.store_path,
            min(start, _MOST_BYTES),
            length,
        )
        ((kind, size, body, data),) = await self._run(_READ, values)
        if kind == _MEMORY:
            if data is None:
                raise Corrupt("The content of a memory is missing.")
            return Content(bytes(data), size, body)
        if kind == _NO_STORE:
            raise UnknownId("store")
        raise IsADirectory(path) if kind == _DIRECTORY or path.is_root else NotFound(path)

    async def stat(self, path: MemoryPath) -> Entry:
        made = await self._made()
        if made is None or path.is_root:
            raise nothing_at(path)

        async def work(session: Session) -> Entry:
            rows = await session.run(_STAT, (made.number, path.store_path))
            if rows:
                return listing.entry(made, path, *rows[0])
            if await session.run(_IS_DIRECTORY, (made.number, *listing.beneath(path))):
                raise IsADirectory(path)
            raise NotFound(path)

        return await self._scoped(made, work)

    async def locate(self, memory_id: str) -> Entry:
        made = await self._made()
        number = None if made is None else ids.node_of(made, memory_id)
        if made is not None and number is not None:
            for path, *rest in await self._query(made, _LOCATE, number):
                return listing.entry(made, listing.path_of(path), *rest)
        raise UnknownId("memory")

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        made = await self._made()
        if made is None:
            if directory.is_root:
                return Outline(0, (), 0)
            raise NotFound(directory)
        return await self._patiently(
            lambda: listing.outline(self._backend.port, made, directory, line_chars)
        )

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        made = await self._made()
        if made is None:
            return Page((), None)
        return await self._scoped(
            made, lambda session: listing.page(session, made, prefix, depth, after, limit, at)
        )

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        made = await self._made()
        if made is None:
            return ()
        return await self._patiently(
            lambda: listing.hits(self._backend.port, made, query, prefix, limit)
        )

    async def usage(self) -> Usage:
        made = await self._made()
        rows = [] if made is None else await self._query(made, _USAGE)
        return Usage(*rows[0]) if rows else Usage(0, 0, 0, 0)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        backend = self._open()
        if not changes:
            await self._made()
            return ()
        batch = Batch(backend.port, self._place, changes, context, backend.now())
        try:
            versions = await batch.run()
        finally:
            backend.note_waiting(self._place)
        made = self._place.made
        if batch.is_time_to_thin and made is not None:
            retention = context.retention or backend.retention
            now = backend.now()
            await upkeep.thin(backend.port, made, retention, now, batch.before.at)
        return versions

    async def record(self, context: Context) -> None:
        backend = self._open()
        self._place.records.note(context, backend.now())
        backend.note_waiting(self._place)
        await backend.flush_if_due(self._place)

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        backend = self._open()
        self._place.records.use(paths, at_ns, backend.now())
        backend.note_waiting(self._place)
        await backend.flush_if_due(self._place)

    async def uses(self) -> Mapping[MemoryPath, int]:
        await self.flush()
        made = await self._made()
        rows = [] if made is None else await self._query(made, _USES)
        return {listing.path_of(path): used for path, used in rows}

    async def flush(self) -> None:
        await self._open().flush(self._place)

    # ---- the audit and holds

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        await self.flush()
        made = await self._made()
        if made is None:
            return ()
        return await self._scoped(made, lambda session: audit.entries(session, made, after, limit))

    async def verify_audit(self, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        await self.flush()
        made = await self._made()
        if made is None:
            return AuditReport((), 0, AuditHead(self.id, 0, NO_CHAIN.hex()))
        return await self._patiently(
            lambda: self._backend.port.transact(
                lambda session: audit.verify(session, made, self.id, anchors),
                made.number,
                snapshot=True,
            )
        )

    async def holds(self) -> tuple[Hold, ...]:
        made = await self._made()
        if made is None:
            return ()
        return await self._scoped(made, lambda session: holds.of_store(session, made.number))

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        made, now = await self._made_or_unknown(), self._backend.now()
        return await self._scoped(
            made, lambda session: holds.put(session, made, path, reason, context, now)
        )

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        made, now = await self._made_or_unknown(), self._backend.now()
        return await self._scoped(
            made, lambda session: holds.lift(session, made, path, context, now)
        )

    async def forget(self, path: MemoryPath, context: Context) -> int:
        await self.flush()
        made, now = await self._made_or_unknown(), self._backend.now()
        return await self._scoped(
            made, lambda session: upkeep.forget(session, made, path, context, now)
        )

    async def _made_or_unknown(self) -> Made:
        made = await self._made()
        if made is None:
            raise UnknownId("store")
        return made

    # ---- history

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        made = await self._made()
        if made is None:
            return VersionPage((), None)
        return await self._scoped(
            made,
            lambda session: history.versions(session, made, where, after, limit, content=content),
        )

    async def id_key(self) -> bytes:
        made = await self._made()
        if made is None:
            raise UnknownId("store")
        return made.secret

    async def version(self, version_id: str) -> Version:
        made = await self._made()
        if made is None:
            raise UnknownId("version")
        return await self._scoped(made, lambda session: history.one(session, made, version_id))

    async def moment(self, at_ns: int) -> Moment:
        made = await self._made()
        if made is None:
            return Moment(0)
        return await self._scoped(made, lambda session: history.moment(session, made, at_ns))

    async def redact(self, version_id: str, context: Context) -> Version:
        made = await self._made()
        if made is None:
            raise UnknownId("version")
        now = self._backend.now()
        return await self._scoped(
            made, lambda session: upkeep.redact(session, made, version_id, context, now)
        )

    # ---- upkeep

    async def verify(self) -> Report:
        made = await self._made()
        if made is None:
            return Report((), (), 0, 0)
        return await self._patiently(
            lambda: self._backend.port.transact(
                lambda session: upkeep.verify(session, made), made.number, snapshot=True
            )
        )

    async def close(self) -> None:
        try:
            if not (self._closed or self._backend.is_closed):
                await self._backend.flush(self._place)
        finally:
            self._closed = True

    # ---- their parts

    def _open(self) -> PostgresBackend:
        """The backend, if neither it nor the store is closed."""
        if self._closed or self._backend.is_closed:
            raise Misuse("The store is closed.")
        return self._backend

    async def _made(self) -> Made | None:
        """Which rows are the store's; None while nobody has made it."""
        backend = self._open()
        if self._place.records.are_waiting:
            await backend.flush_if_due(self._place)
        if self._place.made is not None:
            return self._place.made
        return await self._patiently(lambda: stores.made(backend.port, self._place))

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        return await patiently(self._backend.port, work, time.monotonic)

    async def _run(self, statement: LiteralString, values: Sequence[object]) -> rows_of[Row]:
        return await self._patiently(lambda: self._backend.port.run(statement, values))

    async def _scoped(self, made: Made, work: Callable[[Session], Awaitable[T]]) -> T:
        """What ``work`` gives in a transaction that sees this store's rows and no others."""
        return await self._patiently(lambda: self._backend.port.transact(work, made.number))

    async def _query(self, made: Made, statement: LiteralString, *values: object) -> rows_of[Row]:
        return await self._scoped(
            made, lambda session: session.run(statement, (made.number, *values))
        )
