"""A store in a repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Final

from memoranda.errors import IsADirectory, Misuse, NotFound, Refused, UnknownId, Unsupported
from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.audit import PATH
from memoranda.stores.base import (
    LISTING_CHUNK,
    AuditEntry,
    AuditHead,
    AuditReport,
    Capabilities,
    Ceiling,
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
from memoranda.stores.git import audit, check, history, listing
from memoranda.stores.git.batch import by_number
from memoranda.stores.git.heads import Heads, Record
from memoranda.stores.log import ids, search
from memoranda.stores.planning import EMPTY, Plan, Seen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from memoranda.stores.base import Change, Context
    from memoranda.stores.git.backend import GitBackend
    from memoranda.stores.git.log import Head
    from memoranda.stores.git.objects import Objects
    from memoranda.stores.git.place import Place
    from memoranda.stores.git.writer import Writer

CAPABILITIES: Final = Capabilities(
    redacts=False, external_edits=True, audits=True, takes_history=True
)


def nothing_at(path: MemoryPath) -> Refused:
    """What a read of a store that was never written raises: only the root is there."""
    return IsADirectory(path) if path.is_root else NotFound(path)


class GitStore(Store):
    """A handle on one store of a ``GitBackend``."""

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(self, backend: GitBackend, place: Place) -> None:
        self._backend = backend
        self.place = place
        self._closed = False

    @property
    def id(self) -> str:
        """The store's id. A user's store that nobody has made yet has the one that it will get
        unless somebody else makes it first."""
        return self.place.id

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        seen = self._seen()
        if seen is None:
            raise nothing_at(path)
        record = seen.record(path)
        data = seen.objects.read_blob(record.blob)
        end = None if length is None else start + max(0, length)
        return Content(data[start:end], record.size, record.blob)

    async def stat(self, path: MemoryPath) -> Entry:
        seen = self._seen()
        if seen is None:
            raise nothing_at(path)
        return listing.entry_of(seen.head, path, seen.record(path))

    async def locate(self, memory_id: str) -> Entry:
        seen = self._seen()
        number = None if seen is None else ids.node_of(seen.head, memory_id)
        if seen is not None and number is not None:
            path, record = by_number(seen.objects, seen.head, number)
            if path is not None and record is not None:
                return listing.entry_of(seen.head, path, record)
        raise UnknownId("memory")

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        seen = self._seen()
        if seen is not None:
            return listing.outline(seen.heads, directory, line_chars)
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
        seen = self._seen()
        if seen is None:
            return Page((), None)
        heads = seen.heads if at is None else listing.past(seen.objects, seen.head, at)
        return listing.page(seen.head, heads, prefix, depth, after, limit)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        seen = self._seen()
        if seen is None:
            return ()
        return search.hits(search.words_of(query), seen.contents(prefix), limit)

    async def usage(self) -> Usage:
        seen = self._seen()
        if seen is None:
            return Usage(0, 0, 0, 0)
        head = seen.head
        return Usage(head.state.files, head.state.bytes, head.versions, head.history)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        writer = self._writer()
        if not changes:
            return ()
        if writer is None:
            # What is refused, or changes nothing, makes no store.
            plan = Plan(None, Seen(EMPTY, {}, ()), context.ceiling)
            plan.do(changes)
            if not plan.touched:
                return ()
            self._backend.ensure(self.place)
            writer = self._writer()
            assert writer is not None  # it was made
        job = self.place.job(changes, context)
        try:
            writer.commit(job)
        finally:
            self._backend.note_waiting(self.place)
        return tuple(job.versions)

    async def record(self, context: Context) -> None:
        backend = self._open()
        self.place.records.note(context, backend.now())
        backend.note_waiting(self.place)
        backend.flush_if_due(self.place)

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        backend = self._open()
        self.place.records.use(paths, at_ns, backend.now())
        backend.note_waiting(self.place)
        backend.flush_if_due(self.place)

    async def uses(self) -> Mapping[MemoryPath, int]:
        await self.flush()
        seen = self._seen()
        if seen is None:
            return {}
        found = seen.heads.beneath(MemoryPath.of(()))
        return {path: record.used for path, record in found if record.used is not None}

    async def flush(self) -> None:
        self._open().flush(self.place)

    # ---- audit and holds

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        await self.flush()
        seen = self._seen()
        return () if seen is None else audit.newest_or_next(seen.objects, seen.head, after, limit)

    async def verify_audit(self, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        await self.flush()
        seen = self._seen()
        if seen is None:
            return AuditReport((), 0, AuditHead(self.id, 0, "0" * 64))
        return audit.verify(seen.objects, seen.head, anchors)

    async def holds(self) -> tuple[Hold, ...]:
        seen = self._seen()
        return () if seen is None else self.held(seen.head)

    def held(self, head: Head) -> tuple[Hold, ...]:
        """The holds of a state, in the order of their paths."""
        writer = self.place.writer
        if head.holds is None or writer is None:
            return ()
        rows: list[list[Any]] = json.loads(writer.repository.objects().read_blob(head.holds))
        return tuple(Hold(MemoryPath.of(tuple(names)), *rest) for names, *rest in rows)

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        hold = Hold(path, reason, context.actor, self._backend.now())
        kept = [each for each in await self.holds() if each.path != path]
        self._keep([*kept, hold], path, context)
        return hold

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        held = await self.holds()
        kept = [each for each in held if each.path != path]
        if len(kept) < len(held):
            self._keep(kept, path, context)
        return len(kept) < len(held)

    def _keep(self, holds: Sequence[Hold], path: MemoryPath, context: Context) -> None:
        writer = self._writer()
        if writer is None:
            raise UnknownId("store")
        rows = [
            (hold.path.segments, hold.reason, hold.actor, hold.at_ns)
            for hold in sorted(holds, key=lambda each: each.path.text)
        ]
        noted = replace(context, audit={**context.audit, PATH: path.text}, ceiling=Ceiling())
        self.place.records.note(noted, self._backend.now())
        job = self.place.job((), None)
        job.holds = json.dumps(rows).encode()
        writer.commit(job)

    # ---- history

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        seen = self._seen()
        if seen is None:
            return VersionPage((), None)
        return history.versions(seen.objects, seen.head, where, after, limit, content=content)

    async def id_key(self) -> bytes:
        seen = self._seen()
        if seen is None:
            raise UnknownId("store")
        return seen.head.secret

    async def version(self, version_id: str) -> Version:
        seen = self._seen()
        if seen is None:
            raise UnknownId("version")
        return history.one(seen.objects, seen.head, version_id)

    async def moment(self, at_ns: int) -> Moment:
        seen = self._seen()
        return Moment(0) if seen is None else history.moment(seen.objects, seen.head, at_ns)

    async def redact(self, version_id: str, context: Context) -> Version:
        self._open()
        raise Unsupported("redaction")

    # ---- upkeep

    async def verify(self) -> Report:
        seen = self._seen()
        if seen is None:
            return Report((), (), 0, 0)
        return check.verify(seen.objects, seen.head)

    async def close(self) -> None:
        try:
            if not (self._closed or self._backend.is_closed):
                self._backend.flush(self.place)
        finally:
            self._closed = True

    # ---- their parts

    def _open(self) -> GitBackend:
        """The backend, if neither it nor the store is closed."""
        if self._closed or self._backend.is_closed:
            raise Misuse("The store is closed.")
        return self._backend

    def _writer(self) -> Writer | None:
        """Who writes to the store; None while nobody has made it."""
        backend = self._open()
        backend.flush_if_due(self.place)
        if self.place.writer is None:
            backend.look_for(self.place)
        return self.place.writer

    def _seen(self) -> _Seen | None:
        """The store as it is now; None while nobody has made it."""
        writer = self._writer()
        if writer is None:
            return None
        return _Seen(writer.repository.objects(), writer.head())


class _Seen:
    """One state of a store, for as long as a call takes."""

    def __init__(self, objects: Objects, head: Head) -> None:
        self.objects = objects
        self.head = head
        self.heads = Heads(objects, head.heads)

    def record(self, path: MemoryPath) -> Record:
        """The memory at a path; raises ``NotFound``, ``IsADirectory``."""
        found = None if path.is_root else self.heads.find(path)
        if isinstance(found, Record):
            return found
        if found is not None or path.is_root:
            raise IsADirectory(path)
        raise NotFound(path)

    def contents(self, prefix: MemoryPath) -> Iterator[tuple[MemoryPath, bytes]]:
        """Paths and contents beneath a directory, one by one."""
        for path, record in self.heads.beneath(prefix):
            yield path, self.objects.read_blob(record.blob)
