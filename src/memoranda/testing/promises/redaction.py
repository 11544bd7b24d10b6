"""Redaction: one version's content goes for good, and nothing else does."""

from __future__ import annotations

from memoranda.errors import NotRedactable, UnknownId, Unsupported
from memoranda.stores.base import Context, Version
from memoranda.testing.promises.reading import WRONG_IDS
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.searching import have_it_indexed
from memoranda.testing.promises.steps import (
    append,
    edit,
    history,
    move,
    p,
    picture,
    put,
    read,
    refused,
    remove,
)

OFFICER = Context(actor="user_privacy", command="redact")
SECRET = b"sk-Uq7Zr0X2-never-to-be-read-again-9fW3"


def blanked(version: Version) -> Version:
    """What stays of a version that is redacted."""
    return version._replace(path=None, size_bytes=None, sha256=None, content=None)


class RedactionPromises:
    """What ``redact`` does."""

    async def promise_a_backend_that_cannot_redact_says_so(self, rig: Rig) -> None:
        (old,) = await put(rig.store, "/a.md", b"old")
        await put(rig.store, "/a.md", b"new")
        if not rig.store.capabilities.redacts:
            with refused(Unsupported):
                await rig.store.redact(old.id, OFFICER)
        else:
            assert (await rig.store.redact(old.id, OFFICER)).redacted_by == "user_privacy"

    async def promise_a_redacted_version_keeps_only_that_it_was(self, rig: Rig) -> None:
        rig.needs("redacts")
        (old,) = await put(rig.store, "/d/a.md", SECRET)
        await put(rig.store, "/d/a.md", b"clean")
        redacted = await rig.store.redact(old.id, OFFICER)
        assert redacted.redacted_by == "user_privacy"
        assert redacted.redacted_at_ns is not None
        assert redacted.redacted_at_ns >= old.created_at_ns
        assert redacted._replace(redacted_at_ns=None, redacted_by=None) == blanked(old)
        assert await rig.store.version(old.id) == redacted
        assert (await history(rig.store, content=True))[-1] == redacted
        assert await read(rig.store, "/d/a.md") == b"clean"
        assert (await rig.store.verify()).ok

    async def promise_redacting_again_changes_nothing(self, rig: Rig) -> None:
        rig.needs("redacts")
        (old,) = await put(rig.store, "/a.md", SECRET)
        await put(rig.store, "/a.md", b"clean")
        first = await rig.store.redact(old.id, OFFICER)
        before = await picture(rig.store)
        again = await rig.store.redact(old.id, Context(actor="user_other", command="redact"))
        assert again == first
        assert await picture(rig.store) == before

    async def promise_the_head_of_a_live_memory_cannot_be_redacted(self, rig: Rig) -> None:
        rig.needs("redacts")
        (head,) = await put(rig.store, "/a.md", SECRET)
        (below,) = await put(rig.store, "/d/b.md", SECRET)
        await move(rig.store, "/d", "/e")
        moved = await rig.store.locate(below.memory_id)
        before = await picture(rig.store)
        for version_id in (head.id, moved.version_id):
            with refused(NotRedactable):
                await rig.store.redact(version_id, OFFICER)
        assert await picture(rig.store) == before
        assert (await rig.store.redact(below.id, OFFICER)).path is None
        assert await read(rig.store, "/e/b.md") == SECRET

    async def promise_the_last_content_of_a_deleted_memory_can_be_redacted(self, rig: Rig) -> None:
        rig.needs("redacts")
        (made,) = await put(rig.store, "/d/a.md", SECRET)
        await remove(rig.store, "/d")
        (gone, _) = await history(rig.store)
        assert (await rig.store.redact(made.id, OFFICER)).sha256 is None
        assert (await rig.store.redact(gone.id, OFFICER)).path is None
        assert all(version.path is None for version in await history(rig.store))

    async def promise_an_unknown_version_is_unknown(self, rig: Rig) -> None:
        rig.needs("redacts")
        (made,) = await put(rig.store, "/a.md", b"x")
        for wrong in (made.memory_id, *WRONG_IDS):
            with refused(UnknownId):
                await rig.store.redact(wrong, OFFICER)

    async def promise_the_other_versions_stay_whole(self, rig: Rig) -> None:
        rig.needs("redacts")
        body = b"a line that does not change\n" * 50
        versions = [(await put(rig.store, "/a.md", body + SECRET))[0]]
        for number in range(6):
            versions += await edit(rig.store, "/a.md", append(b"%d\n" % number))
        before = [(await rig.store.version(version.id)).content for version in versions]
        for chosen in (0, 3):
            await rig.store.redact(versions[chosen].id, OFFICER)
        for number, version in enumerate(versions):
            content = (await rig.store.version(version.id)).content
            assert content == (None if number in (0, 3) else before[number])
        assert await read(rig.store, "/a.md") == before[-1]
        assert (await rig.store.verify()).ok

    async def promise_another_memory_of_equal_content_keeps_it(self, rig: Rig) -> None:
        rig.needs("redacts")
        (old,) = await put(rig.store, "/a.md", SECRET)
        (twin,) = await put(rig.store, "/b.md", SECRET)
        await put(rig.store, "/a.md", b"clean")
        await rig.store.redact(old.id, OFFICER)
        assert await read(rig.store, "/b.md") == SECRET
        assert (await rig.store.version(twin.id)).content == SECRET

    async def promise_redacted_bytes_are_gone_from_storage(self, rig: Rig) -> None:
        rig.needs("redacts")
        (old,) = await put(rig.store, "/a.md", b"before " + SECRET + b" after\n")
        await put(rig.store, "/big.md", SECRET + b"x" * 300_000)
        big = await rig.store.stat(p("/big.md"))
        await have_it_indexed(rig.store)
        await put(rig.store, "/a.md", b"before clean after\n")
        await remove(rig.store, "/big.md")
        await rig.store.redact(old.id, OFFICER)
        await rig.store.redact(big.version_id, OFFICER)
        assert not any(SECRET in blob for blob in rig.subject.stored_bytes(rig.home))
        await rig.reopen()
        assert not any(SECRET in blob for blob in rig.subject.stored_bytes(rig.home))
        assert (await rig.store.verify()).ok

    async def promise_a_store_goes_on_after_a_redaction(self, rig: Rig) -> None:
        rig.needs("redacts")
        (old,) = await put(rig.store, "/a.md", SECRET)
        await put(rig.store, "/a.md", b"clean")
        await rig.store.redact(old.id, OFFICER)
        await edit(rig.store, "/a.md", append(b" and edited"))
        await move(rig.store, "/a.md", "/b.md")
        assert await read(rig.store, "/b.md") == b"clean and edited"
        assert (await rig.store.usage())[:2] == (1, 16)
        assert len(await history(rig.store)) == 4
