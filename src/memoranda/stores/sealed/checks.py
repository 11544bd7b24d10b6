"""Whether a content that opens is the one that has to be there: not another's, not an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.digests import sha256
from memoranda.errors import Corrupt
from memoranda.stores.base import VersionFilter
from memoranda.stores.sealed.envelope import UNBOUND, digest_of_memory, digest_of_place, peek
from memoranda.stores.sealed.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Hashable

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Content, Entry, Store
    from memoranda.stores.sealed.envelope import Head
    from memoranda.stores.sealed.ring import Ring

REMEMBERED: Final = 10_000
_LOOKED_BACK: Final = 8
"""How many versions are looked through for the content before the head's; moves keep a content."""


class Checks:
    """Compares what was read with what the store below knows of it; remembers what passed.

    The first read of a content costs a ``stat`` and, unless this process wrote the memory, a look at
    its history; further ones nothing.
    """

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self._passed: Recent[MemoryPath, Hashable] = Recent(REMEMBERED)
        self._newest: Recent[str, int] = Recent(REMEMBERED)

    def wrote(self, memory_id: str, generation: int) -> None:
        """Note that a content was written or found good."""
        self._newest.put(memory_id, max(generation, self._newest.get(memory_id) or 0))

    async def passes(self, ring: Ring, path: MemoryPath, content: Content, head: Head) -> bool:
        """Whether a content is what it has to be; False: it changed meanwhile, read it again.

        Raises ``Corrupt`` for another memory's content, and for one that was put back.
        """
        if self._passed.get(path) == content.stamp:
            return True
        entry = await self._inner.stat(path)
        if entry.sha256 != sha256(content.data).hexdigest():
            return False
        if not await self._is_its_own(ring, entry, head):
            raise Corrupt("it was sealed for another memory")
        if self._newest.get(entry.memory_id) is None:
            self.wrote(entry.memory_id, await self._generation_before(ring, entry))
        if head.generation < (self._newest.get(entry.memory_id) or 0):
            if await self._inner.stat(path) != entry:
                return False
            raise Corrupt("it is an older content of this memory, put back by other means")
        self.wrote(entry.memory_id, head.generation)
        self._passed.put(path, content.stamp)
        return True

    async def _is_its_own(self, ring: Ring, entry: Entry, head: Head) -> bool:
        if head.memory != UNBOUND:
            return head.memory == digest_of_memory(ring, entry.memory_id)
        if head.place == digest_of_place(ring, entry.path):
            return True
        # Made at another path and moved since: its history tells, as long as it goes back so far.
        where, after = VersionFilter(memory_id=entry.memory_id), None
        while True:
            page = await self._inner.versions(where, after=after)
            for version in page.versions:
                if version.path is None:
                    return True
                if head.place == digest_of_place(ring, version.path):
                    return True
                if version.operation == "created":
                    return False
            if page.after is None:
                return True
            after = page.after

    async def _generation_before(self, ring: Ring, entry: Entry) -> int:
        """The generation of the content before the present one; 0 if that isn't known."""
        where = VersionFilter(memory_id=entry.memory_id)
        is_older = False
        for version in (await self._inner.versions(where, limit=_LOOKED_BACK)).versions:
            is_older |= version.id == entry.version_id
            if is_older and version.sha256 not in {None, entry.sha256}:
                return generation_of(ring, (await self._inner.version(version.id)).content)
        return 0


def generation_of(ring: Ring, sealed: bytes | None) -> int:
    """Which content of its memory this is; 0 for one that can't be opened."""
    try:
        return 0 if sealed is None else peek(ring, sealed).generation
    except Corrupt:
        return 0
