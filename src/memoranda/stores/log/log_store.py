"""The reading half of a store, the same for all that stand on the log."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar

from memoranda.errors import IsADirectory, NotFound, Refused, UnknownId
from memoranda.stores.base import (
    LISTING_CHUNK,
    AuditEntry,
    AuditHead,
    AuditReport,
    Content,
    Entry,
    Hit,
    Hold,
    Moment,
    Outline,
    Page,
    Store,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Literal

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.turn import Turn

T = TypeVar("T")


def nothing_at(path: MemoryPath) -> Refused:
    """What a read of a store that was never written raises: only the root is there."""
    return IsADirectory(path) if path.is_root else NotFound(path)


class LogStore(Store):
    """A store whose history, names and ids lie in a log.

    A subclass says how to get at the log, and does the writing. ``read`` and ``search`` take the
    contents from the database; a store that keeps them elsewhere overrides the two.
    """

    @abstractmethod
    def _reading(self) -> AbstractContextManager[StoreLog | None]:
        """The log on a connection that sees one state of it, for as long as the context is open.

        None for a store that was never written. Translates SQLite's errors; raises ``Misuse`` when
        the store is closed.
        """

    @abstractmethod
    def _in_turn(self, work: Callable[[Turn], T]) -> T:
        """Do work in a transaction; raises ``UnknownId`` where nobody has made the store."""

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        from memoranda.stores.log import lookup

        with self._reading() as log:
            if log is None:
                raise nothing_at(path)
            return lookup.read(log, path, start, length)

    async def stat(self, path: MemoryPath) -> Entry:
        from memoranda.stores.log import lookup

        with self._reading() as log:
            if log is None:
                raise nothing_at(path)
            return lookup.stat(log, path)

    async def locate(self, memory_id: str) -> Entry:
        from memoranda.stores.log import lookup

        with self._reading() as log:
            if log is None:
                raise UnknownId("memory")
            return lookup.locate(log, memory_id)

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        from memoranda.stores.log import listing

        with self._reading() as log:
            if log is not None:
                return listing.outline(log, directory, line_chars)
        if directory.is_root:
            return Outline(0, (), 0)
        raise NotFound(directory)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        from memoranda.stores.log import listing, time_travel

        with self._reading() as log:
            if log is None:
                return Page((), None)
            if at is None:
                return listing.page(log, prefix, depth, after, limit)
            return time_travel.page(log, log.base + at.seq, prefix, depth, after, limit)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        from memoranda.stores.log import lookup, search

        with self._reading() as log:
            if log is None:
                return ()
            return search.hits(search.words_of(query), lookup.contents(log, prefix), limit)

    async def usage(self) -> Usage:
        from memoranda.stores.log import lookup

        with self._reading() as log:
            return Usage(0, 0, 0, 0) if log is None else lookup.usage(log)

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        from memoranda.stores.log import history

        with self._reading() as log:
            if log is None:
                return VersionPage((), None)
            return history.versions(log, where, after, limit, content=content)

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        from memoranda.stores.log import audit

        await self.flush()
        with self._reading() as log:
            return () if log is None else audit.entries(log, after, limit)

    async def uses(self) -> Mapping[MemoryPath, int]:
        from memoranda.stores.log import lookup

        await self.flush()
        with self._reading() as log:
            return {} if log is None else lookup.uses(log)

    async def holds(self) -> tuple[Hold, ...]:
        from memoranda.stores.log import holds

        with self._reading() as log:
            return () if log is None else holds.of_store(log)

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        from memoranda.stores.log import holds

        return self._in_turn(lambda turn: holds.put(turn, path, reason, context))

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        from memoranda.stores.log import holds

        return self._in_turn(lambda turn: holds.lift(turn, path, context))

    async def forget(self, path: MemoryPath, context: Context) -> int:
        from memoranda.stores.log.forgetting import forget

        await self.flush()
        return self._in_turn(lambda turn: forget(turn, path, context))

    async def verify_audit(self, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        from memoranda.stores.log import chain

        await self.flush()
        with self._reading() as log:
            if log is not None:
                return chain.verify(log, anchors)
        return AuditReport((), 0, AuditHead(self.id, 0, "0" * 64))

    async def id_key(self) -> bytes:
        with self._reading() as log:
            if log is None:
                raise UnknownId("store")
            return log.secret

    async def version(self, version_id: str) -> Version:
        from memoranda.stores.log import history

        with self._reading() as log:
            if log is None:
                raise UnknownId("version")
            return history.one(log, version_id)

    async def moment(self, at_ns: int) -> Moment:
        from memoranda.stores.log import history

        with self._reading() as log:
            return Moment(0) if log is None else history.moment(log, at_ns)
