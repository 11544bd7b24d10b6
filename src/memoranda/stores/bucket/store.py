"""A store in a bucket."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from memoranda.errors import IsADirectory, Misuse, NotFound, Refused, UnknownId
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
from memoranda.stores.bucket import (
    auditing,
    collecting,
    history,
    holds,
    listing,
    redaction,
    retention,
)
from memoranda.stores.bucket.place import seen
from memoranda.stores.bucket.sight import path_of
from memoranda.stores.bucket.verifying import Check
from memoranda.stores.bucket.writing import Batch
from memoranda.stores.log import ids
from memoranda.stores.patience import patiently
from memoranda.stores.sealing import NO_CHAIN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Literal

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Context
    from memoranda.stores.bucket.backend import BucketBackend
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.bucket.sight import Sight
    from memoranda.stores.planning import Item

T = TypeVar("T")

CAPABILITIES: Final = Capabilities(shared_by_machines=True, audits=True, takes_history=True)
WHOLE_BYTES: Final = 256 * 1024
"""A content of up to so many bytes is read whole, and kept in the cache, also for a part of it."""


def nothing_at(path: MemoryPath) -> Refused:
    """What a read of a store that was never written raises: only the root is there."""
    return IsADirectory(path) if path.is_root else NotFound(path)


class BucketStore(Store):
    """A handle on one store of a ``BucketBackend``.

    A cancelled call may have been done or not, never by half; nothing is told of which.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(self, backend: BucketBackend, place: Place) -> None:
        self._backend = backend
        self.place = place
        self._closed = False
        # By the port: one class for both colours.
        self.suspends = backend.suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    @property
    def id(self) -> str:
        """The store's id. A user's store that nobody has made yet has the one that it will get
        unless somebody else makes it first."""
        return self.place.id

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        async def work(sight: Sight) -> Content:
            item = await self._live(sight, path)
            end = item.size if length is None else min(item.size, start + max(0, length))
            data = sight.shelf.known(item.place)
            if data is None and item.size <= WHOLE_BYTES:
                data = await sight.content(item)
            if data is not None:
                data = data[start:end]
            elif start >= end:
                data = b""
            elif end - start == item.size:
                data = await sight.content(item)
            else:
                data = await sight.shelf.part(item.place, start, end)
            return Content(data, item.size, item.head)

        return self._there(await self._seen(work), path)

    async def stat(self, path: MemoryPath) -> Entry:
        async def work(sight: Sight) -> Entry:
            return listing.entry(sight.head, await self._live(sight, path))

        return self._there(await self._seen(work), path)

    async def locate(self, memory_id: str) -> Entry:
        async def work(sight: Sight) -> Entry | None:
            number = ids.node_of(sight.head, memory_id)
            if number is None:
                return None
            return listing.entry(sight.head, await sight.located(number))

        found = await self._seen(work)
        if found is None:
            raise UnknownId("memory")
        return found

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await self._seen(lambda sight: listing.outline(sight, directory, line_chars))
        if found is None and not directory.is_root:
            raise NotFound(directory)
        return found or Outline(0, (), 0)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        found = await self._seen(lambda sight: listing.page(sight, prefix, depth, after, limit, at))
        return found or Page((), None)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return await self._seen(lambda sight: listing.hits(sight, query, prefix, limit)) or ()

    async def usage(self) -> Usage:
        async def work(sight: Sight) -> Usage:
            head = sight.head
            return Usage(head.state.files, head.state.bytes, head.versions, head.history)

        return await self._seen(work) or Usage(0, 0, 0, 0)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        backend = self._open()
        if not changes:
            return ()
        batch = Batch(backend.ground, self.place, changes, context, backend.now())
        try:
            versions = await batch.run()
        finally:
            backend.note_waiting(self.place)
        if batch.is_time_to_thin and batch.before is not None:
            keeps = context.retention or backend.retention
            before_ns = batch.before.state.at
            await retention.tend(backend.ground, self.place, keeps, backend.now(), before_ns)
        return versions

    async def record(self, context: Context) -> None:
        backend = self._open()
        self.place.records.note(context, backend.now())
        backend.note_waiting(self.place)
        await backend.flush_if_due(self.place)

    async def flush(self) -> None:
        await self._open().flush(self.place)

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        backend = self._open()
        self.place.records.use(paths, at_ns, backend.now())
        backend.note_waiting(self.place)
        await backend.flush_if_due(self.place)

    async def uses(self) -> Mapping[MemoryPath, int]:
        await self.flush()

        async def work(sight: Sight) -> dict[MemoryPath, int]:
            rows = (await sight.memories()).values()
            return {path_of(row[0]): row[3] for row in rows if row[0] and row[3] is not None}

        return await self._seen(work) or {}

    # ---- the audit and holds

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        await self.flush()
        return await self._seen(lambda sight: auditing.entries(sight, after, limit)) or ()

    async def verify_audit(self, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        await self.flush()
        found = await self._seen(lambda sight: auditing.verify(sight, self.id, anchors))
        return found or AuditReport((), 0, AuditHead(self.id, 0, NO_CHAIN.hex()))

    async def holds(self) -> tuple[Hold, ...]:
        async def work(sight: Sight) -> tuple[Hold, ...]:
            return sight.head.holds

        return await self._seen(work) or ()

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        backend = self._open()
        return await holds.put(backend.ground, self.place, path, reason, context, backend.now())

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        backend = self._open()
        return await holds.lift(backend.ground, self.place, path, context, backend.now())

    # ---- history

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        found = await self._seen(
            lambda sight: history.versions(sight, where, after, limit, content=content)
        )
        return found or VersionPage((), None)

    async def id_key(self) -> bytes:
        async def key(sight: Sight) -> bytes:
            return sight.head.secret

        found = await self._seen(key)
        if found is None:
            raise UnknownId("store")
        return found

    async def version(self, version_id: str) -> Version:
        found = await self._seen(lambda sight: history.one(sight, version_id))
        if found is None:
            raise UnknownId("version")
        return found

    async def moment(self, at_ns: int) -> Moment:
        return await self._seen(lambda sight: history.moment(sight, at_ns)) or Moment(0)

    async def redact(self, version_id: str, context: Context) -> Version:
        backend = self._open()
        try:
            return await redaction.redact(
                backend.ground, self.place, version_id, context, backend.now()
            )
        except UnknownId:
            raise UnknownId("version") from None

    # ---- upkeep

    async def verify(self) -> Report:
        found = await self._seen(lambda sight: Check(sight, self.id).run())
        return found or Report((), (), 0, 0)

    async def repair(self) -> Report:
        """End what redactions have begun, remove what no head names, and verify. Damaged objects are
        nothing that could be mended."""
        backend = self._open()
        if await self._seen(_nothing):
            await redaction.finish(backend.ground, self.place)
            await collecting.collect(backend.ground, self.place, backend.now())
        return await self.verify()

    async def close(self) -> None:
        try:
            if not (self._closed or self._backend.is_closed):
                await self._backend.flush(self.place)
        finally:
            self._closed = True

    # ---- their parts

    def _open(self) -> BucketBackend:
        """The backend, if neither it nor the store is closed."""
        if self._closed or self._backend.is_closed:
            raise Misuse("The store is closed.")
        return self._backend

    async def _seen(self, work: Callable[[Sight], Awaitable[T]]) -> T | None:
        """What ``work`` gives on the store as it is now; None while nobody has made it."""
        backend = self._open()
        if self.place.records.are_waiting:
            await backend.flush_if_due(self.place)
        ground = backend.ground
        return await patiently(
            ground.port,
            lambda: seen(ground.port, ground.cache, self.place, ground.roots, work),
            time.monotonic,
        )

    async def _live(self, sight: Sight, path: MemoryPath) -> Item:
        item = await sight.item(path)
        if item is None:
            is_directory = await sight.is_directory(path)
            raise IsADirectory(path) if is_directory else NotFound(path)
        return item

    def _there(self, found: T | None, path: MemoryPath) -> T:
        if found is None:
            raise nothing_at(path)
        return found


async def _nothing(sight: Sight) -> bool:
    """Only looks at the head."""
    del sight
    return True
