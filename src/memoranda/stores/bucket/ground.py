"""What all parts of one backend stand on: the port, the cache, the bucket's own object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.stores.bucket import probe
from memoranda.stores.bucket.cache import Cache
from memoranda.stores.bucket.control import Roots
from memoranda.stores.bucket.shelf import Bench

if TYPE_CHECKING:
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.port import Port
    from memoranda.stores.bucket.shelf import Shelf


class Ground:
    """One bucket, as one backend reaches it."""

    def __init__(self, port: Port, cache_bytes: int) -> None:
        self.port = port
        self.cache = Cache(cache_bytes)
        self.roots = Roots(port)
        self._is_checked = False

    async def check(self) -> None:
        """Before the first write: refuse a server that ignores conditions (``probe.py``)."""
        if not self._is_checked:
            await probe.check(self.port)
            self._is_checked = True

    def bench(self, shelf: Shelf, head: Head) -> Bench:
        """Where the objects of a store's next head are made."""
        return Bench(shelf, self.port, self.cache, head.secret, head.turn + 1)
