"""A store of a Memory Stores API."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from memoranda.digests import sha256
from memoranda.errors import (
    IsADirectory,
    Misuse,
    NotFound,
    NotRedactable,
    Unavailable,
    UnknownId,
    Unsupported,
)
from memoranda.path import ROOT
from memoranda.stores.base import (
    LISTING_CHUNK,
    Capabilities,
    Content,
    Entry,
    Hit,
    Moment,
    Outline,
    Page,
    Problem,
    Remove,
    Report,
    Store,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)
from memoranda.stores.outlines import outline_of
from memoranda.stores.remote import history, listing
from memoranda.stores.remote.faults import Declined
from memoranda.stores.remote.listing import MISSING
from memoranda.stores.remote.shapes import entry_of, is_id, version_of
from memoranda.stores.remote.steps import Create, Delete
from memoranda.stores.remote.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from anthropic.types.beta.memory_stores import BetaManagedAgentsMemory

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Context
    from memoranda.stores.remote.backend import Place, RemoteBackend
    from memoranda.stores.remote.writing import Done

CAPABILITIES: Final = Capabilities(searches=False, shared_by_machines=True)
_LOOKS: Final = 5
"""How often a memory is looked for that moves while it is read."""


class RemoteStore(Store):
    """A handle on one store of a ``RemoteBackend``."""

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(self, backend: RemoteBackend, place: Place) -> None:
        self._backend = backend
        self.place = place
        self._closed = False
        # By the backend: one class for both colours.
        self.suspends = backend.suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    @property
    def id(self) -> str:
        """The store's id. The server gives it: a user's store that nobody has made yet has a made-up
        one until then."""
        return self.place.id

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        entry, data = await self._retrieved(path, view="full")
        end = None if length is None else start + max(0, length)
        return Content(data[start:end], len(data), entry.version_id)

    async def stat(self, path: MemoryPath) -> Entry:
        return (await self._retrieved(path, view="basic"))[0]

    async def locate(self, memory_id: str) -> Entry:
        store_id = await self._made()
        if store_id is not None and is_id(memory_id, "mem_"):
            found = await self._by_id(store_id, memory_id, "basic")
            entry = None if found is None else entry_of(found)
            if entry is not None:
                return entry
        raise UnknownId("memory")

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        store_id = await self._made()
        entries: list[Entry] = []
        if store_id is not None:
            entries = await listing.beneath(self._backend.port, store_id, directory)
        if not entries and not directory.is_root:
            raise NotFound(directory)
        sizes = [(entry.path, entry.size_bytes) for entry in entries]
        return outline_of(directory, sizes, line_chars)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        store_id = await self._made()
        if store_id is None:
            return Page((), None)
        port = self._backend.port
        if at is None:
            entries = await listing.beneath(port, store_id, prefix)
        else:
            entries = await history.at(port, store_id, at, prefix)
        return listing.paged(entries, prefix, depth, after, limit)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        self._open()
        raise Unsupported("search")

    async def usage(self) -> Usage:
        store_id = await self._made()
        if store_id is None:
            return Usage(0, 0, 0, 0)
        port = self._backend.port
        entries = await listing.beneath(port, store_id, ROOT)
        n_versions, size_bytes = await history.count(port, store_id)
        total = sum(entry.size_bytes for entry in entries)
        return Usage(len(entries), total, n_versions, size_bytes)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        backend = self._open()
        if not changes:
            return ()
        if context.at_ns is not None:
            raise Unsupported("taking over a history")
        store_id = await self._made()
        if store_id is None:
            # What is refused, or changes nothing, makes no store.
            writer = Writer(backend.port, "")
            if not await writer.plan_on_nothing(changes, context.ceiling):
                return ()
            store_id = await backend.ensure(self.place)
        async with backend.port.turn(store_id):
            done = await Writer(backend.port, store_id).apply(changes, context.ceiling)
            return await self._versions_of(store_id, changes, done)

    async def record(self, context: Context) -> None:
        """Nothing: the API takes no notes. What is changed, the server notes itself."""
        self._open()

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        """Nothing: the API keeps no last access."""
        self._open()

    async def _versions_of(
        self, store_id: str, changes: Sequence[Change], done: Sequence[Done]
    ) -> tuple[Version, ...]:
        """The versions that steps made, as the history shows them. Whose key this is comes from the
        first one; a removal has to be asked for, so the many of a directory are left out."""
        found: list[Version] = []
        removes_many = any(isinstance(each, Remove) for each in changes) and (
            sum(isinstance(each.step, Delete) for each in done)
            > sum(isinstance(each, Remove) for each in changes)
        )
        last = {_memory_of(each): number for number, each in enumerate(done)}
        for number, each in enumerate(done):
            if last[_memory_of(each)] != number:
                continue  # moved aside on its way
            if each.entry is not None:
                is_new = isinstance(each.step, Create)
                found.append(await self._version_of(store_id, each.entry, is_new=is_new))
            elif not removes_many and isinstance(each.step, Delete):
                where = VersionFilter(memory_id=each.step.seen.memory_id, operation="deleted")
                page = await history.versions(
                    self._backend.port, store_id, where, None, 1, content=False
                )
                found += page.versions
        return tuple(found)

    async def _version_of(self, store_id: str, entry: Entry, *, is_new: bool) -> Version:
        backend = self._backend
        if backend.actor is None:
            backend.actor = (await history.one(backend.port, store_id, entry.version_id)).actor
        at_us = entry.updated_at_ns // 1000
        return Version(
            entry.version_id,
            entry.memory_id,
            "created" if is_new else "modified",
            entry.path,
            backend.actor,
            "",
            entry.updated_at_ns,
            at_us,
            entry.size_bytes,
            entry.sha256,
            batch=at_us,
        )

    # ---- history

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        store_id = await self._made()
        if store_id is None:
            return VersionPage((), None)
        return await history.versions(
            self._backend.port, store_id, where, after, limit, content=content
        )

    async def version(self, version_id: str) -> Version:
        store_id = await self._made()
        if store_id is None:
            raise UnknownId("version")
        return await history.one(self._backend.port, store_id, version_id)

    async def moment(self, at_ns: int) -> Moment:
        store_id = await self._made()
        if store_id is None:
            return Moment(0)
        return await history.moment(self._backend.port, store_id, at_ns)

    async def redact(self, version_id: str, context: Context) -> Version:
        store_id = await self._made()
        if store_id is None or not is_id(version_id, "memver_"):
            raise UnknownId("version")
        try:
            # Redacting again changes nothing, so it may be sent again.
            answer = await self._backend.port.look(
                lambda stores: stores.memory_versions.redact(version_id, memory_store_id=store_id)
            )
        except Declined as error:
            if error.status == MISSING:
                raise UnknownId("version") from error
            if error.status == 400:
                raise NotRedactable from error
            raise
        found = version_of(answer)
        if found is None or found.redacted_at_ns is None:
            raise Unavailable("The memory server did not say that the version is redacted.")
        return found

    # ---- upkeep

    async def verify(self) -> Report:
        """Contents against their hashes and sizes: all that can be seen from here."""
        store_id = await self._made()
        if store_id is None:
            return Report((), (), 0, 0)
        port = self._backend.port
        found = await listing.contents(port, store_id)
        problems = [
            Problem(
                "content",
                "The server gives another content than its hash and size say.",
                "Have the server's store verified where it lies.",
                entry.path,
            )
            for entry, content in found
            if entry.size_bytes != len(content) or entry.sha256 != sha256(content).hexdigest()
        ]
        n_versions, _ = await history.count(port, store_id)
        return Report(tuple(problems), (), len(found), n_versions)

    async def close(self) -> None:
        self._closed = True

    # ---- their parts

    def _open(self) -> RemoteBackend:
        """The backend, if neither it nor the store is closed."""
        if self._closed or self._backend.is_closed:
            raise Misuse("The store is closed.")
        return self._backend

    async def _made(self) -> str | None:
        """The store's id; None while nobody has made it."""
        backend = self._open()
        if not self.place.is_made:
            await backend.look_for(self.place)
        return self.place.id if self.place.is_made else None

    async def _retrieved(
        self, path: MemoryPath, view: Literal["basic", "full"]
    ) -> tuple[Entry, bytes]:
        """The memory at a path, with its content in the full view: by the id that it had when it was
        last seen, else looked for."""
        store_id = await self._made()
        if path.is_root:
            raise IsADirectory(path)
        if store_id is None:
            raise NotFound(path)
        known = self.place.known(path)
        for _ in range(_LOOKS):
            if known is None:
                known = (await listing.find(self._backend.port, store_id, path)).memory_id
            found = await self._by_id(store_id, known, view)
            entry = None if found is None else entry_of(found)
            if found is not None and entry is not None and entry.path == path:
                self.place.know(entry)
                return entry, (found.content or "").encode()
            self.place.forget(path)
            known = None
        raise Unavailable("The memory moves each time it is looked at.")

    async def _by_id(
        self, store_id: str, memory_id: str, view: Literal["basic", "full"]
    ) -> BetaManagedAgentsMemory | None:
        try:
            return await self._backend.port.look(
                lambda stores: stores.memories.retrieve(
                    memory_id, memory_store_id=store_id, view=view
                )
            )
        except Declined as error:
            if error.status == MISSING:
                return None
            raise


def _memory_of(done: Done) -> str:
    if done.entry is not None:
        return done.entry.memory_id
    assert isinstance(done.step, Delete)
    return done.step.seen.memory_id
