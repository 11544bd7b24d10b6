"""A store's immutable objects: pages of its trees and packs of contents, read through the cache.

Each object's name begins with the turn that it was put for, so that what no head names can be told
from what a writer is about to name (``collecting.py``), and ends with a keyed digest of its bytes.
"""

from __future__ import annotations

import os
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from memoranda.digests import blake2b
from memoranda.errors import Corrupt
from memoranda.stores.bucket.port import Wish
from memoranda.stores.bucket.tree import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memoranda.stores.bucket.cache import Cache
    from memoranda.stores.bucket.port import Port
    from memoranda.stores.bucket.tree import Root

NODES: Final = "n"
PACKS: Final = "c"
PACK_BYTES: Final = 1024 * 1024
"""Contents of one batch share an object up to so many bytes; a larger one has its own."""
WEIGHT: Final = 4
"""How many times its stored bytes a page takes in memory, about."""


class Shelf:
    """The objects of one store; ``folder`` is the beginning of their keys."""

    def __init__(self, port: Port, cache: Cache, folder: str, secret: bytes) -> None:
        self._port = port
        self._cache = cache
        self.folder = folder
        self._secret = secret

    async def load(self, names: Sequence[str]) -> list[Node]:
        """See ``tree.Nodes``. Raises ``Missing`` for a page that is gone: a newer head knows better;
        ``Corrupt`` for one whose bytes are not those that were written."""
        found = {name: self._cache.get(self.key(NODES, name)) for name in names}
        missing = [name for name, node in found.items() if node is None]
        if missing:
            keys = [self.key(NODES, name) for name in missing]
            for name, key, data in zip(
                missing, keys, await self._port.get_all([Wish(key) for key in keys]), strict=True
            ):
                if not compare_digest(name.rpartition("-")[2], self.digest(data)):
                    raise Corrupt("A page of the store's index is damaged.")
                node = Node.decode(data)
                self._cache.put(key, node, len(data) * WEIGHT)
                found[name] = node
        nodes = [found[name] for name in names]
        return [node for node in nodes if node is not None]

    async def contents(self, places: Iterable[tuple[str, int]]) -> dict[str, bytes]:
        """Contents by their places, each given with its size; raises ``Missing``."""
        sizes = dict(places)
        found: dict[str, bytes] = {place: b"" for place, size in sizes.items() if not size}
        wanted: list[str] = []
        for place in sizes.keys() - found.keys():
            data = self._cache.get(self.key(PACKS, place))
            if data is None:
                wanted.append(place)
            else:
                found[place] = data
        wishes = [self._wish(place, sizes[place]) for place in wanted]
        for place, data in zip(wanted, await self._port.get_all(wishes), strict=True):
            if len(data) != sizes[place]:
                raise Corrupt("The content of a memory is cut short.")
            self._cache.put(self.key(PACKS, place), data, len(data))
            found[place] = data
        return found

    async def stored(self, place: str, size: int) -> bytes:
        """A content as it is stored, whatever the cache says; raises ``Missing``."""
        if not size:
            return b""
        return (await self._port.get_all([self._wish(place, size)]))[0]

    async def part(self, place: str, start: int, end: int) -> bytes:
        """Some bytes of a content, not kept in the cache; raises ``Missing``."""
        offset = offset_of(place)
        wish = Wish(self.key(PACKS, pack_of(place)), (offset + start, offset + end))
        (data,) = await self._port.get_all([wish])
        return data

    def known(self, place: str) -> bytes | None:
        """A content if it is in the cache."""
        found: bytes | None = self._cache.get(self.key(PACKS, place))
        return found

    def keep(self, place: str, data: bytes) -> None:
        """Have a content in the cache that was just written."""
        self._cache.put(self.key(PACKS, place), data, len(data))

    def key(self, kind: str, name: str) -> str:
        """The whole key of an object."""
        return f"{self.folder}/{kind}/{name}"

    def digest(self, data: bytes) -> str:
        """What an object's name ends with."""
        return blake2b(data, digest_size=20, key=self._secret, person=b"object").hexdigest()

    def name(self, turn: int, data: bytes) -> str:
        """The name of an object that is put for a turn."""
        return f"{turn:010x}-{self.digest(data)}"

    def _wish(self, place: str, size: int) -> Wish:
        offset = offset_of(place)
        return Wish(self.key(PACKS, pack_of(place)), (offset, offset + size))


class Bench(Shelf):
    """A shelf on which a batch puts new objects: pages and packs for one turn."""

    def __init__(self, shelf: Shelf, port: Port, cache: Cache, secret: bytes, turn: int) -> None:
        super().__init__(port, cache, shelf.folder, secret)
        self._turn = turn
        self._made: dict[str, tuple[Node, bytes]] = {}
        self.packs: dict[str, bytes] = {}
        """New packs by their names."""
        self._contents: dict[str, bytes] = {}

    async def load(self, names: Sequence[str]) -> list[Node]:
        """Pages made here, too."""
        old = [name for name in names if name not in self._made]
        found = dict(zip(old, await super().load(old), strict=True)) if old else {}
        return [self._made[name][0] if name in self._made else found[name] for name in names]

    def make(self, node: Node) -> str:
        """See ``tree.Growing``."""
        data = node.encode()
        name = self.name(self._turn, data)
        self._made[name] = (node, data)
        return name

    def pack(self, contents: Sequence[bytes]) -> list[str]:
        """Places for contents, in their order. A pack ends with random bytes: no two have a name in
        common, so that one may be removed whatever others hold."""
        places: list[str] = []
        waiting: list[bytes] = []

        def close() -> None:
            if not waiting:
                return
            data = b"".join((*waiting, os.urandom(16)))
            name = self.name(self._turn, data)
            self.packs[name] = data
            offset = 0
            for one in waiting:
                place = f"{name}@{offset:x}"
                self._contents[place] = one
                places.append(place)
                offset += len(one)
            waiting.clear()

        for content in contents:
            if sum(map(len, waiting)) + len(content) > PACK_BYTES:
                close()
            waiting.append(content)
        close()
        return places

    def keep_all(self) -> None:
        """Have in the cache what was made here, now that it is written."""
        for place, data in self._contents.items():
            self.keep(place, data)
        for name, (node, data) in self._made.items():
            self._cache.put(self.key(NODES, name), node, len(data) * WEIGHT)

    def objects(self, roots: Mapping[str, Root]) -> dict[str, bytes]:
        """What has to be written before a head may name ``roots``: packs, and the pages that these
        roots reach."""
        wanted = {self.key(PACKS, name): data for name, data in self.packs.items()}
        level = [root.name for root in roots.values()]
        while level:
            below: list[str] = []
            for name in level:
                if name in self._made:
                    node, data = self._made[name]
                    wanted[self.key(NODES, name)] = data
                    if node.height:
                        below += [child.name for child in node.values]
            level = below
        return wanted


def pack_of(place: str) -> str:
    """The pack that a place is in."""
    return place.partition("@")[0]


def offset_of(place: str) -> int:
    """Where in its pack a place begins."""
    return int(place.partition("@")[2] or "0", 16)
