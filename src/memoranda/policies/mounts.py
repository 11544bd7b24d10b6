"""Other stores under paths of this one: a store around several stores, the outermost layer.

Each store below comes inside its own layers, so what is done to it is judged by its own rules and is
an entry of its own audit. What is asked of the memory as a whole (sizes, holds, the audit, checks) is
answered by its own store.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Final, Literal

from memoranda.errors import (
    AcrossMounts,
    AlreadyExists,
    IsADirectory,
    MountPoint,
    NotFound,
    UnknownId,
    Unsupported,
)
from memoranda.path import ROOT, MemoryPath
from memoranda.policies.mounted import Mounted
from memoranda.policies.mounts_outline import outline_with
from memoranda.stores.base import (
    LISTING_CHUNK,
    Change,
    Content,
    Context,
    Directory,
    Edit,
    Entry,
    Hit,
    Hold,
    Moment,
    Move,
    Outline,
    Page,
    Problem,
    Put,
    Store,
    Version,
    VersionFilter,
    VersionPage,
    WrapperStore,
)

_HIDDEN: Final = "hidden_by_mount"
_REMEDY: Final = "Move it elsewhere with a memory opened without this mount."


class MountStores(WrapperStore):
    """The store ``inner``, with others shown under paths of it.

    A mount point is a directory that always exists. It can't be made, removed, moved or moved onto,
    nor can what it lies in be removed or moved (``MountPoint``). A batch changes one store:
    what would change several, a move from one to another among it, raises ``AcrossMounts``.

    The past (``list(at=...)``, versions of no path or of one above the mounts) is that of ``inner``;
    that of a mounted store is asked for with a path in it. Its moments can't be.
    """

    def __init__(self, inner: Store, mounts: Sequence[Mounted]) -> None:
        super().__init__(inner)
        self._mounts = tuple(mounts)

    def _at(self, path: MemoryPath) -> Mounted | None:
        """The mount that a path lies in; None for what is the store's own."""
        for mount in self._mounts:
            if mount.holds(path):
                return mount
        return None

    def own_at(self, path: MemoryPath) -> Store:
        """The memory's own store, for what is done with its past; raises ``Unsupported`` for a path
        in a mount."""
        if self._at(path) is not None:
            raise Unsupported("this through a mount; open the mounted memory itself")
        return self.inner

    def _beneath(self, path: MemoryPath) -> list[Mounted]:
        """The mounts that lie beneath a path."""
        return [mount for mount in self._mounts if mount.point.is_below(path)]

    def _check_is_no_directory(self, path: MemoryPath) -> None:
        """Raise ``IsADirectory`` for mount points and what they lie in."""
        if any(mount.point == path for mount in self._mounts) or self._beneath(path):
            raise IsADirectory(path)

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        self._check_is_no_directory(path)
        mount = self._at(path)
        if mount is None:
            return await self.inner.read(path, start, length)
        return await mount.call(mount.store.read(mount.inward(path), start, length))

    async def stat(self, path: MemoryPath) -> Entry:
        self._check_is_no_directory(path)
        mount = self._at(path)
        if mount is None:
            return await self.inner.stat(path)
        return await mount.call(mount.store.stat(mount.inward(path)), mount.entry)

    async def locate(self, memory_id: str) -> Entry:
        try:
            return await self.inner.locate(memory_id)
        except UnknownId:
            for mount in self._mounts:
                try:
                    return mount.entry(await mount.store.locate(memory_id))
                except UnknownId:
                    continue
            raise

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        mount = self._at(directory)
        if mount is not None:
            inside = mount.inward(directory)
            return await mount.call(mount.store.outline(inside, line_chars))
        mounts = self._beneath(directory)
        if not mounts:
            return await self.inner.outline(directory, line_chars)
        return await outline_with(self.inner, mounts, directory, line_chars)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        mount = self._at(prefix)
        if mount is not None:
            if at is not None:
                raise Unsupported("the past of a mounted memory; open that memory itself")
            return await _mounted_page(mount, mount.inward(prefix), depth, after, limit)
        mounts = self._beneath(prefix)
        if not mounts or at is not None:
            return await self.inner.list(prefix, depth=depth, after=after, limit=limit, at=at)
        own = await self._own_entries(prefix, depth, after, limit)
        if depth:
            return _cut(await _with_directories(own, mounts, prefix, after), limit)
        # One more than fits, so that it is known whether there is more.
        pages = [
            (await _mounted_page(each, ROOT, depth, after, limit + 1)).entries for each in mounts
        ]
        return _cut(list(heapq.merge(own, *pages, key=_position)), limit)

    async def _own_entries(
        self, prefix: MemoryPath, depth: Literal[0, 1], after: str | None, limit: int
    ) -> Sequence[Entry | Directory]:
        """One more than ``limit`` of what is the store's own, without what a mount hides."""
        found: list[Entry | Directory] = []
        while True:
            page = await self.inner.list(prefix, depth=depth, after=after, limit=limit + 1)
            found += [each for each in page.entries if self._at(each.path) is None]
            after = page.after
            if after is None or len(found) > limit:
                return found

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        mount = self._at(prefix)
        if mount is not None:
            return await _search(mount, query, mount.inward(prefix), limit)
        hits: list[Hit] = [
            hit
            for hit in await self.inner.search(query, prefix, limit=limit)
            if self._at(hit.path) is None
        ]
        for each in self._beneath(prefix):
            hits += await _search(each, query, ROOT, limit)
        return tuple(sorted(hits, key=lambda hit: hit.path.store_path)[:limit])

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        touched = {self._checked(change) for change in changes}
        if len(touched) > 1:
            first = changes[0]
            path = first.source if isinstance(first, Move) else first.path
            raise AcrossMounts(path)
        for mount in touched:
            if mount is not None:
                batch = [mount.change(change) for change in changes]
                return await mount.call(
                    mount.store.apply(batch, mount.context(context)), mount.versions
                )
        return await self.inner.apply(changes, context)

    def _checked(self, change: Change) -> Mounted | None:
        """The store that a change is about; raises what no single store can know."""
        if isinstance(change, Put | Edit):
            if not change.path.is_root:
                self._check_is_no_directory(change.path)
            return self._at(change.path)
        source = change.source if isinstance(change, Move) else change.path
        for each in self._mounts:
            is_in_it = _is_at_or_in(each, source)
            if is_in_it and not source.is_root:  # of the root the store says what it is
                raise MountPoint(each.point)
        mount = self._at(source)
        if isinstance(change, Move):
            target = change.target
            if any(each.point == target for each in self._mounts) or self._beneath(target):
                raise AlreadyExists(target)
            if self._at(target) is not mount:
                raise AcrossMounts(source, target)
        return mount

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        own = [path for path in paths if self._at(path) is None]
        if own:
            await self.inner.touch(own, at_ns)
        for mount in self._mounts:
            inside = [mount.inward(path) for path in paths if path.is_below(mount.point)]
            if inside:
                await mount.store.touch(inside, at_ns)

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        self._check_own(path)
        return await self.inner.hold(path, reason, context)

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        self._check_own(path)
        return await self.inner.lift(path, context)

    def _check_own(self, path: MemoryPath) -> None:
        if self._at(path) is not None:
            raise Unsupported("holds through a mount; open the mounted memory itself")

    # ---- history

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        mount = None if where.path is None else self._at(where.path)
        if mount is None:
            return await self.inner.versions(where, after=after, limit=limit, content=content)
        page = await mount.store.versions(
            mount.filter(where), after=after, limit=limit, content=content
        )
        return page._replace(versions=mount.versions(page.versions))

    async def version(self, version_id: str) -> Version:
        try:
            return await self.inner.version(version_id)
        except UnknownId:
            mount = await self._mount_of_version(version_id)
            if mount is None:
                raise
            return await mount.call(mount.store.version(version_id), mount.version)

    async def redact(self, version_id: str, context: Context) -> Version:
        try:
            return await self.inner.redact(version_id, context)
        except UnknownId:
            mount = await self._mount_of_version(version_id)
            if mount is None:
                raise
            return await mount.call(mount.store.redact(version_id, context), mount.version)

    async def _mount_of_version(self, version_id: str) -> Mounted | None:
        for mount in self._mounts:
            try:
                await mount.store.version(version_id)
            except UnknownId:
                continue
            return mount
        return None

    # ---- upkeep

    async def flush(self) -> None:
        await self.inner.flush()
        for mount in self._mounts:
            await mount.store.flush()

    async def notices(self) -> tuple[Problem, ...]:
        return (*await self.inner.notices(), *await self.hidden())

    async def hidden(self) -> tuple[Problem, ...]:
        """What of the store's own nobody sees because a mount is in its place."""
        found: list[Problem] = []
        for mount in self._mounts:
            path = await _first_hidden(self.inner, mount.point)
            if path is not None:
                said = f"{path} is hidden by the mount {mount.point}."
                found.append(Problem(_HIDDEN, said, _REMEDY, path))
        return tuple(found)

    async def close(self) -> None:
        await self.inner.close()
        for mount in self._mounts:
            await mount.store.close()


def _is_at_or_in(mount: Mounted, path: MemoryPath) -> bool:
    """Whether a path is a mount point, or a directory in which it lies."""
    return mount.point == path or mount.point.is_below(path)


async def _first_hidden(own: Store, point: MemoryPath) -> MemoryPath | None:
    """A memory at the mount point, beneath it, or in place of a directory above it."""
    for number in range(1, len(point.segments) + 1):
        path = MemoryPath.of(point.segments[:number])
        try:
            await own.stat(path)
        except NotFound:
            return None
        except IsADirectory:
            continue
        return path
    page = await own.list(point, limit=1)
    return page.entries[0].path if page.entries else None


def _position(one: Entry | Directory) -> str:
    """What a listing is sorted by, and goes on after."""
    path = one.path.store_path
    return f"{path}/" if isinstance(one, Directory) else path


def _cut(entries: Sequence[Entry | Directory], limit: int) -> Page:
    shown = tuple(entries[:limit])
    return Page(shown, _position(shown[-1]) if len(entries) > limit else None)


async def _mounted_page(
    mount: Mounted, prefix: MemoryPath, depth: Literal[0, 1], after: str | None, limit: int
) -> Page:
    """A page of a mounted store, as the memory shows it."""
    goes_on, position = mount.after(after)
    if not goes_on:
        return Page((), None)
    page = await mount.call(mount.store.list(prefix, depth=depth, after=position, limit=limit))
    entries = tuple(mount.listed(each) for each in page.entries)
    following = None if page.after is None else mount.point.store_path + page.after
    return Page(entries, following)


async def _with_directories(
    own: Sequence[Entry | Directory],
    mounts: Sequence[Mounted],
    prefix: MemoryPath,
    after: str | None,
) -> Sequence[Entry | Directory]:
    """Children of ``prefix``, with the directories that the mounts are or lie in."""
    sizes: dict[MemoryPath, int] = {}
    n = len(prefix.segments)
    for mount in mounts:
        child = MemoryPath.of(mount.point.segments[: n + 1])
        sizes[child] = sizes.get(child, 0) + (await mount.store.usage()).size_bytes
    found: list[Entry | Directory] = []
    for one in own:
        if isinstance(one, Directory):
            one = one._replace(size_bytes=one.size_bytes + sizes.pop(one.path, 0))
        found.append(one)
    found += [new for new in (Directory(*row) for row in sizes.items()) if _is_after(new, after)]
    return sorted(found, key=_position)


def _is_after(one: Directory, after: str | None) -> bool:
    return after is None or _position(one) > after


async def _search(mount: Mounted, query: str, prefix: MemoryPath, limit: int) -> tuple[Hit, ...]:
    if not mount.store.capabilities.searches:
        raise Unsupported(f"search in what is mounted at {mount.point}")
    hits = await mount.call(mount.store.search(query, prefix, limit=limit))
    return tuple(hit._replace(path=mount.outward(hit.path)) for hit in hits)
