"""Reading one memory: content, ranges, stamps, ids, times."""

from __future__ import annotations

import hashlib
import threading

from memoranda.errors import IsADirectory, NotFound, UnknownId
from memoranda.testing.promises.rig import Rig, errors
from memoranda.testing.promises.steps import (
    append,
    edit,
    fill,
    memories,
    move,
    p,
    put,
    read,
    refused,
    remove,
    replace_all,
)


class ReadingPromises:
    """What ``read``, ``stat`` and ``locate`` answer."""

    async def promise_what_was_put_is_read_back(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"hello\n")
        content = await rig.store.read(p("/a.md"))
        assert content.data == b"hello\n"
        assert content.size_bytes == 6

    async def promise_a_range_gives_the_bytes_asked_for_and_the_size_of_the_whole(
        self, rig: Rig
    ) -> None:
        await put(rig.store, "/a.md", b"0123456789")
        cases: list[tuple[int, int | None, bytes]] = [
            (0, None, b"0123456789"),
            (3, None, b"3456789"),
            (0, 4, b"0123"),
            (3, 4, b"3456"),
            (8, 100, b"89"),
            (9, 1, b"9"),
            (10, None, b""),
            (10, 5, b""),
            (500, 5, b""),
            (4, 0, b""),
        ]
        for start, length, wanted in cases:
            content = await rig.store.read(p("/a.md"), start, length)
            assert content.data == wanted, (start, length)
            assert content.size_bytes == 10

    async def promise_a_range_of_an_empty_memory_is_empty(self, rig: Rig) -> None:
        await put(rig.store, "/empty.md", b"")
        for start, length in ((0, None), (0, 7), (5, 7)):
            content = await rig.store.read(p("/empty.md"), start, length)
            assert (content.data, content.size_bytes) == (b"", 0)

    async def promise_an_unchanged_memory_keeps_its_stamp(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"0123456789")
        first = await rig.store.read(p("/a.md"))
        await put(rig.store, "/other.md", b"x")
        again = await rig.store.read(p("/a.md"))
        ranged = await rig.store.read(p("/a.md"), 2, 3)
        assert first.stamp == again.stamp == ranged.stamp
        assert hash(first.stamp) == hash(again.stamp)

    async def promise_different_contents_of_one_path_never_share_a_stamp(self, rig: Rig) -> None:
        seen: dict[object, bytes] = {}
        for number in range(40):
            content = b"same size %03d" % number
            if number % 10 == 9:
                await remove(rig.store, "/a.md")
            if number % 2 or number == 0:
                await put(rig.store, "/a.md", content)
            else:
                await edit(rig.store, "/a.md", replace_all(content))
            found = await rig.store.read(p("/a.md"))
            assert found.data == content
            assert found.stamp not in seen
            seen[found.stamp] = content

    async def promise_a_memory_that_takes_anothers_place_has_another_stamp(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"old a")
        await put(rig.store, "/b.md", b"was b")
        before = await rig.store.read(p("/a.md"))
        await remove(rig.store, "/a.md")
        await move(rig.store, "/b.md", "/a.md")
        after = await rig.store.read(p("/a.md"))
        assert after.data == b"was b"
        assert after.stamp != before.stamp

    async def promise_reading_what_is_not_there_is_not_found(self, rig: Rig) -> None:
        await put(rig.store, "/file.md", b"x")
        for path in ("/none.md", "/no/where/at/all.md", "/file.md/below", "/file.md/below/it"):
            with refused(NotFound) as caught:
                await rig.store.read(p(path))
            assert caught.error.path == p(path)
            with refused(NotFound) as caught:
                await rig.store.stat(p(path))
            assert caught.error.path == p(path)

    async def promise_reading_a_directory_is_refused(self, rig: Rig) -> None:
        await put(rig.store, "/d/e/x.md", b"x")
        for path in ("/", "/d", "/d/e"):
            with refused(IsADirectory) as caught:
                await rig.store.read(p(path))
            assert caught.error.path == p(path)
            with refused(IsADirectory) as caught:
                await rig.store.stat(p(path))
            assert caught.error.path == p(path)

    async def promise_the_root_is_a_directory_from_the_beginning(self, rig: Rig) -> None:
        with refused(IsADirectory):
            await rig.store.read(p("/"))

    async def promise_stat_tells_ids_hash_size_and_times(self, rig: Rig) -> None:
        (version,) = await put(rig.store, "/a.md", b"hello")
        entry = await rig.store.stat(p("/a.md"))
        assert entry.path == p("/a.md")
        assert entry.memory_id == version.memory_id
        assert entry.version_id == version.id
        assert entry.size_bytes == 5
        assert entry.sha256 == hashlib.sha256(b"hello").hexdigest()
        assert entry.created_at_ns == entry.updated_at_ns == version.created_at_ns

    async def promise_an_edit_moves_the_time_of_change_and_not_that_of_making(
        self, rig: Rig
    ) -> None:
        (made,) = await put(rig.store, "/a.md", b"hello")
        (changed,) = await edit(rig.store, "/a.md", append(b"!"))
        entry = await rig.store.stat(p("/a.md"))
        assert entry.created_at_ns == made.created_at_ns
        assert entry.updated_at_ns == changed.created_at_ns
        assert entry.version_id == changed.id
        assert entry.sha256 == hashlib.sha256(b"hello!").hexdigest()

    async def promise_a_memory_is_located_by_its_id_wherever_it_moves(self, rig: Rig) -> None:
        (version,) = await put(rig.store, "/d/a.md", b"hello")
        assert await rig.store.locate(version.memory_id) == await rig.store.stat(p("/d/a.md"))
        await move(rig.store, "/d/a.md", "/b.md")
        assert (await rig.store.locate(version.memory_id)).path == p("/b.md")
        await move(rig.store, "/b.md", "/e/f/b.md")
        await move(rig.store, "/e", "/g")
        entry = await rig.store.locate(version.memory_id)
        assert entry.path == p("/g/f/b.md")
        assert entry == await rig.store.stat(p("/g/f/b.md"))

    async def promise_an_id_that_no_live_memory_has_is_unknown(self, rig: Rig) -> None:
        (version,) = await put(rig.store, "/a.md", b"hello")
        await put(rig.store, "/d/b.md", b"hello")
        below = await rig.store.stat(p("/d/b.md"))
        await remove(rig.store, "/a.md")
        await remove(rig.store, "/d")
        for wrong in (version.memory_id, below.memory_id, version.id, *WRONG_IDS):
            with refused(UnknownId):
                await rig.store.locate(wrong)

    async def promise_a_reader_never_sees_half_of_a_write(self, rig: Rig) -> None:
        sizes = (70_000, 1, 40_000)
        await put(rig.store, "/a.md", b"0" * sizes[0])
        done = threading.Event()

        async def write() -> None:
            try:
                for number in range(1, 40):
                    await put(rig.store, "/a.md", b"%d" % (number % 10) * sizes[number % 3])
            finally:
                done.set()

        async def look() -> None:
            while not done.is_set():
                content = await rig.store.read(p("/a.md"))
                assert len(content.data) == content.size_bytes
                assert content.size_bytes in sizes
                assert content.data == content.data[:1] * content.size_bytes

        assert not errors(await rig.together([write, look, look]))

    async def promise_a_reader_finds_a_memory_that_is_changed_all_the_time(self, rig: Rig) -> None:
        await fill(rig.store, "/d/a.md", "/d/b.md")
        done = threading.Event()

        async def write() -> None:
            try:
                for number in range(60):
                    await put(rig.store, "/d/a.md", b"%d" % number)
            finally:
                done.set()

        async def look() -> None:
            while not done.is_set():
                await read(rig.store, "/d/a.md")
                assert len(await memories(rig.store)) == 2

        assert not errors(await rig.together([write, look, look]))


WRONG_IDS = (
    "",
    "mem_",
    "mem_0",
    "memver_0",
    "memstore_0",
    "x",
    "../..",
    "mem_\x00",
    "mem_'--",
    "1",
)
"""Ids that nothing has; some are shaped to hurt a file name or a query."""
