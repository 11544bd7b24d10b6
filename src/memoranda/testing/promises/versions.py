"""History: every version, in order, by page and filter, with its content."""

from __future__ import annotations

import time

from memoranda.errors import UnknownId
from memoranda.stores.base import Context, Put, Remove, Version, VersionFilter
from memoranda.testing.promises.changes import sha256
from memoranda.testing.promises.reading import WRONG_IDS
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.steps import (
    append,
    apply,
    edit,
    fill,
    history,
    memories,
    move,
    p,
    put,
    read,
    refused,
    remove,
)

DAY_NS = 86_400 * 10**9


class VersionPromises:
    """What ``versions`` and ``version`` answer."""

    async def promise_an_empty_store_has_no_versions(self, rig: Rig) -> None:
        page = await rig.store.versions()
        assert page == ((), None)

    async def promise_each_change_of_a_memory_is_a_version_newest_first(self, rig: Rig) -> None:
        by = Context(actor="sesn_01", command="create", trace_id="t-1")
        (made,) = await put(rig.store, "/a.md", b"one", by=by)
        (edited,) = await edit(rig.store, "/a.md", append(b"!"), by=Context("user_7", "insert"))
        (moved,) = await move(rig.store, "/a.md", "/b.md", by=Context("svac_1", "rename"))
        (gone,) = await remove(rig.store, "/b.md", by=Context("expiry", "sweep"))
        found = await history(rig.store)
        assert found == [gone, moved, edited, made]
        assert [
            (v.operation, str(v.path), v.actor, v.command, v.trace_id, v.size_bytes) for v in found
        ] == [
            ("deleted", "/memories/b.md", "expiry", "sweep", None, None),
            ("modified", "/memories/b.md", "svac_1", "rename", None, 4),
            ("modified", "/memories/a.md", "user_7", "insert", None, 4),
            ("created", "/memories/a.md", "sesn_01", "create", "t-1", 3),
        ]
        assert len({version.id for version in found}) == 4
        assert {version.memory_id for version in found} == {made.memory_id}
        assert not any(version.late for version in found)
        assert all(v.redacted_at_ns is None and v.redacted_by is None for v in found)

    async def promise_hashes_and_sizes_are_those_of_the_content_then(self, rig: Rig) -> None:
        contents = [b"", b"one", b"\x00\xff" * 5000, "é\r\n".encode(), b"one"]
        for content in contents:
            await put(rig.store, "/a.md", content)
        found = await history(rig.store, content=True)
        assert [version.content for version in reversed(found)] == contents
        for version in found:
            assert version.content is not None
            assert version.size_bytes == len(version.content)
            assert version.sha256 == sha256(version.content)

    async def promise_contents_come_only_when_asked_for(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"one")
        await remove(rig.store, "/a.md")
        assert [version.content for version in await history(rig.store)] == [None, None]
        assert [version.content for version in await history(rig.store, content=True)] == [
            None,
            b"one",
        ]

    async def promise_a_version_is_found_by_its_id_with_its_content(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a.md", b"one")
        (changed,) = await put(rig.store, "/a.md", b"two")
        (gone,) = await remove(rig.store, "/a.md")
        assert await rig.store.version(made.id) == made._replace(content=b"one")
        assert await rig.store.version(changed.id) == changed._replace(content=b"two")
        assert await rig.store.version(gone.id) == gone
        for wrong in (made.memory_id, *WRONG_IDS):
            with refused(UnknownId):
                await rig.store.version(wrong)

    async def promise_old_contents_stay_exact_through_many_small_edits(self, rig: Rig) -> None:
        wanted = [b"line\n" * 200]
        await put(rig.store, "/a.md", wanted[0])
        for number in range(80):
            at = (number * 37) % 900
            changed = wanted[-1][:at] + b"%d" % number + wanted[-1][at + number % 5 :]
            await put(rig.store, "/a.md", changed)
            wanted.append(changed)
        found = await history(rig.store, limit=7, content=True)
        assert [version.content for version in reversed(found)] == wanted
        for number in (0, 1, 31, 32, 33, 64, 79, 80):
            version = await rig.store.version(found[-1 - number].id)
            assert version.content == wanted[number]

    async def promise_versions_are_ordered_and_their_times_never_go_back(self, rig: Rig) -> None:
        for number in range(30):
            await put(rig.store, f"/{number % 3}.md", b"%d" % number)
        found = await history(rig.store)
        seqs = [version.seq for version in found]
        assert seqs == sorted(set(seqs), reverse=True)
        times = [version.created_at_ns for version in found]
        assert times == sorted(times, reverse=True)
        assert abs(times[0] - time.time_ns()) < DAY_NS
        assert found[0].created_at.timestamp() * 1e9 - times[0] < 10**6

    async def promise_pages_of_versions_make_the_same_whole(self, rig: Rig) -> None:
        await fill(rig.store, "/d/a", "/d/b", "/d/e/c", "/x")
        await move(rig.store, "/d", "/e")
        await put(rig.store, "/x", b"changed")
        await remove(rig.store, "/e")
        whole = await history(rig.store)
        assert len(whole) == 4 + 3 + 1 + 3
        assert len({version.id for version in whole}) == len(whole)
        seqs = [version.seq for version in whole]
        assert seqs == sorted(seqs, reverse=True)
        for limit in (1, 2, 3, 4, len(whole) - 1, len(whole), len(whole) + 1):
            assert await history(rig.store, limit=limit) == whole

    async def promise_paging_back_is_not_disturbed_by_new_versions(self, rig: Rig) -> None:
        for number in range(6):
            await put(rig.store, "/a.md", b"%d" % number)
        whole = await history(rig.store)
        page = await rig.store.versions(limit=2)
        found = list(page.versions)
        while page.after is not None:
            await put(rig.store, "/a.md", b"newer %d" % len(found))
            page = await rig.store.versions(after=page.after, limit=2)
            found.extend(page.versions)
        assert found == whole

    async def promise_versions_are_filtered_by_memory(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a.md", b"one")
        await put(rig.store, "/b.md", b"other")
        (moved,) = await move(rig.store, "/a.md", "/c.md")
        (new,) = await put(rig.store, "/a.md", b"a new one")
        found = await history(rig.store, VersionFilter(memory_id=made.memory_id))
        assert [version.id for version in found] == [moved.id, made.id]
        found = await history(rig.store, VersionFilter(memory_id=new.memory_id), limit=1)
        assert [version.id for version in found] == [new.id]
        assert await history(rig.store, VersionFilter(memory_id="mem_0")) == []

    async def promise_a_path_finds_the_versions_of_all_that_was_ever_there_or_beneath(
        self, rig: Rig
    ) -> None:
        (first,) = await put(rig.store, "/d/a.md", b"one")
        (second,) = await move(rig.store, "/d/a.md", "/e/b.md")
        (third,) = await put(rig.store, "/d/a.md", b"another")
        (beside,) = await put(rig.store, "/d/a.md.bak", b"beside")
        for path, wanted in (
            ("/d/a.md", [third.id, second.id, first.id]),
            ("/d", [beside.id, third.id, second.id, first.id]),
            ("/e/b.md", [second.id, first.id]),
            ("/e", [second.id, first.id]),
            ("/", [beside.id, third.id, second.id, first.id]),
            ("/none", []),
            ("/d/a", []),
        ):
            found = await history(rig.store, VersionFilter(path=p(path)))
            assert [version.id for version in found] == wanted, path

    async def promise_a_path_finds_what_came_and_went_with_its_directory(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/d/e/a.md", b"one")
        await move(rig.store, "/d", "/f")
        await put(rig.store, "/f/e/a.md", b"two")
        await move(rig.store, "/f/e", "/g")
        await remove(rig.store, "/g")
        for path in ("/d/e/a.md", "/d", "/f/e/a.md", "/f/e", "/g/a.md", "/g"):
            found = await history(rig.store, VersionFilter(path=p(path)))
            assert {version.memory_id for version in found} == {made.memory_id}, path
            assert [version.operation for version in found] == [
                "deleted",
                "modified",
                "modified",
                "modified",
                "created",
            ], path
            assert [str(version.path) for version in found] == [
                "/memories/g/a.md",
                "/memories/g/a.md",
                "/memories/f/e/a.md",
                "/memories/f/e/a.md",
                "/memories/d/e/a.md",
            ], path

    async def promise_each_memory_of_a_removed_directory_has_its_deletion(self, rig: Rig) -> None:
        await fill(rig.store, "/d/a", "/d/e/b", "/d.md")
        before = await memories(rig.store)
        by = Context(actor="user_9", command="delete", trace_id="t-9")
        await remove(rig.store, "/d", by=by)
        found = await history(rig.store, VersionFilter(operation="deleted"))
        assert sorted(str(version.path) for version in found) == [
            "/memories/d/a",
            "/memories/d/e/b",
        ]
        assert {version.memory_id for version in found} == {
            entry.memory_id for entry in before if entry.path.is_below(p("/d"))
        }
        for version in found:
            assert (version.actor, version.command, version.trace_id) == ("user_9", "delete", "t-9")
            assert (version.size_bytes, version.sha256) == (None, None)
            assert await rig.store.version(version.id) == version

    async def promise_versions_are_filtered_by_operation_actor_and_time(self, rig: Rig) -> None:
        (v1,) = await put(rig.store, "/a", b"1", by=Context("agent"))
        (v2,) = await put(rig.store, "/a", b"2", by=Context("user_1"))
        (v3,) = await put(rig.store, "/b", b"3", by=Context("agent"))
        (v4,) = await remove(rig.store, "/a", by=Context("user_1"))
        whole = [v4, v3, v2, v1]
        cases: list[tuple[VersionFilter, list[Version]]] = [
            (VersionFilter(operation="created"), [v3, v1]),
            (VersionFilter(operation="modified"), [v2]),
            (VersionFilter(operation="deleted"), [v4]),
            (VersionFilter(actor="user_1"), [v4, v2]),
            (VersionFilter(actor="user_"), []),
            (VersionFilter(actor="agent", operation="created", path=p("/b")), [v3]),
            (VersionFilter(memory_id=v1.memory_id, operation="created"), [v1]),
            (VersionFilter(memory_id=v1.memory_id, path=p("/b")), []),
        ]
        for where, wanted in cases:
            assert await history(rig.store, where, limit=1) == wanted, where
        for version in whole:
            at = version.created_at_ns
            since = [one for one in whole if one.created_at_ns >= at]
            until = [one for one in whole if one.created_at_ns <= at]
            assert await history(rig.store, VersionFilter(from_ns=at)) == since
            assert await history(rig.store, VersionFilter(to_ns=at)) == until
            assert await history(rig.store, VersionFilter(from_ns=at, to_ns=at)) == [
                one for one in since if one in until
            ]
        assert await history(rig.store, VersionFilter(from_ns=v4.created_at_ns + 1)) == []
        assert await history(rig.store, VersionFilter(to_ns=v1.created_at_ns - 1)) == []

    async def promise_the_head_of_each_memory_is_its_newest_version(self, rig: Rig) -> None:
        await fill(rig.store, "/a", "/d/b", "/d/c")
        await apply(rig.store, Put(p("/a"), b"new"), Remove(p("/d/c")))
        await move(rig.store, "/d", "/e")
        for entry in await memories(rig.store):
            head = (await history(rig.store, VersionFilter(memory_id=entry.memory_id)))[0]
            assert head.id == entry.version_id
            assert head.path == entry.path
            assert head.created_at_ns <= max(entry.updated_at_ns, head.created_at_ns)
            content = (await rig.store.version(head.id)).content
            assert content == await read(rig.store, entry.path.store_path)
