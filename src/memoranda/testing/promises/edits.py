"""Edit: a pure function of the present content, run where no update can get lost."""

from __future__ import annotations

from functools import partial

from memoranda.errors import Conflict, IsADirectory, NoMatch, NotFound, Refused, RootRefused
from memoranda.stores.base import IfContent, IfVersion
from memoranda.testing.promises.changes import sha256
from memoranda.testing.promises.rig import Rig, errors
from memoranda.testing.promises.steps import (
    append,
    constantly,
    edit,
    history,
    p,
    picture,
    put,
    read,
    refused,
    remove,
)
from memoranda.text.splice import Splice

WRITERS = 6
EDITS_EACH = 20


class EditPromises:
    """What Edit does."""

    async def promise_an_edit_puts_its_splice_into_the_present_content(self, rig: Rig) -> None:
        old = b"0123456789"
        splices = [
            Splice(0, 0, b"start "),
            Splice(10, 10, b" end"),
            Splice(3, 7, b""),
            Splice(3, 7, b"much longer than what it replaces"),
            Splice(0, 10, b"all"),
            Splice(0, 10, b""),
            Splice(5, 5, b"\x00\xff\r\n"),
            Splice(9, 10, b"z"),
        ]
        for splice in splices:
            await put(rig.store, "/a.md", old)
            (version,) = await edit(rig.store, "/a.md", constantly(splice))
            wanted = splice.apply(old)
            assert await read(rig.store, "/a.md") == wanted
            assert (version.operation, version.size_bytes) == ("modified", len(wanted))
            assert version.sha256 == sha256(wanted)
            assert (await rig.store.version(version.id)).content == wanted

    async def promise_an_edit_sees_the_content_that_is_there(self, rig: Rig) -> None:
        for content in (b"", b"a\r\nb", b"\x00\xff\xfe", b"x" * 200_000):
            seen: list[bytes] = []

            def note(old: bytes, seen: list[bytes] = seen) -> Splice:
                seen.append(bytes(old))
                return Splice(len(old), len(old), b"!")

            await put(rig.store, "/a.md", content)
            await edit(rig.store, "/a.md", note)
            assert seen[-1] == content
            assert await read(rig.store, "/a.md") == content + b"!"

    async def promise_an_edit_that_changes_nothing_makes_no_version(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"0123456789")
        before = await picture(rig.store)
        for splice in (Splice(2, 5, b"234"), Splice(0, 0, b""), Splice(0, 10, b"0123456789")):
            assert await edit(rig.store, "/a.md", constantly(splice)) == ()
        assert await picture(rig.store) == before

    async def promise_what_an_edit_raises_comes_out_unchanged_and_nothing_is_stored(
        self, rig: Rig
    ) -> None:
        await put(rig.store, "/a.md", b"hello")
        before = await picture(rig.store)
        raised = NoMatch(p("/a.md"))

        def give_up(old: bytes) -> Splice:
            raise raised

        with refused(Refused) as caught:
            await edit(rig.store, "/a.md", give_up)
        assert caught.error is raised
        assert await picture(rig.store) == before
        await edit(rig.store, "/a.md", append(b"!"))
        assert await read(rig.store, "/a.md") == b"hello!"

    async def promise_an_edit_that_breaks_leaves_the_store_whole_and_working(
        self, rig: Rig
    ) -> None:
        await put(rig.store, "/a.md", b"hello")
        before = await picture(rig.store)

        def break_down(old: bytes) -> Splice:
            raise ArithmeticError

        with refused(ArithmeticError):
            await edit(rig.store, "/a.md", break_down)
        assert await picture(rig.store) == before
        await edit(rig.store, "/a.md", append(b"!"))
        assert await read(rig.store, "/a.md") == b"hello!"

    async def promise_an_edit_of_nothing_or_of_a_directory_is_refused(self, rig: Rig) -> None:
        await put(rig.store, "/d/a.md", b"hello")
        before = await picture(rig.store)
        for path in ("/none", "/d/none", "/d/a.md/below"):
            with refused(NotFound) as missing:
                await edit(rig.store, path, append(b"!"))
            assert missing.error.path == p(path)
        with refused(IsADirectory) as caught:
            await edit(rig.store, "/d", append(b"!"))
        assert caught.error.path == p("/d")
        # The root is a directory and refused by its own name elsewhere; both say it.
        with refused(IsADirectory, RootRefused):
            await edit(rig.store, "/", append(b"!"))
        assert await picture(rig.store) == before

    async def promise_an_edit_keeps_its_preconditions(self, rig: Rig) -> None:
        (first,) = await put(rig.store, "/a.md", b"one")
        (second,) = await put(rig.store, "/a.md", b"two")
        before = await picture(rig.store)
        for expect in (IfVersion(first.id), IfContent(sha256(b"one"))):
            with refused(Conflict):
                await edit(rig.store, "/a.md", append(b"!"), expect)
            with refused(NotFound):
                await edit(rig.store, "/none", append(b"!"), expect)
        assert await picture(rig.store) == before
        await edit(rig.store, "/a.md", append(b"!"), IfVersion(second.id))
        await edit(rig.store, "/a.md", append(b"!"), IfContent(sha256(b"two!")))
        assert await read(rig.store, "/a.md") == b"two!!"

    async def promise_no_edit_is_lost_among_many_writers(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"")

        async def write(writer: int) -> None:
            for number in range(EDITS_EACH):
                await edit(rig.store, "/a.md", append(b"%d.%d\n" % (writer, number)))

        assert not errors(await rig.together([partial(write, writer) for writer in range(WRITERS)]))
        lines = (await read(rig.store, "/a.md")).splitlines()
        assert sorted(lines) == sorted(
            b"%d.%d" % (writer, number) for writer in range(WRITERS) for number in range(EDITS_EACH)
        )
        for writer in range(WRITERS):
            own = [line for line in lines if line.startswith(b"%d." % writer)]
            assert own == [b"%d.%d" % (writer, number) for number in range(EDITS_EACH)]
        versions = await history(rig.store)
        assert len(versions) == WRITERS * EDITS_EACH + 1
        sizes = [version.size_bytes for version in versions if version.size_bytes is not None]
        assert sizes == sorted(sizes, reverse=True)

    async def promise_counting_up_by_edits_counts_every_one(self, rig: Rig) -> None:
        await put(rig.store, "/n", b"0")

        def one_more(old: bytes) -> Splice:
            return Splice(0, len(old), b"%d" % (int(old) + 1))

        async def count() -> None:
            for _ in range(EDITS_EACH):
                await edit(rig.store, "/n", one_more)

        assert not errors(await rig.together([count] * WRITERS))
        assert await read(rig.store, "/n") == b"%d" % (WRITERS * EDITS_EACH)

    async def promise_writers_on_different_memories_do_not_meet(self, rig: Rig) -> None:
        async def live(writer: int) -> None:
            path = f"/w{writer}/a.md"
            for number in range(6):
                await put(rig.store, path, b"%d" % number)
                await edit(rig.store, path, append(b"!"))
                assert await read(rig.store, path) == b"%d!" % number
                await remove(rig.store, path)

        assert not errors(await rig.together([partial(live, writer) for writer in range(WRITERS)]))
        assert (await rig.store.usage())[:2] == (0, 0)
        assert len(await history(rig.store)) == WRITERS * 6 * 3
