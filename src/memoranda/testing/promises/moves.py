"""Move: files and directories get new paths, keep their ids, overwrite nothing."""

from __future__ import annotations

from functools import partial

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    MovedNameTooLong,
    MoveIntoItself,
    NotADirectory,
    NotFound,
    RootRefused,
)
from memoranda.path import MAX_PATH_BYTES, MAX_SEGMENTS
from memoranda.stores.base import IfVersion, Move, Put, VersionFilter
from memoranda.testing.promises.changes import sha256
from memoranda.testing.promises.rig import Rig, errors, values
from memoranda.testing.promises.steps import (
    apply,
    fill,
    history,
    memories,
    move,
    names,
    p,
    picture,
    put,
    read,
    refused,
    remove,
    tree,
)


class MovePromises:
    """What Move does."""

    async def promise_a_moved_memory_keeps_id_and_content(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a.md", b"hello")
        (moved,) = await move(rig.store, "/a.md", "/d/e/b.md")
        assert moved.operation == "modified"
        assert moved.memory_id == made.memory_id
        assert moved.id != made.id
        assert moved.path == p("/d/e/b.md")
        assert (moved.size_bytes, moved.sha256) == (5, sha256(b"hello"))
        assert await tree(rig.store) == {"/d/e/b.md": b"hello"}
        entry = await rig.store.stat(p("/d/e/b.md"))
        assert (entry.memory_id, entry.version_id) == (made.memory_id, moved.id)
        assert entry.created_at_ns == made.created_at_ns
        with refused(NotFound):
            await rig.store.read(p("/a.md"))

    async def promise_a_moved_directory_takes_all_levels_along_with_their_ids(
        self, rig: Rig
    ) -> None:
        await fill(rig.store, "/d/a", "/d/e/b", "/d/e/f/c", "/d/.h/x", "/d.md", "/d2/y")
        before = {entry.path.store_path: entry for entry in await memories(rig.store)}
        await move(rig.store, "/d", "/new/q")
        assert await tree(rig.store) == {
            "/d.md": b"/d.md",
            "/d2/y": b"/d2/y",
            "/new/q/.h/x": b"/d/.h/x",
            "/new/q/a": b"/d/a",
            "/new/q/e/b": b"/d/e/b",
            "/new/q/e/f/c": b"/d/e/f/c",
        }
        for entry in await memories(rig.store):
            old = before[entry.path.store_path.replace("/new/q/", "/d/")]
            assert entry.memory_id == old.memory_id
            assert entry.sha256 == old.sha256
            assert entry.created_at_ns == old.created_at_ns
        with refused(NotFound):
            await rig.store.outline(p("/d"), 1000)

    async def promise_each_memory_of_a_moved_directory_has_a_version_for_it(self, rig: Rig) -> None:
        await fill(rig.store, "/d/a", "/d/e/b")
        await move(rig.store, "/d", "/q")
        for entry in await memories(rig.store):
            head, made = await history(rig.store, VersionFilter(memory_id=entry.memory_id))
            assert head.operation == "modified"
            assert head.path == entry.path
            assert head.id == entry.version_id
            assert made.path is not None
            assert made.path.store_path == entry.path.store_path.replace("/q/", "/d/")
            assert head.sha256 == made.sha256 == entry.sha256
            whole = await rig.store.version(head.id)
            assert whole.content == (await rig.store.version(made.id)).content
            assert whole.path == head.path

    async def promise_a_move_within_its_directory_and_up_is_only_a_move(self, rig: Rig) -> None:
        await fill(rig.store, "/d/e/a", "/d/b")
        await move(rig.store, "/d/e", "/d/f")
        await move(rig.store, "/d/f/a", "/d/a")
        await move(rig.store, "/d/b", "/b")
        assert await names(rig.store) == ["/b", "/d/a"]

    async def promise_a_change_of_case_is_a_move(self, rig: Rig) -> None:
        await fill(rig.store, "/readme.md", "/dir/x")
        await move(rig.store, "/readme.md", "/README.md")
        await move(rig.store, "/dir", "/DIR")
        assert await names(rig.store) == ["/DIR/x", "/README.md"]

    async def promise_a_taken_target_is_never_overwritten(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/b.md", "/d/x", "/e/y")
        before = await picture(rig.store)
        cases = [
            ("/a.md", "/b.md"),
            ("/a.md", "/d"),
            ("/a.md", "/a.md"),
            ("/a.md", "/"),
            ("/d", "/e"),
            ("/d", "/b.md"),
            ("/d", "/d"),
            ("/d", "/"),
            ("/d/x", "/d"),
            ("/a.md", "/e/y"),
        ]
        for source, target in cases:
            with refused(AlreadyExists) as caught:
                await move(rig.store, source, target)
            assert caught.error.path == p(target), (source, target)
        assert await picture(rig.store) == before

    async def promise_a_missing_source_is_not_found_and_leaves_no_parents(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md")
        before = await picture(rig.store)
        for source in ("/none", "/no/where", "/a.md/below", "/a"):
            with refused(NotFound) as caught:
                await move(rig.store, source, "/new/dir/x")
            assert caught.error.path == p(source)
        assert await picture(rig.store) == before
        with refused(NotFound):
            await rig.store.outline(p("/new"), 1000)

    async def promise_the_root_cannot_be_moved(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md")
        with refused(RootRefused):
            await move(rig.store, "/", "/new")
        assert await names(rig.store) == ["/a.md"]

    async def promise_a_directory_cannot_move_into_itself(self, rig: Rig) -> None:
        await fill(rig.store, "/d/e/a", "/d2/b")
        before = await picture(rig.store)
        for source, target in (("/d", "/d/x"), ("/d", "/d/e/x"), ("/d/e", "/d/e/f/g")):
            with refused(MoveIntoItself) as caught:
                await move(rig.store, source, target)
            assert caught.error.path == p(source)
        assert await picture(rig.store) == before
        await move(rig.store, "/d", "/d2/d")
        assert await names(rig.store) == ["/d2/b", "/d2/d/e/a"]

    async def promise_a_memory_may_move_below_its_own_old_name(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a", b"x")
        (moved,) = await move(rig.store, "/a", "/a/b")
        assert moved.memory_id == made.memory_id
        assert await tree(rig.store) == {"/a/b": b"x"}
        await move(rig.store, "/a/b", "/a/b/c/d")
        assert await tree(rig.store) == {"/a/b/c/d": b"x"}

    async def promise_a_memory_may_take_the_name_of_its_own_directory_by_way_of_another(
        self, rig: Rig
    ) -> None:
        (made,) = await put(rig.store, "/d/e/a.md", b"x")
        await apply(
            rig.store,
            Put(p("/d/e/a.md"), b"new"),
            Move(p("/d/e/a.md"), p("/aside")),
            Move(p("/aside"), p("/d")),
        )
        assert await tree(rig.store) == {"/d": b"new"}
        (entry,) = await memories(rig.store)
        assert entry.memory_id == made.memory_id
        paths = [str(version.path) for version in await history(rig.store)]
        assert (paths[0], paths[-1]) == ("/memories/d", "/memories/d/e/a.md")
        await move(rig.store, "/d", "/d/b.md")
        assert await tree(rig.store) == {"/d/b.md": b"new"}
        assert (await rig.store.verify()).ok

    async def promise_a_target_below_a_file_names_the_file(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/b.md", "/d/x")
        before = await picture(rig.store)
        for source, target in (("/a.md", "/b.md/x"), ("/d", "/b.md/x/y"), ("/a.md", "/d/x/y")):
            with refused(NotADirectory) as caught:
                await move(rig.store, source, target)
            assert caught.error.path == p("/b.md" if target.startswith("/b") else "/d/x")
        assert await picture(rig.store) == before

    async def promise_a_move_that_would_lengthen_a_path_too_far_is_refused(self, rig: Rig) -> None:
        name = "n" * 200
        long = f"/d/{name}/{name}/{name}/{name}"
        deep = "/e" + "/x" * (MAX_SEGMENTS - 1)
        await fill(rig.store, long, deep, "/d/short")
        before = await picture(rig.store)
        target = "/" + "t" * 250
        with refused(MovedNameTooLong) as caught:
            await move(rig.store, "/d", target)
        assert caught.error.source == p("/d")
        assert caught.error.too_long == "/memories" + target + long.removeprefix("/d")
        with refused(MovedNameTooLong) as caught:
            await move(rig.store, "/e", "/f/e")
        assert caught.error.source == p("/e")
        assert await picture(rig.store) == before

    async def promise_a_move_up_to_the_very_limits_is_allowed(self, rig: Rig) -> None:
        name = "n" * 200
        long = f"/d/{name}/{name}/{name}/{name}"
        deep = "/e" + "/x" * (MAX_SEGMENTS - 2)
        await fill(rig.store, long, deep)
        room = MAX_PATH_BYTES - len(long.removeprefix("/d")) - 1
        await move(rig.store, "/d", "/" + "t" * room)
        await move(rig.store, "/e", "/f/e")
        longest = await names(rig.store)
        assert max(map(len, longest)) == MAX_PATH_BYTES
        assert "/f" + deep in longest

    async def promise_a_move_of_a_stale_version_conflicts(self, rig: Rig) -> None:
        (first,) = await put(rig.store, "/a.md", b"one")
        (second,) = await put(rig.store, "/a.md", b"two")
        before = await picture(rig.store)
        with refused(Conflict):
            await move(rig.store, "/a.md", "/b.md", IfVersion(first.id))
        assert await picture(rig.store) == before
        await move(rig.store, "/a.md", "/b.md", IfVersion(second.id))
        assert await names(rig.store) == ["/b.md"]

    async def promise_what_a_move_left_is_free_again(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/d/a.md", b"old")
        await move(rig.store, "/d", "/e")
        (new,) = await put(rig.store, "/d/a.md", b"new")
        assert new.memory_id != made.memory_id
        assert new.operation == "created"
        await remove(rig.store, "/d")
        await move(rig.store, "/e", "/d")
        assert await tree(rig.store) == {"/d/a.md": b"old"}
        assert (await rig.store.stat(p("/d/a.md"))).memory_id == made.memory_id

    async def promise_of_many_who_move_one_memory_exactly_one_does(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        outcomes = await rig.together(
            [partial(move, rig.store, "/a.md", f"/b{number}/a.md") for number in range(8)]
        )
        ((moved,),) = values(outcomes)
        assert all(isinstance(error, NotFound) for error in errors(outcomes))
        assert moved.path is not None
        assert await names(rig.store) == [moved.path.store_path]

    async def promise_of_many_who_want_one_target_exactly_one_gets_it(self, rig: Rig) -> None:
        await fill(rig.store, *(f"/a{number}" for number in range(8)))
        outcomes = await rig.together(
            [partial(move, rig.store, f"/a{number}", "/b") for number in range(8)]
        )
        assert len(values(outcomes)) == 1
        assert all(isinstance(error, AlreadyExists) for error in errors(outcomes))
        winner = (await read(rig.store, "/b")).decode()
        left = {f"/a{number}" for number in range(8)} - {winner}
        assert await tree(rig.store) == {"/b": winner.encode()} | {
            path: path.encode() for path in left
        }
