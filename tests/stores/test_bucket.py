"""The bucket backend keeps every promise of the store contract, in both colours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from memoranda import AsyncMemory, Memory
from memoranda.stores.base import Backend
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.open import suspends_for
from memoranda.testing.store_suite import StoreSuite
from tests.stores.bucket_server import everything, url_for


class TestBucketStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return BucketBackend(url_for(home))

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return everything(url_for(home))


# Awaited, a store that blocks runs the same code in the same single step.
for name in [name for name in dir(TestBucketStore) if name.endswith("__async")]:
    setattr(TestBucketStore, name, None)


class TestBucketStoreThatSuspends(StoreSuite):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        return BucketBackend(url_for(home), suspends=True)

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return everything(url_for(home))


def test_sync_and_async_memories_share_a_url_each_in_its_own_colour(tmp_path: Path) -> None:
    url = url_for(tmp_path)
    with Memory.open(url, user="acme") as memory:
        memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "hello"})

    async def look() -> str:
        async with AsyncMemory.open(url, user="acme") as memory:
            assert suspends_for(url)
            seen = await memory.execute({"command": "view", "path": "/memories/a.md"})
            return str(seen.content)

    # Two loops, one after the other: nothing is kept of the first.
    assert "hello" in asyncio.run(look())
    assert "hello" in asyncio.run(look())


def test_one_async_memory_serves_several_loops_in_turn(tmp_path: Path) -> None:
    memory = AsyncMemory.open(url_for(tmp_path), user="acme")
    for number in range(3):
        command = {"command": "create", "path": f"/memories/{number}.md", "file_text": "x"}
        assert not asyncio.run(memory.execute(command)).is_error
    asyncio.run(memory.close())
