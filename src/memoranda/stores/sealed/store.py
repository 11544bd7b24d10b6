"""A store whose contents are sealed before the store below sees them, and opened on their way back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    Corrupt,
    IsADirectory,
    NotADirectory,
    NotFound,
    ReadOnly,
    Unavailable,
    UnknownId,
    Unsupported,
)
from memoranda.light_dataclasses import replace
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import (
    LISTING_CHUNK,
    Ceiling,
    Content,
    Context,
    Directory,
    Edit,
    Entry,
    Hit,
    Outline,
    Page,
    Problem,
    Put,
    Report,
    Store,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
    WrapperStore,
)
from memoranda.stores.beneath import memories_beneath
from memoranda.stores.log import search
from memoranda.stores.outlines import outline_of
from memoranda.stores.sealed.checks import Checks, generation_of
from memoranda.stores.sealed.envelope import (
    OVERHEAD_BYTES,
    UNBOUND,
    digest_of_memory,
    key_id_of,
    peek,
    unseal,
)
from memoranda.stores.sealed.recent import Recent
from memoranda.stores.sealed.rewriting import NOTHING, Rewriter, path_before, unreadable

if TYPE_CHECKING:
    from memoranda.stores.base import Change, Moment
    from memoranda.stores.sealed.ring import Loaded, Ring, RingKeeper

TRIES: Final = 50
"""How often a batch is planned anew because memories came or went meanwhile."""

LOOKS: Final = 20
"""How often a content is read anew that changed while it was looked at."""

SEARCHED_BYTES: Final = 64 * 1024 * 1024
"""How much a search opens at most; it reads all contents."""

REMEMBERED: Final = 10_000
KEPT_BYTES: Final = 64 * 1024
"""Contents from this size on are kept opened, one at a time: they are read in parts."""

VERIFIED_AT_ONCE: Final = 50
_REMEDY: Final = (
    "Restore an older version, or write it anew; find out who can write to the storage."
)
_NO_KEYS: Final = (
    "This store has no keys: either it was filled without sealed: (then leave that off; memoranda copy"
    " seals it into another place), or the keys of this store are gone."
)
_BY: Final = Context(actor="memoranda", command="read")


class SealedStore(WrapperStore):
    """A store layer, the innermost one: the store below gets AES-256-GCM and keeps it.

    Paths, ids, times, actors and audit stay readable; contents, hashes and what search finds do not.
    Sizes and hashes that it shows are those of the plain texts. ``docs/formats/sealed.md`` says what
    is bound to what, ``docs/security.md`` which attacks show.
    """

    def __init__(self, inner: Store, keeper: RingKeeper) -> None:
        super().__init__(inner)
        self._keeper = keeper
        self._loaded: Loaded | None = None
        self._hashes: Recent[str, str] = Recent(REMEMBERED)
        self._checks = Checks(inner)
        self._large: tuple[MemoryPath, Content] | None = None

    # ---- keys

    async def load(self) -> Loaded | None:
        """Read the keys, so that a wrong one shows at once; None where nobody has made them yet.

        Raises ``Misuse``, ``Corrupt``.
        """
        before = self._loaded
        found = await self._keeper.load(before)
        if before is not None and (found is None or found.ring.binding != before.ring.binding):
            raise UnknownId("store")  # it was erased, whoever has its place now
        if found is not None:  # else somebody may have made them since, and noted it here
            self._loaded = found
        return found

    async def _ring(self) -> Ring:
        """The keys to open contents with."""
        loaded = self._loaded or await self.load()
        if loaded is None:
            raise Corrupt(_NO_KEYS)
        return loaded.ring

    async def _ring_for(self, sealed: bytes) -> Ring:
        """The keys to open a content with, read anew where somebody has added one since."""
        ring = await self._ring()
        if ring.has(key_id_of(sealed)):
            return ring
        loaded = await self.load()
        return ring if loaded is None else loaded.ring

    async def _newest_ring(self) -> Ring:
        """The keys to seal with, made if there are none yet."""
        loaded = await self.load()
        if loaded is None:
            loaded = self._loaded = await self._keeper.make()
        return loaded.ring

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        large = self._large
        if large is not None and large[0] == path:
            probe = await self.inner.read(path, 0, 0)
            if probe.stamp == large[1].stamp:
                return _part(large[1], start, length)
        seen: Hashable = None
        settled = False
        for _ in range(LOOKS):
            content = await self.inner.read(path)
            ring = await self._ring_for(content.data)
            try:
                head, plain = unseal(ring, content.data)
                passes = await self._checks.passes(ring, path, content, head)
            except Corrupt as error:
                raise unreadable(path, error) from None
            if passes:
                found = Content(plain, len(plain), content.stamp)
                if len(plain) >= KEPT_BYTES:
                    self._large = path, found
                return _part(found, start, length)
            if settled and seen == content.stamp:
                raise unreadable(path, Corrupt("it is not what its history says"))
            if seen == content.stamp:
                await self._settle(path)
                settled = True
            seen = content.stamp
        raise Unavailable(f"{path} changed each time it was read.")

    async def _settle(self, path: MemoryPath) -> None:
        """Have a folder's files agree with its history: what somebody else saved becomes a version,
        what was committed comes into the files."""
        with suppress(Conflict, ReadOnly):
            await self.inner.apply((Edit(path, lambda old: NOTHING),), _BY)

    async def stat(self, path: MemoryPath) -> Entry:
        return await self._entry(await self.inner.stat(path))

    async def locate(self, memory_id: str) -> Entry:
        return await self._entry(await self.inner.locate(memory_id))

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        sizes = [
            (one.path, _plain_size(one.size_bytes))
            for one in await memories_beneath(self.inner, directory)
        ]
        if not sizes:
            return await self.inner.outline(directory, line_chars)
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
        page = await self.inner.list(prefix, depth=depth, after=after, limit=limit, at=at)
        entries: list[Entry | Directory] = []
        for one in page.entries:
            if isinstance(one, Entry):
                entries.append(await self._entry(one))
            else:
                sizes = [
                    _plain_size(below.size_bytes)
                    for below in await memories_beneath(self.inner, one.path, at)
                ]
                entries.append(Directory(one.path, sum(sizes)))
        return Page(tuple(entries), page.after)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        words = search.words_of(query)
        entries = await memories_beneath(self.inner, prefix)
        if sum(one.size_bytes for one in entries) > SEARCHED_BYTES:
            raise Unsupported(f"search in more than {SEARCHED_BYTES} bytes of sealed contents")
        found: list[Hit] = []
        for one in entries:
            if len(found) >= limit:
                break
            with suppress(Corrupt, NotFound, IsADirectory):
                plain = (await self.read(one.path)).data
                found += search.hits(words, iter([(one.path, plain)]), 1)
        return tuple(found)

    async def usage(self) -> Usage:
        usage = await self.inner.usage()
        plain = max(0, usage.size_bytes - usage.files * OVERHEAD_BYTES)
        return usage._replace(size_bytes=plain)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        context = replace(context, ceiling=_raised(context.ceiling), wants_ids=True)
        planned: object = None
        for _ in range(TRIES):
            ring = await self._newest_ring()
            heads = await self._heads(changes)
            rewriter = Rewriter(ring, changes, heads)
            batch = rewriter.rewritten(await self._floors(ring, changes))
            try:
                versions = await self.inner.apply(batch, context)
            except (AlreadyExists, NotFound, NotADirectory, IsADirectory):
                # Perhaps only because a memory came or went since the batch was planned.
                if planned == heads:
                    raise
                planned = heads
            except Corrupt:
                # Perhaps only because somebody added a key and wrote with it, since ours was read.
                if await self._newest_ring() is ring:
                    raise
            else:
                return await self._noted(versions, rewriter)
        raise Conflict("Other writers were faster each time.")

    async def _heads(self, changes: Sequence[Change]) -> dict[MemoryPath, Entry]:
        """The memories of before the batch that its changes give a content."""
        heads: dict[MemoryPath, Entry] = {}
        for number, change in enumerate(changes):
            if isinstance(change, Put | Edit):
                was = path_before(changes[:number], change.path)
                if isinstance(was, MemoryPath) and was not in heads:
                    with suppress(NotFound, IsADirectory):
                        heads[was] = await self.inner.stat(was)
        return heads

    async def _floors(self, ring: Ring, changes: Sequence[Change]) -> dict[str, int]:
        """The newest generation of each memory that comes back."""
        floors: dict[str, int] = {}
        for change in changes:
            if isinstance(change, Put) and change.keep_id is not None:
                where = VersionFilter(memory_id=change.keep_id)
                page = await self.inner.versions(where, limit=LISTING_CHUNK, content=False)
                for version in page.versions:
                    if version.sha256 is not None:
                        content = (await self.inner.version(version.id)).content
                        floors[change.keep_id] = generation_of(ring, content)
                        break
        return floors

    async def _noted(self, versions: Sequence[Version], rewriter: Rewriter) -> tuple[Version, ...]:
        for version in versions:
            written = rewriter.written.get(version.sha256 or "")
            if written is not None:
                self._hashes.put(version.sha256 or "", written.sha256)
                self._checks.wrote(version.memory_id, written.generation)
        return tuple([await self._version(version) for version in versions])

    # ---- history

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        page = await self.inner.versions(where, after=after, limit=limit, content=content)
        shown = [await self._version(version) for version in page.versions]
        return VersionPage(tuple(shown), page.after)

    async def version(self, version_id: str) -> Version:
        version = await self.inner.version(version_id)
        if version.content is None:
            return version
        try:
            return await self._opened(version, version.content)
        except Corrupt as error:
            raise Corrupt(f"The version can't be opened: {error}.") from None

    # ---- upkeep

    async def verify(self) -> Report:
        report = await self.inner.verify()
        self._large = None
        problems, notes = list(report.problems), list(report.notes)
        for one in await memories_beneath(self.inner, ROOT):
            try:
                await self.read(one.path)
            except Corrupt as error:
                problems.append(Problem("unsealable", str(error), _REMEDY, one.path))
            except (NotFound, IsADirectory):
                continue  # somebody removed it meanwhile
        after = None
        while True:
            page = await self.inner.versions(after=after, limit=VERIFIED_AT_ONCE, content=True)
            for version in page.versions:
                try:
                    if version.content is not None:
                        await self._opened(version, version.content)
                except Corrupt as error:
                    said = f"The version {version.id} can't be opened: {error}."
                    notes.append(Problem("unsealable_version", said, _REMEDY, version.path))
            if page.after is None:
                return report._replace(problems=tuple(problems), notes=tuple(notes))
            after = page.after

    async def repair(self) -> Report:
        await self.inner.repair()
        return await self.verify()

    async def close(self) -> None:
        self._large = None
        try:
            await self._keeper.close()
        finally:
            await self.inner.close()

    # ---- what the store below says, as the caller is to see it

    async def _entry(self, entry: Entry) -> Entry:
        shown = await self._plain_sha256(entry.sha256, entry.version_id)
        return entry._replace(size_bytes=_plain_size(entry.size_bytes), sha256=shown)

    async def _version(self, version: Version) -> Version:
        if version.sha256 is None or version.size_bytes is None:
            return version
        if version.content is not None:
            with suppress(Corrupt):
                return await self._opened(version, version.content)
        shown = await self._plain_sha256(version.sha256, version.id)
        size_bytes = _plain_size(version.size_bytes)
        return version._replace(size_bytes=size_bytes, sha256=shown, content=None)

    async def _opened(self, version: Version, sealed: bytes) -> Version:
        ring = await self._ring_for(sealed)
        head, plain = unseal(ring, sealed)
        if head.memory not in {UNBOUND, digest_of_memory(ring, version.memory_id)}:
            raise Corrupt("it was sealed for another memory")
        return version._replace(size_bytes=len(plain), sha256=head.sha256, content=plain)

    async def _plain_sha256(self, sealed_sha256: str, version_id: str) -> str:
        """The hash of the plain text; where that can't be opened, of what lies there."""
        known = self._hashes.get(sealed_sha256)
        if known is None:
            known = sealed_sha256
            with suppress(Corrupt, UnknownId):
                sealed = (await self.inner.version(version_id)).content
                known = peek(await self._ring_for(sealed or b""), sealed or b"").sha256
                self._hashes.put(sealed_sha256, known)
        return known


def _raised(ceiling: Ceiling) -> Ceiling:
    return ceiling._replace(beside_bytes=ceiling.beside_bytes + OVERHEAD_BYTES)


def _plain_size(size_bytes: int) -> int:
    return max(0, size_bytes - OVERHEAD_BYTES)


def _part(content: Content, start: int, length: int | None) -> Content:
    end = content.size_bytes if length is None else start + length
    return content._replace(data=content.data[start:end])
