"""Ceilings: what a store may hold, checked on the result and inside the transaction."""

from __future__ import annotations

from functools import partial

from memoranda.errors import FileTooLarge, MemoryFull, TooManyFiles
from memoranda.stores.base import Ceiling, Context, Edit, Move, Put, Remove
from memoranda.testing.promises.rig import Rig, errors, values
from memoranda.testing.promises.steps import (
    append,
    apply,
    edit,
    fill,
    move,
    p,
    picture,
    put,
    refused,
    remove,
    replace_all,
    tree,
)

RACERS = 16


def within(
    *, total_bytes: int | None = None, files: int | None = None, file_bytes: int | None = None
) -> Context:
    """A context with this ceiling."""
    return Context(command="test", ceiling=Ceiling(total_bytes, files, file_bytes))


class CeilingPromises:
    """What ``Context.ceiling`` holds back."""

    async def promise_a_file_may_be_as_large_as_its_limit_and_no_larger(self, rig: Rig) -> None:
        by = within(file_bytes=10)
        await put(rig.store, "/a.md", b"x" * 10, by=by)
        before = await picture(rig.store)
        with refused(FileTooLarge) as caught:
            await put(rig.store, "/b.md", b"x" * 11, by=by)
        assert caught.error.path == p("/b.md")
        assert (caught.error.size_bytes, caught.error.limit_bytes) == (11, 10)
        with refused(FileTooLarge) as caught:
            await edit(rig.store, "/a.md", append(b"yyy"), by=by)
        assert caught.error.path == p("/a.md")
        assert (caught.error.size_bytes, caught.error.limit_bytes) == (13, 10)
        assert await picture(rig.store) == before

    async def promise_a_file_above_its_limit_may_still_shrink_move_and_go(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x" * 100)
        by = within(file_bytes=10)
        with refused(FileTooLarge):
            await edit(rig.store, "/a.md", append(b"y"), by=by)
        await edit(rig.store, "/a.md", replace_all(b"y" * 50), by=by)
        await edit(rig.store, "/a.md", replace_all(b"z" * 50), by=by)
        await put(rig.store, "/a.md", b"z" * 40, by=by)
        await move(rig.store, "/a.md", "/b.md", by=by)
        await remove(rig.store, "/b.md", by=by)
        assert await tree(rig.store) == {}

    async def promise_a_store_may_hold_as_many_bytes_as_its_limit_and_no_more(
        self, rig: Rig
    ) -> None:
        by = within(total_bytes=100)
        await put(rig.store, "/a.md", b"x" * 60, by=by)
        await put(rig.store, "/b.md", b"x" * 40, by=by)
        before = await picture(rig.store)
        with refused(MemoryFull) as caught:
            await put(rig.store, "/c.md", b"x", by=by)
        assert (caught.error.used_bytes, caught.error.limit_bytes) == (100, 100)
        with refused(MemoryFull) as caught:
            await edit(rig.store, "/b.md", append(b"x"), by=by)
        assert (caught.error.used_bytes, caught.error.limit_bytes) == (100, 100)
        assert await picture(rig.store) == before
        await put(rig.store, "/empty.md", b"", by=by)
        await put(rig.store, "/a.md", b"x" * 59, by=by)
        await put(rig.store, "/c.md", b"x", by=by)

    async def promise_a_store_above_its_bytes_may_still_shrink(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x" * 500)
        await put(rig.store, "/b.md", b"x" * 500)
        by = within(total_bytes=100)
        with refused(MemoryFull) as caught:
            await put(rig.store, "/c.md", b"x", by=by)
        assert (caught.error.used_bytes, caught.error.limit_bytes) == (1000, 100)
        await put(rig.store, "/a.md", b"x" * 499, by=by)
        await edit(rig.store, "/a.md", replace_all(b"y" * 499), by=by)
        await apply(rig.store, Put(p("/c.md"), b"x" * 10), Remove(p("/b.md")), by=by)
        await move(rig.store, "/a.md", "/d/a.md", by=by)
        await put(rig.store, "/empty.md", b"", by=by)
        await remove(rig.store, "/d", by=by)
        assert await tree(rig.store) == {"/c.md": b"x" * 10, "/empty.md": b""}

    async def promise_a_store_may_hold_as_many_files_as_its_limit_and_no_more(
        self, rig: Rig
    ) -> None:
        by = within(files=3)
        for name in ("/a", "/d/b", "/d/c"):
            await put(rig.store, name, b"", by=by)
        before = await picture(rig.store)
        with refused(TooManyFiles) as caught:
            await put(rig.store, "/e", b"", by=by)
        assert caught.error.count == 3
        assert await picture(rig.store) == before
        await put(rig.store, "/a", b"changed", by=by)
        await move(rig.store, "/d", "/z", by=by)
        await apply(rig.store, Put(p("/e"), b""), Remove(p("/a")), by=by)
        assert len(await tree(rig.store)) == 3

    async def promise_a_store_above_its_files_may_still_change_and_lose_some(
        self, rig: Rig
    ) -> None:
        await fill(rig.store, "/a", "/b", "/c", "/d")
        by = within(files=2)
        with refused(TooManyFiles):
            await put(rig.store, "/e", b"", by=by)
        await put(rig.store, "/a", b"changed and longer", by=by)
        await apply(rig.store, Put(p("/e"), b""), Remove(p("/b")), by=by)
        await remove(rig.store, "/c", by=by)
        assert sorted(await tree(rig.store)) == ["/a", "/d", "/e"]

    async def promise_ceilings_look_at_the_end_of_a_batch_only(self, rig: Rig) -> None:
        by = within(total_bytes=100, files=2)
        await put(rig.store, "/a", b"x" * 60, by=by)
        await put(rig.store, "/b", b"x" * 40, by=by)
        await apply(
            rig.store,
            Put(p("/c"), b"y" * 40),
            Edit(p("/a"), append(b"z" * 10)),
            Remove(p("/b")),
            Edit(p("/a"), replace_all(b"z" * 60)),
            Move(p("/c"), p("/b")),
            by=by,
        )
        assert await tree(rig.store) == {"/a": b"z" * 60, "/b": b"y" * 40}

    async def promise_none_lifts_a_limit(self, rig: Rig) -> None:
        await put(rig.store, "/a", b"x" * 300_000, by=within(files=1))
        await put(rig.store, "/b", b"", by=within(total_bytes=300_000))
        assert (await rig.store.usage())[:2] == (2, 300_000)

    async def promise_what_a_layer_adds_to_each_file_does_not_count(self, rig: Rig) -> None:
        by = Context(command="test", ceiling=Ceiling(100, None, 60, beside_bytes=10))
        await put(rig.store, "/a.md", b"x" * 70, by=by)
        await put(rig.store, "/b.md", b"x" * 50, by=by)
        before = await picture(rig.store)
        with refused(FileTooLarge) as grown:
            await edit(rig.store, "/b.md", append(b"x" * 21), by=by)
        assert (grown.error.size_bytes, grown.error.limit_bytes) == (61, 60)
        with refused(MemoryFull) as caught:
            await put(rig.store, "/c.md", b"x" * 11, by=by)
        assert (caught.error.used_bytes, caught.error.limit_bytes) == (100, 100)
        assert await picture(rig.store) == before
        await put(rig.store, "/empty.md", b"x" * 10, by=by)

    async def promise_racing_writers_never_pass_the_file_limit(self, rig: Rig) -> None:
        by = within(files=RACERS - 6)
        outcomes = await rig.together(
            [partial(put, rig.store, f"/d/{number}", b"x", by=by) for number in range(RACERS)]
        )
        assert len(values(outcomes)) == RACERS - 6
        assert all(isinstance(error, TooManyFiles) for error in errors(outcomes))
        assert (await rig.store.usage()).files == RACERS - 6 == len(await tree(rig.store))

    async def promise_racing_writers_never_pass_the_byte_limits(self, rig: Rig) -> None:
        by = within(total_bytes=105)
        outcomes = await rig.together(
            [partial(put, rig.store, f"/{number}", b"x" * 10, by=by) for number in range(RACERS)]
        )
        assert len(values(outcomes)) == 10
        assert all(isinstance(error, MemoryFull) for error in errors(outcomes))
        assert (await rig.store.usage()).size_bytes == 100
        await put(rig.store, "/one", b"")
        outcomes = await rig.together(
            [
                partial(edit, rig.store, "/one", append(b"x" * 10), by=within(file_bytes=75))
                for _ in range(RACERS)
            ]
        )
        assert len(values(outcomes)) == 7
        assert all(isinstance(error, FileTooLarge) for error in errors(outcomes))
