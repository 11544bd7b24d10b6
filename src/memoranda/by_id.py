"""Memories as the HTTP API names them: by id, changed under the hash of their content.

Written once and through every layer, as ``programs.py`` is, which has the rest.
"""

from __future__ import annotations

from hashlib import sha256
from os import urandom
from typing import TYPE_CHECKING, Final

from memoranda.errors import Conflict, IsADirectory, NotFound, PreconditionFailed
from memoranda.noted import noted
from memoranda.path import ROOT
from memoranda.retry import apply_with_retry
from memoranda.stores.audit import PATH
from memoranda.stores.base import (
    Change,
    Entry,
    Expect,
    IfVersion,
    Move,
    Put,
    Remove,
    Version,
    VersionFilter,
    VersionPage,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.core import Core
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Store

_LOOKS: Final = 50
"""How often a memory is looked at again that others change meanwhile."""


class ById:
    """The API's side of a memory. Paths are checked ones, contents are bytes.

    Every method may raise ``UnknownId`` for an id that is not (or no longer) here, and what
    ``Memory`` says of programs' methods.
    """

    def __init__(self, core: Core) -> None:
        self.core = core

    # ---- reading

    @noted("read")
    async def read(self, memory_id: str) -> tuple[Entry, bytes]:
        """A live memory and its content, both of one version."""
        store = await self.core.store()
        for _ in range(_LOOKS):
            entry = await store.locate(memory_id)
            try:
                content = (await store.read(entry.path)).data
                if sha256(content).hexdigest() == entry.sha256:
                    await self._note_read(entry.path)
                    return entry, content
                # Somebody writes, or a person saved the file by hand: the longer way knows both.
                found = await self.core.programs.read(entry.path.text)
            except (NotFound, IsADirectory):
                continue  # it moved or went between the two looks
            if found.memory_id == memory_id:
                entry = await store.locate(memory_id)
                if entry.version_id == found.version_id:
                    return entry, found.content
        raise Conflict(_BUSY)

    async def _note_read(self, path: MemoryPath) -> None:
        await self.core.used(path)
        trail = await self.core.trail()
        if trail.keeps_reads:
            await trail.read(self.core.context("read"), {PATH: path.text})

    async def stat(self, memory_id: str) -> Entry:
        """A live memory without its content."""
        return await (await self.core.store()).locate(memory_id)

    async def contents(self, entries: Sequence[Entry]) -> list[bytes | None]:
        """The contents of listed memories, as they were when they were listed; None for one that
        was replaced and redacted since."""
        store = await self.core.store()
        return [await _content(store, entry) for entry in entries]

    @noted("history", reads=True)
    async def versions(
        self, where: VersionFilter, after: str | None, limit: int, content: bool
    ) -> VersionPage:
        """A page of versions, newest first, with their contents if wanted."""
        store = await self.core.store()
        return await store.versions(where, after=after, limit=limit, content=content)

    async def in_the_way(self, path: MemoryPath) -> Entry | None:
        """The memory that keeps another one from ``path``: at it, above it or beneath it."""
        store = await self.core.store()
        for depth in range(1, len(path.segments) + 1):
            here = ROOT
            for name in path.segments[:depth]:
                here = here.child(name)
            try:
                return await store.stat(here)
            except NotFound:
                return None
            except IsADirectory:
                continue
        page = await store.list(path, depth=0, limit=1)
        return next((entry for entry in page.entries if isinstance(entry, Entry)), None)

    # ---- writing

    @noted("write")
    async def create(self, path: MemoryPath, content: bytes) -> Entry:
        """Make a memory at a path that is free, also above and beneath.

        Raises ``AlreadyExists``, ``IsADirectory``, ``NotADirectory``, and a limit.
        """
        store = await self.core.store()
        change = Put(path, content, Expect.ABSENT)
        context = self.core.context("write")
        (version,) = await apply_with_retry(store, (change,), context, self.core.pause)
        return _entry(version, version.created_at_ns)

    async def update(
        self,
        memory_id: str,
        content: bytes | None,
        path: MemoryPath | None,
        if_sha256: str | None,
        if_version: str | None = None,
    ) -> Entry:
        """Give a memory another content, another path or both, in one version.

        What is so already makes no version, and then ``if_sha256`` need not hold: an update whose
        answer got lost may be sent again. Else the present content has to have that hash, or
        ``PreconditionFailed`` is raised, as it is in any case where ``if_version`` is not the memory's
        version. A taken path raises ``AlreadyExists``, ``IsADirectory``
        or ``NotADirectory``.
        """
        store = await self.core.store()
        digest = None if content is None else sha256(content).hexdigest()
        for _ in range(_LOOKS):
            before = await store.locate(memory_id)
            _check_version(before, if_version)
            goes = path is not None and path != before.path
            if not goes and digest in {None, before.sha256}:
                return before
            self._check(before, if_sha256)
            changes = _changes(before, content, path if goes else None)
            try:
                versions = await store.apply(changes, self.core.context("write"))
            except (Conflict, NotFound):
                await self.core.pause(_PAUSE_SECONDS)
                continue  # another writer was faster: what it made of the memory has to be judged
            if versions:
                return _entry(versions[-1], before.created_at_ns)
            return await store.locate(memory_id)  # a layer made the content what it was
        raise Conflict(_BUSY)

    async def remove(
        self, memory_id: str, if_sha256: str | None, if_version: str | None = None
    ) -> None:
        """Remove a memory; its history stays. With ``if_sha256`` only if its content has that
        hash, with ``if_version`` only if that is its version, or ``PreconditionFailed`` is raised."""
        store = await self.core.store()
        for _ in range(_LOOKS):
            before = await store.locate(memory_id)
            _check_version(before, if_version)
            self._check(before, if_sha256)
            change = Remove(before.path, IfVersion(before.version_id))
            try:
                await store.apply((change,), self.core.context("remove"))
            except (Conflict, NotFound, IsADirectory):
                await self.core.pause(_PAUSE_SECONDS)
                continue
            return
        raise Conflict(_BUSY)

    def _check(self, entry: Entry, if_sha256: str | None) -> None:
        if if_sha256 not in {None, entry.sha256}:
            raise PreconditionFailed


def _check_version(entry: Entry, if_version: str | None) -> None:
    if if_version not in {None, entry.version_id}:
        raise PreconditionFailed


_BUSY: Final = "Other writers were faster each time."
_PAUSE_SECONDS: Final = 0.002


def _changes(before: Entry, content: bytes | None, path: MemoryPath | None) -> list[Change]:
    """A batch that makes one version, on top of the one that was looked at."""
    expect = IfVersion(before.version_id)
    changes: list[Change] = []
    if content is not None:
        changes.append(Put(before.path, content, expect))
    if path is not None:
        source = before.path
        if source.is_below(path):
            # Its own directory is in its way; it goes with the memory.
            aside = ROOT.child(f"moving-{urandom(16).hex()}")
            changes.append(Move(source, aside, expect if content is None else Expect.ANY))
            changes.append(Move(aside, path))
        else:
            changes.append(Move(source, path, expect if content is None else Expect.ANY))
    return changes


def _entry(version: Version, created_at_ns: int) -> Entry:
    """What lives right after a version."""
    assert version.path is not None  # it was written just now
    assert version.sha256 is not None
    assert version.size_bytes is not None
    return Entry(
        version.path,
        version.memory_id,
        version.id,
        version.size_bytes,
        version.sha256,
        created_at_ns,
        version.created_at_ns,
    )


async def _content(store: Store, entry: Entry) -> bytes | None:
    try:
        present = (await store.read(entry.path)).data
        if sha256(present).hexdigest() == entry.sha256:
            return present
    except (NotFound, IsADirectory):
        pass
    return (await store.version(entry.version_id)).content
