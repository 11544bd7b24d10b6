"""Batches: in order, each change sees those before it, all of them or nothing."""

from __future__ import annotations

from functools import partial

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    FileTooLarge,
    IsADirectory,
    MemorandaError,
    MemoryFull,
    MoveIntoItself,
    NoMatch,
    NotADirectory,
    NotFound,
    RootRefused,
    TooManyFiles,
)
from memoranda.stores.base import (
    Ceiling,
    Change,
    Context,
    Edit,
    Expect,
    IfVersion,
    Move,
    Put,
    Remove,
    Version,
)
from memoranda.testing.promises.rig import Rig, errors
from memoranda.testing.promises.steps import (
    AGENT,
    append,
    apply,
    fill,
    history,
    memories,
    p,
    picture,
    put,
    read,
    refused,
    tree,
)
from memoranda.text.splice import Splice


def within(ceiling: Ceiling) -> Context:
    """A context with this ceiling."""
    return Context(command="test", ceiling=ceiling)


def give_up(old: bytes) -> Splice:
    """An edit that refuses."""
    raise NoMatch(p("/a.md"))


class BatchPromises:
    """What ``apply`` does with several changes."""

    async def promise_an_empty_batch_changes_nothing(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        before = await picture(rig.store)
        assert await apply(rig.store) == ()
        assert await picture(rig.store) == before

    async def promise_a_batch_gives_one_version_for_each_changed_memory_in_order(
        self, rig: Rig
    ) -> None:
        await fill(rig.store, "/old.md", "/same.md", "/edited.md", "/z.md")
        versions = await apply(
            rig.store,
            Put(p("/new.md"), b"n"),
            Remove(p("/old.md")),
            Put(p("/same.md"), b"/same.md"),
            Edit(p("/edited.md"), append(b"!")),
            Move(p("/z.md"), p("/a.md")),
        )
        assert [(version.operation, str(version.path)) for version in versions] == [
            ("created", "/memories/new.md"),
            ("deleted", "/memories/old.md"),
            ("modified", "/memories/edited.md"),
            ("modified", "/memories/a.md"),
        ]
        newest = await history(rig.store, limit=4)
        assert [version.id for version in reversed(newest[:4])] == [v.id for v in versions]
        assert all(version.content is None for version in versions)

    async def promise_each_change_sees_those_before_it(self, rig: Rig) -> None:
        await apply(
            rig.store,
            Put(p("/d/a.md"), b"one"),
            Edit(p("/d/a.md"), append(b" two")),
            Move(p("/d"), p("/e")),
            Edit(p("/e/a.md"), append(b" three")),
            Put(p("/d"), b"a file now", Expect.ABSENT),
            Move(p("/e/a.md"), p("/b.md")),
            Put(p("/e"), b"free again", Expect.ABSENT),
            Put(p("/gone.md"), b"x"),
            Remove(p("/gone.md")),
        )
        assert await tree(rig.store) == {
            "/b.md": b"one two three",
            "/d": b"a file now",
            "/e": b"free again",
        }
        assert (await rig.store.usage()).files == 3
        assert (await rig.store.verify()).ok

    async def promise_two_memories_swap_places_in_one_batch(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/b.md")
        before = {entry.path.store_path: entry.memory_id for entry in await memories(rig.store)}
        await apply(
            rig.store,
            Move(p("/a.md"), p("/swap")),
            Move(p("/b.md"), p("/a.md")),
            Move(p("/swap"), p("/b.md")),
        )
        assert await tree(rig.store) == {"/a.md": b"/b.md", "/b.md": b"/a.md"}
        after = {entry.path.store_path: entry.memory_id for entry in await memories(rig.store)}
        assert after == {"/a.md": before["/b.md"], "/b.md": before["/a.md"]}

    async def promise_a_batch_whose_last_change_fails_leaves_nothing(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/b.md", "/d/x", "/d/e/y")
        (stale,) = await put(rig.store, "/c.md", b"one")
        await put(rig.store, "/c.md", b"two")
        before = await picture(rig.store)
        failing: list[tuple[Change, type[MemorandaError]]] = [
            (Put(p("/"), b""), RootRefused),
            (Put(p("/e2"), b""), IsADirectory),
            (Put(p("/new/deep.md/x"), b""), NotADirectory),
            (Put(p("/new/deep.md"), b"", Expect.ABSENT), AlreadyExists),
            (Put(p("/c.md"), b"", IfVersion(stale.id)), Conflict),
            (Put(p("/a.md"), b"", IfVersion(stale.id)), NotFound),
            (Edit(p("/c.md"), give_up), NoMatch),
            (Edit(p("/none"), append(b"")), NotFound),
            (Edit(p("/e2"), append(b"")), IsADirectory),
            (Remove(p("/")), RootRefused),
            (Remove(p("/a.md")), NotFound),
            (Remove(p("/c.md"), IfVersion(stale.id)), Conflict),
            (Move(p("/none"), p("/x")), NotFound),
            (Move(p("/c.md"), p("/e2")), AlreadyExists),
            (Move(p("/e2"), p("/e2/f")), MoveIntoItself),
            (Move(p("/"), p("/x")), RootRefused),
            (Move(p("/c.md"), p("/new/deep.md/x")), NotADirectory),
        ]
        cases = [(change, AGENT, error) for change, error in failing]
        large = Put(p("/e2/x"), b"x" * 61)
        cases.append((large, within(Ceiling(file_bytes=60)), FileTooLarge))
        cases.append((large, within(Ceiling(total_bytes=60)), MemoryFull))
        cases.append((Put(p("/one-too-many.md"), b""), within(Ceiling(files=6)), TooManyFiles))
        for change, by, error in cases:
            with refused(error):
                await apply(
                    rig.store,
                    Put(p("/new/deep.md"), b"new"),
                    Edit(p("/b.md"), append(b" edited")),
                    Remove(p("/a.md")),
                    Move(p("/d"), p("/e2")),
                    Put(p("/c.md"), b"three"),
                    Put(p("/small.md"), b""),
                    change,
                    by=by,
                )
            assert await picture(rig.store) == before, change
        assert (await rig.store.verify()).ok

    async def promise_a_batch_that_fails_at_its_first_change_runs_no_other(self, rig: Rig) -> None:
        ran: list[bytes] = []

        def note(old: bytes) -> Splice:
            ran.append(old)
            return append(b"!")(old)

        await fill(rig.store, "/a.md")
        before = await picture(rig.store)
        with refused(NotFound):
            await apply(rig.store, Remove(p("/none")), Edit(p("/a.md"), note))
        assert ran == []
        assert await picture(rig.store) == before

    async def promise_the_store_goes_on_after_a_failed_batch(self, rig: Rig) -> None:
        for number in range(5):
            with refused(NotFound):
                await apply(rig.store, Put(p("/a.md"), b"x"), Remove(p("/none")))
            await put(rig.store, f"/ok{number}.md", b"x")
        assert len(await tree(rig.store)) == 5

    async def promise_versions_of_one_batch_share_who_and_why(self, rig: Rig) -> None:
        by = Context(actor="user_01", command="import", trace_id="trace-7")
        await apply(rig.store, Put(p("/a.md"), b"1"), Put(p("/b.md"), b"2"), by=by)
        for version in await history(rig.store):
            assert (version.actor, version.command, version.trace_id) == (
                "user_01",
                "import",
                "trace-7",
            )

    async def promise_versions_of_one_batch_share_its_number_and_time(self, rig: Rig) -> None:
        await put(rig.store, "/d/old.md", b"0")
        await apply(rig.store, Put(p("/a.md"), b"1"), Put(p("/d/b.md"), b"2"))
        await apply(rig.store, Move(p("/d"), p("/e")), Remove(p("/a.md")))
        batches: dict[int, list[Version]] = {}
        for version in await history(rig.store):
            batches.setdefault(version.batch, []).append(version)
        assert [len(batch) for batch in batches.values()] == [3, 2, 1]
        for number, batch in batches.items():
            assert len({version.created_at_ns for version in batch}) == 1
            assert number <= min(version.seq for version in batch)
        assert list(batches) == sorted(batches, reverse=True)

    async def promise_a_large_batch_is_one_batch(self, rig: Rig) -> None:
        changes = [Put(p(f"/d{number % 10}/{number}.md"), b"%d" % number) for number in range(300)]
        with refused(NotFound):
            await rig.store.apply([*changes, Remove(p("/none"))], AGENT)
        assert await tree(rig.store) == {}
        assert len(await rig.store.apply(changes, AGENT)) == 300
        assert (await rig.store.usage()).files == 300

    async def promise_batches_over_two_memories_never_mix(self, rig: Rig) -> None:
        await apply(rig.store, Put(p("/a"), b""), Put(p("/b"), b""))

        async def write(letter: bytes) -> None:
            for _ in range(8):
                await apply(rig.store, Edit(p("/a"), append(letter)), Edit(p("/b"), append(letter)))

        letters = b"wxyz"
        assert not errors(await rig.together([partial(write, bytes([one])) for one in letters]))
        first, second = await read(rig.store, "/a"), await read(rig.store, "/b")
        assert first == second
        assert sorted(first) == sorted(letters * 8)
