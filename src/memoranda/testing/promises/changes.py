"""Put and Remove: what they make, what they refuse, under which preconditions."""

from __future__ import annotations

import hashlib
from functools import partial

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    IsADirectory,
    NotADirectory,
    NotFound,
    RootRefused,
)
from memoranda.stores.base import Expect, IfContent, IfVersion, VersionFilter
from memoranda.testing.promises.rig import Rig, errors, values
from memoranda.testing.promises.steps import (
    fill,
    history,
    names,
    p,
    picture,
    put,
    read,
    refused,
    remove,
    tree,
)


def sha256(content: bytes) -> str:
    """The hash as the contract spells it."""
    return hashlib.sha256(content).hexdigest()


class ChangePromises:
    """What Put and Remove do."""

    async def promise_a_put_makes_a_memory_and_its_parents(self, rig: Rig) -> None:
        (version,) = await put(rig.store, "/d/e/a.md", b"hello")
        assert version.operation == "created"
        assert version.path == p("/d/e/a.md")
        assert (version.size_bytes, version.sha256) == (5, sha256(b"hello"))
        assert version.id.startswith("memver_")
        assert version.memory_id.startswith("mem_")
        assert version.content is None
        assert await tree(rig.store) == {"/d/e/a.md": b"hello"}

    async def promise_a_put_replaces_the_content_and_keeps_the_memory(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a.md", b"hello")
        (changed,) = await put(rig.store, "/a.md", b"bye")
        assert changed.operation == "modified"
        assert changed.memory_id == made.memory_id
        assert changed.id != made.id
        assert await read(rig.store, "/a.md") == b"bye"

    async def promise_a_put_of_equal_content_makes_no_version(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"hello")
        await put(rig.store, "/empty.md", b"")
        before = await picture(rig.store)
        assert await put(rig.store, "/a.md", b"hello") == ()
        assert await put(rig.store, "/empty.md", b"") == ()
        assert await picture(rig.store) == before

    async def promise_a_put_at_a_directory_is_refused(self, rig: Rig) -> None:
        await put(rig.store, "/d/e/a.md", b"hello")
        before = await picture(rig.store)
        expects: tuple[Expect | IfVersion | IfContent, ...] = (
            Expect.ANY,
            Expect.ABSENT,
            IfVersion("memver_0"),
            IfContent(sha256(b"")),
        )
        for path in ("/d", "/d/e"):
            for expect in expects:
                with refused(IsADirectory) as caught:
                    await put(rig.store, path, b"boom", expect)
                assert caught.error.path == p(path)
        assert await picture(rig.store) == before

    async def promise_a_put_at_the_root_is_refused(self, rig: Rig) -> None:
        for expect in (Expect.ANY, Expect.ABSENT):
            with refused(RootRefused):
                await put(rig.store, "/", b"boom", expect)
        assert await tree(rig.store) == {}

    async def promise_a_put_below_a_file_names_the_file(self, rig: Rig) -> None:
        await put(rig.store, "/d/a.md", b"keep")
        before = await picture(rig.store)
        for path in ("/d/a.md/b", "/d/a.md/b/c/d"):
            for expect in (Expect.ANY, Expect.ABSENT):
                with refused(NotADirectory) as caught:
                    await put(rig.store, path, b"boom", expect)
                assert caught.error.path == p("/d/a.md")
        assert await picture(rig.store) == before

    async def promise_absent_refuses_a_path_that_is_taken(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"old", Expect.ABSENT)
        before = await picture(rig.store)
        for content in (b"new", b"old"):
            with refused(AlreadyExists) as caught:
                await put(rig.store, "/a.md", content, Expect.ABSENT)
            assert caught.error.path == p("/a.md")
        assert await picture(rig.store) == before

    async def promise_a_version_precondition_lets_only_the_head_through(self, rig: Rig) -> None:
        (first,) = await put(rig.store, "/a.md", b"one")
        (second,) = await put(rig.store, "/a.md", b"two", IfVersion(first.id))
        (other,) = await put(rig.store, "/b.md", b"other")
        before = await picture(rig.store)
        for stale in (first.id, other.id, "memver_0", ""):
            with refused(Conflict):
                await put(rig.store, "/a.md", b"boom", IfVersion(stale))
            with refused(Conflict):
                await remove(rig.store, "/a.md", IfVersion(stale))
        assert await picture(rig.store) == before
        (third,) = await put(rig.store, "/a.md", b"three", IfVersion(second.id))
        (gone,) = await remove(rig.store, "/a.md", IfVersion(third.id))
        assert gone.operation == "deleted"

    async def promise_a_content_precondition_lets_only_that_content_through(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"one")
        await put(rig.store, "/a.md", b"two", IfContent(sha256(b"one")))
        before = await picture(rig.store)
        with refused(Conflict):
            await put(rig.store, "/a.md", b"boom", IfContent(sha256(b"one")))
        with refused(Conflict):
            await remove(rig.store, "/a.md", IfContent(sha256(b"one")))
        assert await picture(rig.store) == before
        await put(rig.store, "/a.md", b"one", IfContent(sha256(b"two")))
        await remove(rig.store, "/a.md", IfContent(sha256(b"one")))
        assert await tree(rig.store) == {}

    async def promise_a_precondition_on_what_is_missing_is_not_found(self, rig: Rig) -> None:
        (version,) = await put(rig.store, "/gone.md", b"x")
        await remove(rig.store, "/gone.md")
        before = await picture(rig.store)
        for path in ("/gone.md", "/none/at/all.md"):
            for expect in (IfVersion(version.id), IfContent(sha256(b"x"))):
                with refused(NotFound) as caught:
                    await put(rig.store, path, b"boom", expect)
                assert caught.error.path == p(path)
                with refused(NotFound) as caught:
                    await remove(rig.store, path, expect)
                assert caught.error.path == p(path)
        assert await picture(rig.store) == before

    async def promise_a_removed_memory_is_gone_and_its_history_stays(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/d/a.md", b"hello")
        (gone,) = await remove(rig.store, "/d/a.md")
        assert gone.operation == "deleted"
        assert gone.memory_id == made.memory_id
        assert gone.path == p("/d/a.md")
        assert (gone.size_bytes, gone.sha256, gone.content) == (None, None, None)
        assert await tree(rig.store) == {}
        found = await history(rig.store, VersionFilter(memory_id=made.memory_id))
        assert [version.id for version in found] == [gone.id, made.id]

    async def promise_a_directory_is_removed_with_all_beneath_and_nothing_beside(
        self, rig: Rig
    ) -> None:
        await fill(rig.store, "/d/a", "/d/e/b", "/d/.h/c", "/d.md", "/d2/a", "/D/a", "/x/d/a")
        await remove(rig.store, "/d")
        assert await names(rig.store) == ["/D/a", "/d.md", "/d2/a", "/x/d/a"]

    async def promise_removing_wildcards_removes_only_themselves(self, rig: Rig) -> None:
        await fill(rig.store, "/a_b/1", "/axb/2", "/1%/3", "/1zz/4", "/[ab]/5", "/a/6", "/*/7")
        for path in ("/a_b", "/1%", "/[ab]", "/*"):
            await remove(rig.store, path)
        assert await names(rig.store) == ["/1zz/4", "/a/6", "/axb/2"]

    async def promise_removing_what_is_missing_is_not_found(self, rig: Rig) -> None:
        await put(rig.store, "/d/a.md", b"keep")
        before = await picture(rig.store)
        for path in ("/none", "/d/none", "/d/a.md/below", "/d/a", "/d/a.md.bak"):
            with refused(NotFound) as caught:
                await remove(rig.store, path)
            assert caught.error.path == p(path)
        assert await picture(rig.store) == before

    async def promise_removing_the_root_is_refused(self, rig: Rig) -> None:
        await put(rig.store, "/d/a.md", b"keep")
        with refused(RootRefused):
            await remove(rig.store, "/")
        assert await names(rig.store) == ["/d/a.md"]

    async def promise_preconditions_do_not_fit_a_directory(self, rig: Rig) -> None:
        (version,) = await put(rig.store, "/d/a.md", b"keep")
        before = await picture(rig.store)
        for expect in (IfVersion(version.id), IfContent(sha256(b"keep"))):
            with refused(IsADirectory) as caught:
                await remove(rig.store, "/d", expect)
            assert caught.error.path == p("/d")
        assert await picture(rig.store) == before

    async def promise_a_directory_vanishes_with_its_last_memory(self, rig: Rig) -> None:
        await put(rig.store, "/d/e/a.md", b"x")
        await remove(rig.store, "/d/e/a.md")
        with refused(NotFound):
            await rig.store.outline(p("/d"), 1000)
        with refused(NotFound):
            await remove(rig.store, "/d/e")
        await put(rig.store, "/d", b"now a file", Expect.ABSENT)
        assert await tree(rig.store) == {"/d": b"now a file"}

    async def promise_a_file_that_went_makes_room_for_a_directory(self, rig: Rig) -> None:
        await put(rig.store, "/d", b"a file")
        await remove(rig.store, "/d")
        await put(rig.store, "/d/a.md", b"x", Expect.ABSENT)
        assert await tree(rig.store) == {"/d/a.md": b"x"}

    async def promise_an_id_is_never_given_again(self, rig: Rig) -> None:
        seen: set[str] = set()
        for _ in range(5):
            (version,) = await put(rig.store, "/d/a.md", b"x")
            assert version.memory_id not in seen
            seen.add(version.memory_id)
            await remove(rig.store, "/d")

    async def promise_a_deleted_memory_comes_back_under_its_id_when_asked(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a.md", b"one")
        (gone,) = await remove(rig.store, "/a.md")
        (back,) = await put(rig.store, "/d/b.md", b"two", Expect.ABSENT, keep_id=made.memory_id)
        assert back.memory_id == made.memory_id
        assert back.operation == "created"
        assert (await rig.store.locate(made.memory_id)).path == p("/d/b.md")
        assert await read(rig.store, "/d/b.md") == b"two"
        found = await history(rig.store, VersionFilter(memory_id=made.memory_id))
        assert [version.id for version in found] == [back.id, gone.id, made.id]

    async def promise_a_memory_removed_with_its_directory_comes_back_under_its_id(
        self, rig: Rig
    ) -> None:
        (made,) = await put(rig.store, "/d/e/a.md", b"one")
        await remove(rig.store, "/d")
        (back,) = await put(rig.store, "/d/e/a.md", b"one", keep_id=made.memory_id)
        assert back.memory_id == made.memory_id
        assert await tree(rig.store) == {"/d/e/a.md": b"one"}

    async def promise_of_many_who_make_one_path_exactly_one_does(self, rig: Rig) -> None:
        await put(rig.store, "/other.md", b"x")

        outcomes = await rig.together(
            [
                partial(put, rig.store, "/new/a.md", b"%d" % number, Expect.ABSENT)
                for number in range(8)
            ]
        )
        ((version,),) = values(outcomes)
        assert all(isinstance(error, AlreadyExists) for error in errors(outcomes))
        assert sha256(await read(rig.store, "/new/a.md")) == version.sha256
        assert len(await history(rig.store)) == 2

    async def promise_of_many_who_hold_one_version_exactly_one_writes(self, rig: Rig) -> None:
        (head,) = await put(rig.store, "/a.md", b"old")
        for expect in (IfVersion(head.id), IfContent(sha256(b"old"))):
            outcomes = await rig.together(
                [
                    partial(put, rig.store, "/a.md", b"new %d" % number, expect)
                    for number in range(8)
                ]
            )
            ((version,),) = values(outcomes)
            assert all(isinstance(error, Conflict) for error in errors(outcomes))
            assert sha256(await read(rig.store, "/a.md")) == version.sha256
            await put(rig.store, "/a.md", b"old")

    async def promise_memories_made_at_once_in_one_new_directory_are_all_kept(
        self, rig: Rig
    ) -> None:
        outcomes = await rig.together(
            [
                partial(put, rig.store, f"/new/deep/{number}.md", b"x", Expect.ABSENT)
                for number in range(8)
            ]
        )
        assert not errors(outcomes)
        assert await names(rig.store) == [f"/new/deep/{number}.md" for number in range(8)]
        assert (await rig.store.usage()).files == 8
