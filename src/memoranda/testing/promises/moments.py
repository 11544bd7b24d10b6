"""Moments: the store as it was right after any of its versions."""

from __future__ import annotations

from memoranda.stores.base import Directory, Entry, Moment, Move, Page, Put, Remove, Store
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
    p,
    put,
    remove,
    tree,
)


async def newest(store: Store) -> Moment:
    """The present moment."""
    return Moment((await store.versions(limit=1)).versions[0].seq)


async def tree_at(store: Store, at: Moment) -> dict[str, bytes | None]:
    """Every path with its content at a moment, contents taken from history."""
    return {
        entry.path.store_path: (await store.version(entry.version_id)).content
        for entry in await memories(store, at=at)
    }


class MomentPromises:
    """What ``moment`` and ``list(at=...)`` answer where the backend keeps them."""

    async def promise_every_state_is_listed_again_as_it_was(self, rig: Rig) -> None:
        rig.needs("time_travel")
        store = rig.store
        seen: list[tuple[Moment, list[Entry], dict[str, bytes]]] = []

        async def note() -> None:
            seen.append((await newest(store), await memories(store), await tree(store)))

        await put(store, "/d/a.md", b"one")
        await note()
        await put(store, "/d/e/b.md", b"other")
        await note()
        await edit(store, "/d/a.md", append(b" two"))
        await note()
        await move(store, "/d/a.md", "/c.md")
        await note()
        await move(store, "/d", "/f/g")
        await note()
        await apply(store, Put(p("/n"), b"n"), Remove(p("/c.md")), Move(p("/f/g/e"), p("/h")))
        await note()
        await remove(store, "/h")
        await note()
        await put(store, "/h/b.md", b"a new one at an old path")
        await note()
        for at, listed, contents in seen:
            assert await memories(store, at=at) == listed
            assert await tree_at(store, at) == contents

    async def promise_the_beginning_is_empty(self, rig: Rig) -> None:
        rig.needs("time_travel")
        await fill(rig.store, "/a", "/d/b")
        for depth in (0, 1):
            page = await rig.store.list(p("/"), depth=depth, at=Moment(0))
            assert page == Page((), None)

    async def promise_a_moment_is_the_last_one_not_after_a_time(self, rig: Rig) -> None:
        rig.needs("time_travel")
        for number in range(5):
            await put(rig.store, f"/{number}.md", b"x")
        found = await history(rig.store)
        for version in found:
            until = [one for one in found if one.created_at_ns <= version.created_at_ns]
            at = await rig.store.moment(version.created_at_ns)
            assert len(await memories(rig.store, at=at)) == len(until)
            assert at == Moment(until[0].seq)
        assert await rig.store.moment(found[0].created_at_ns + 10**15) == Moment(found[0].seq)
        before = await rig.store.moment(found[-1].created_at_ns - 1)
        assert await memories(rig.store, at=before) == []

    async def promise_a_past_listing_has_prefixes_depths_pages_and_sizes(self, rig: Rig) -> None:
        rig.needs("time_travel")
        await put(rig.store, "/a.md", b"1")
        await put(rig.store, "/d/b.md", b"22")
        await put(rig.store, "/d/e/c.md", b"333")
        await put(rig.store, "/d/e/f.md", b"4444")
        at = await newest(rig.store)
        whole = await entries(rig.store)
        children = await entries(rig.store, depth=1)
        below = await entries(rig.store, "/d", depth=1)
        await put(rig.store, "/d/e/c.md", b"much longer now")
        await move(rig.store, "/d/e", "/z")
        await remove(rig.store, "/a.md")
        assert children[-1] == Directory(p("/d"), 9)
        for limit in (1, 2, 3, 4, 100):
            assert await entries(rig.store, at=at, limit=limit) == whole
            assert await entries(rig.store, depth=1, at=at, limit=limit) == children
            assert await entries(rig.store, "/d", depth=1, at=at, limit=limit) == below
        assert await entries(rig.store, "/none", at=at) == []

    async def promise_the_present_is_the_last_moment(self, rig: Rig) -> None:
        rig.needs("time_travel")
        await fill(rig.store, "/a", "/d/b", "/d/e/c", "/.h/x")
        await move(rig.store, "/d", "/q")
        await put(rig.store, "/q/b", b"changed")
        at = await newest(rig.store)
        assert await entries(rig.store, at=at) == await entries(rig.store)
        assert await entries(rig.store, depth=1, at=at) == await entries(rig.store, depth=1)
