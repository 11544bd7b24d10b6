"""Audit notes, touches, verification, closing, reopening, and what lies on storage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from memoranda.errors import Misuse, Unsupported
from memoranda.stores.base import Context, Store
from memoranda.testing.promises.rig import USER, Rig
from memoranda.testing.promises.steps import (
    AGENT,
    append,
    edit,
    fill,
    history,
    memories,
    move,
    p,
    picture,
    put,
    read,
    refused,
    remove,
    tree,
)

EVERY_CALL: tuple[tuple[str, Callable[[Store], Awaitable[object]]], ...] = (
    ("read", lambda store: store.read(p("/a.md"))),
    ("stat", lambda store: store.stat(p("/a.md"))),
    ("locate", lambda store: store.locate("mem_0")),
    ("outline", lambda store: store.outline(p("/"), 100)),
    ("list", lambda store: store.list(p("/"))),
    ("search", lambda store: store.search("x", p("/"))),
    ("usage", lambda store: store.usage()),
    ("apply", lambda store: put(store, "/a.md", b"after the end")),
    ("record", lambda store: store.record(AGENT)),
    ("touch", lambda store: store.touch([p("/a.md")], 1)),
    ("versions", lambda store: store.versions()),
    ("version", lambda store: store.version("memver_0")),
    ("moment", lambda store: store.moment(0)),
    ("redact", lambda store: store.redact("memver_0", AGENT)),
    ("verify", lambda store: store.verify()),
)
"""Every method of a store but ``close``, with arguments that harm nothing."""

CAPABILITY_FOR = {"search": "searches", "moment": "time_travel", "redact": "redacts"}
"""What a store has to be able to do for some of them."""


class LifetimePromises:
    """What holds over the whole life of a store."""

    async def promise_an_id_names_the_store_and_stays(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        store_id = rig.store.id
        assert store_id.startswith("memstore_")
        info = await rig.backend.find_user(USER)
        assert info is not None
        assert info.id == store_id
        await rig.reopen()
        if rig.backend.capabilities.durable:
            assert rig.store.id == store_id

    async def promise_recording_a_view_changes_nothing(self, rig: Rig) -> None:
        note = Context(command="view", trace_id="t", audit={"path": "/a.md", "outcome": "ok"})
        await rig.store.record(note)
        await put(rig.store, "/a.md", b"x")
        before = await picture(rig.store)
        for _ in range(5):
            await rig.store.record(note)
        assert await picture(rig.store) == before
        await rig.reopen()
        if rig.backend.capabilities.durable:
            assert await picture(rig.store) == before
            assert (await rig.store.verify()).ok

    async def promise_touching_changes_nothing_and_passes_over_what_is_missing(
        self, rig: Rig
    ) -> None:
        await fill(rig.store, "/a.md", "/d/b.md")
        before = await picture(rig.store)
        at = before.versions[0].created_at_ns + 10**9
        await rig.store.touch([p("/a.md"), p("/none"), p("/d"), p("/"), p("/a.md/x")], at)
        await rig.store.touch([], at)
        assert await picture(rig.store) == before
        await rig.reopen()
        if rig.backend.capabilities.durable:
            assert await picture(rig.store) == before

    async def promise_verification_finds_nothing_wrong_in_a_used_store(self, rig: Rig) -> None:
        assert (await rig.store.verify()).ok
        await fill(rig.store, "/a.md", "/d/b.md", "/d/e/c.md", "/.h/x", "/z")
        for number in range(40):
            await edit(rig.store, "/a.md", append(b"%d\n" % number))
        await move(rig.store, "/d", "/f/g")
        await remove(rig.store, "/z")
        await put(rig.store, "/bytes.bin", bytes(range(256)) * 300)
        report = await rig.store.verify()
        assert report.problems == ()
        assert report.files == 5
        assert report.versions >= 5 + 40 + 1 + 1 + 1

    async def promise_closing_twice_does_nothing_more(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        await rig.store.close()
        await rig.store.close()

    async def promise_a_closed_store_refuses_every_call_as_misuse(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        await rig.store.close()
        for name, call in EVERY_CALL:
            able = getattr(rig.store.capabilities, CAPABILITY_FOR.get(name, ""), True)
            with refused(Misuse) if able else refused(Misuse, Unsupported):
                await call(rig.store)

    async def promise_a_closed_backend_closes_its_stores(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        await rig.backend.close()
        with refused(Misuse):
            await read(rig.store, "/a.md")
        with refused(Misuse):
            await put(rig.store, "/a.md", b"y")
        await rig.backend.close()

    async def promise_a_store_that_was_closed_can_be_opened_again(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        await rig.store.close()
        again = await rig.for_user(USER)
        assert await tree(again) == {"/a.md": b"x"}
        await put(again, "/b.md", b"y")
        assert sorted(await tree(again)) == ["/a.md", "/b.md"]
        await again.close()

    async def promise_everything_is_there_after_opening_anew(self, rig: Rig) -> None:
        rig.needs("durable")
        await fill(rig.store, "/a.md", "/d/b.md", "/d/e/c.md", "/.h/x", "/gone")
        await edit(rig.store, "/a.md", append(b" edited"))
        await move(rig.store, "/d", "/f/g")
        await remove(rig.store, "/gone")
        await put(rig.store, "/bytes.bin", bytes(range(256)) * 300)
        before = await picture(rig.store)
        contents = await history(rig.store, content=True)
        for _ in range(3):
            await rig.reopen()
            assert await picture(rig.store) == before
            assert await history(rig.store, content=True) == contents
        await edit(rig.store, "/a.md", append(b" again"))
        assert await read(rig.store, "/a.md") == b"/a.md edited again"
        assert (await rig.store.verify()).ok

    async def promise_times_and_order_go_on_after_opening_anew(self, rig: Rig) -> None:
        rig.needs("durable")
        for number in range(6):
            await put(rig.store, "/a.md", b"%d" % number)
            await rig.reopen()
        found = await history(rig.store)
        assert [version.operation for version in found] == ["modified"] * 5 + ["created"]
        assert [v.seq for v in found] == sorted({v.seq for v in found}, reverse=True)
        times = [version.created_at_ns for version in found]
        assert times == sorted(times, reverse=True)
        assert len({version.id for version in found}) == 6

    async def promise_a_second_opening_sees_every_acknowledged_write_at_once(
        self, rig: Rig
    ) -> None:
        rig.needs("durable")
        rig.needs("shared_by_processes")
        other = await rig.subject.open_backend(rig.home)
        theirs = rig.subject.wrap(await other.for_user(USER))
        await put(rig.store, "/a.md", b"mine")
        assert await tree(theirs) == {"/a.md": b"mine"}
        await edit(theirs, "/a.md", append(b" and theirs"))
        await put(theirs, "/d/b.md", b"theirs")
        assert await tree(rig.store) == {"/a.md": b"mine and theirs", "/d/b.md": b"theirs"}
        await move(rig.store, "/d", "/e")
        await remove(theirs, "/e/b.md")
        assert await picture(rig.store) == await picture(theirs)
        assert rig.store.id == theirs.id
        await theirs.close()
        await other.close()
        assert (await rig.store.verify()).ok

    async def promise_storage_holds_what_the_store_says(self, rig: Rig) -> None:
        await fill(rig.store, "/a.md", "/d/b.md", "/d/e/c.md", "/.h/x", "/gone", "/\u00fc %41.md")
        await edit(rig.store, "/a.md", append(b" edited"))
        await move(rig.store, "/d/b.md", "/q.md")
        await move(rig.store, "/d", "/f/g")
        await remove(rig.store, "/gone")
        await put(rig.store, "/bytes.bin", bytes(range(256)) * 300)
        files = rig.subject.stored_files(rig.home, rig.store.id, USER)
        if files is not None:
            assert dict(files) == await tree(rig.store)
        assert len(await memories(rig.store)) == 6
