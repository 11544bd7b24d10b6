"""Listing memories by pages, present and past; what the store holds in numbers."""

from __future__ import annotations

from memoranda.stores.base import Directory, Entry, Move, Page, Put, Remove
from memoranda.testing.promises.outlines import TRICKY_ORDER
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.steps import (
    append,
    apply,
    edit,
    entries,
    fill,
    history,
    memories,
    move,
    names,
    p,
    printed,
    put,
    remove,
    tree,
)


class ListingPromises:
    """What ``list`` and ``usage`` answer."""

    async def promise_an_empty_store_lists_an_empty_page(self, rig: Rig) -> None:
        for depth in (0, 1):
            assert await rig.store.list(p("/"), depth=depth) == Page((), None)

    async def promise_a_listing_gives_every_memory_as_stat_gives_it(self, rig: Rig) -> None:
        await fill(rig.store, *TRICKY_ORDER, "/.hidden", "/node_modules/x/y.js")
        listed = await memories(rig.store)
        assert [entry.path.store_path for entry in listed] == sorted(
            [*TRICKY_ORDER, "/.hidden", "/node_modules/x/y.js"]
        )
        for entry in listed:
            assert entry == await rig.store.stat(entry.path)

    async def promise_a_prefix_lists_only_what_lies_beneath_it(self, rig: Rig) -> None:
        await fill(rig.store, "/d/a.md", "/d/e/b.md", "/d.md", "/d2/c.md", "/dd", "/D/a.md")
        assert await names(rig.store, "/d") == ["/d/a.md", "/d/e/b.md"]
        assert await names(rig.store, "/d/e") == ["/d/e/b.md"]
        assert await names(rig.store, "/d", depth=1) == ["/d/a.md", "/d/e/"]

    async def promise_a_prefix_of_wildcards_means_itself(self, rig: Rig) -> None:
        await fill(rig.store, "/a_b/1", "/axb/2", "/1%/3", "/1zz/4", "/[ab]/5", "/a/6", "/*/7")
        assert await names(rig.store, "/a_b") == ["/a_b/1"]
        assert await names(rig.store, "/1%") == ["/1%/3"]
        assert await names(rig.store, "/[ab]") == ["/[ab]/5"]
        assert await names(rig.store, "/*") == ["/*/7"]

    async def promise_a_prefix_with_nothing_beneath_gives_an_empty_page(self, rig: Rig) -> None:
        await fill(rig.store, "/d/a.md")
        for prefix in ("/none", "/d/none", "/d/a.md", "/d/a.md/x"):
            for depth in (0, 1):
                assert await rig.store.list(p(prefix), depth=depth) == Page((), None)

    async def promise_direct_children_come_with_deeper_ones_rolled_up(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"1")
        await put(rig.store, "/d/b.md", b"22")
        await put(rig.store, "/d/e/c.md", b"333")
        await put(rig.store, "/d/.h/x", b"4444")
        await put(rig.store, "/.h/y", b"55555")
        assert await entries(rig.store, depth=1) == [
            Directory(p("/.h"), 5),
            await rig.store.stat(p("/a.md")),
            Directory(p("/d"), 9),
        ]
        assert await entries(rig.store, "/d", depth=1) == [
            Directory(p("/d/.h"), 4),
            await rig.store.stat(p("/d/b.md")),
            Directory(p("/d/e"), 3),
        ]

    async def promise_children_are_ordered_with_the_slash_of_directories(self, rig: Rig) -> None:
        await fill(rig.store, *TRICKY_ORDER)
        for prefix in ("/", "/zz"):
            listed = await names(rig.store, prefix, depth=1)
            assert listed == sorted(listed)

    async def promise_pages_of_any_size_make_the_same_whole(self, rig: Rig) -> None:
        await fill(rig.store, *TRICKY_ORDER)
        for depth in (0, 1):
            whole = (await rig.store.list(p("/"), depth=depth)).entries
            assert len(whole) > 8
            for limit in (1, 2, 3, len(whole) - 1, len(whole), len(whole) + 1):
                assert await entries(rig.store, depth=depth, limit=limit) == list(whole)

    async def promise_a_page_ends_with_the_printed_path_of_its_last_entry(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/d/b.md", "/d/c.md", "/e/f.md", "/g")
        page = await rig.store.list(p("/"), limit=2)
        assert page.after == "/d/b.md"
        page = await rig.store.list(p("/"), depth=1, limit=2)
        assert page.after == "/d/"
        page = await rig.store.list(p("/"), depth=1, limit=2, after="/d/")
        assert ([printed(item) for item in page.entries], page.after) == (["/e/", "/g"], None)

    async def promise_paging_goes_on_where_it_was_though_entries_vanish(self, rig: Rig) -> None:
        await fill(rig.store, *(f"/d/{number}.md" for number in range(10)))
        page = await rig.store.list(p("/"), limit=4)
        assert page.after == "/d/3.md"
        await remove(rig.store, "/d/3.md")
        await remove(rig.store, "/d/4.md")
        await put(rig.store, "/d/0.md.new", b"before")
        page = await rig.store.list(p("/"), limit=4, after=page.after)
        assert [printed(item) for item in page.entries] == [f"/d/{n}.md" for n in (5, 6, 7, 8)]
        await remove(rig.store, "/d")
        assert await rig.store.list(p("/"), limit=4, after=page.after) == Page((), None)

    async def promise_paging_children_goes_on_though_a_directory_vanishes(self, rig: Rig) -> None:
        await fill(rig.store, "/a/1", "/b/1", "/b.md", "/c/1", "/d/1")
        page = await rig.store.list(p("/"), depth=1, limit=3)
        assert page.after == "/b/"
        await remove(rig.store, "/b")
        assert await names(rig.store, depth=1) == ["/a/", "/b.md", "/c/", "/d/"]
        page = await rig.store.list(p("/"), depth=1, limit=3, after=page.after)
        assert [printed(item) for item in page.entries] == ["/c/", "/d/"]

    async def promise_a_page_may_start_after_a_path_that_never_was(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/b/c.md", "/d.md")
        page = await rig.store.list(p("/"), after="/b")
        assert [printed(item) for item in page.entries] == ["/b/c.md", "/d.md"]
        page = await rig.store.list(p("/"), after="/zzz")
        assert page == Page((), None)

    async def promise_many_memories_are_listed_whole(self, rig: Rig) -> None:
        paths = [f"/d{number % 7}/e{number % 3}/f{number:04}.md" for number in range(1500)]
        await fill(rig.store, *paths)
        page = await rig.store.list(p("/"))
        assert len(page.entries) <= 1000
        assert await names(rig.store, limit=400) == sorted(paths)
        assert (await rig.store.usage()).files == 1500

    async def promise_usage_is_what_a_recount_gives(self, rig: Rig) -> None:
        await self._usage_is_right(rig)
        await put(rig.store, "/a.md", b"12345")
        await put(rig.store, "/d/b.md", b"123")
        await put(rig.store, "/.hidden/c.md", b"1" * 1000)
        await self._usage_is_right(rig)
        await put(rig.store, "/a.md", b"1")
        await edit(rig.store, "/d/b.md", append(b"4567"))
        await self._usage_is_right(rig)
        await apply(
            rig.store,
            Move(p("/a.md"), p("/d/a.md")),
            Remove(p("/.hidden/c.md")),
            Put(p("/e.md"), b"\x00" * 77),
        )
        await self._usage_is_right(rig)
        assert (await rig.store.usage()).versions == len(await history(rig.store))
        await move(rig.store, "/d", "/q/r")
        await self._usage_is_right(rig)
        await remove(rig.store, "/q")
        await self._usage_is_right(rig)
        assert (await rig.store.usage()).files == 1

    async def _usage_is_right(self, rig: Rig) -> None:
        usage = await rig.store.usage()
        found = await tree(rig.store)
        listed = [item for item in await entries(rig.store) if isinstance(item, Entry)]
        assert usage.files == len(found) == len(listed)
        assert usage.size_bytes == sum(map(len, found.values()))
        assert usage.size_bytes == sum(entry.size_bytes for entry in listed)
        assert usage.history_bytes >= 0
        assert usage.versions >= usage.files
