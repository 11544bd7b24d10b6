"""Backends: making, finding, listing, archiving and erasing stores, and keeping them apart."""

from __future__ import annotations

from functools import partial

from memoranda.errors import MemorandaError, Misuse, ReadOnly, UnknownId
from memoranda.stores.base import Context, Edit, Move, Put, Store, StoreInfo
from memoranda.stores.companions import PROPOSALS, label_of_user
from memoranda.testing.promises.rig import USER, Rig, errors
from memoranda.testing.promises.searching import have_it_indexed
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
    picture,
    put,
    read,
    refused,
    remove,
    tree,
)

OFFICER = Context(actor="user_privacy", command="erase")
SECRET = b"Zx81-this-text-must-not-outlive-its-store-Kq4"

GOOD_USERS = (
    "acme",
    "acme2",
    "Acme",
    "ACME",
    "acme.",
    "acme-",
    "a",
    "0",
    "a.b",
    "a_b",
    "a@b.example",
    "a:b",
    "a|b",
    "a+b",
    "con",
    "h",
    "default",
    "control.db",
    "u" * 127,
    "u" * 128,
    "U" * 128,
)
"""Users that are close to each other or to a name that a backend needs for itself."""

BAD_USERS = (
    "",
    ".",
    "..",
    "../acme",
    "a/b",
    "a\\b",
    "a%2fb",
    "a b",
    " a",
    "a ",
    "a\n",
    "a\x00b",
    "-a",
    ".a",
    "_a",
    "@a",
    "\u00fcber",
    "\uff41",
    "a\u0301",
    "u" * 129,
    "memstore_01abc",
)
"""Users that the tenant rule refuses."""

WRONG_STORE_IDS = (
    "",
    "memstore_",
    "memstore_0",
    "memstore_../..",
    "..",
    "a/b",
    "acme",
    "mem_0",
    "\x00",
)


class BackendPromises:
    """What a backend does with many stores."""

    async def promise_a_user_has_a_store_from_the_first_change_on(self, rig: Rig) -> None:
        assert await rig.backend.find_user(USER) is None
        assert await tree(rig.store) == {}
        assert await history(rig.store) == []
        assert await rig.backend.find_user(USER) is None
        assert (await rig.backend.list()).stores == ()
        await put(rig.store, "/a.md", b"x")
        info = await rig.backend.find_user(USER)
        assert info is not None
        assert (info.id, info.user, info.workspace) == (rig.store.id, USER, "default")
        assert info.archived_at_ns is None
        assert info.created_at_ns > 0
        assert await rig.backend.info(info.id) == info
        assert (await rig.backend.list()).stores == (info,)
        same = await rig.open(info.id)
        assert await tree(same) == {"/a.md": b"x"}

    async def promise_all_who_ask_for_a_user_get_the_same_store(self, rig: Rig) -> None:
        first, second = await rig.for_user("other"), await rig.for_user("other")
        await put(first, "/a.md", b"first")
        await put(second, "/b.md", b"second")
        assert await tree(first) == await tree(second) == {"/a.md": b"first", "/b.md": b"second"}
        assert first.id == second.id
        assert len((await rig.backend.list()).stores) == 1

    async def promise_a_users_first_change_may_come_from_many_at_once(self, rig: Rig) -> None:
        async def begin(number: int) -> str:
            store = await rig.for_user("newcomer")
            await put(store, f"/{number}.md", b"x")
            return store.id

        outcomes = await rig.together([partial(begin, number) for number in range(8)])
        assert not errors(outcomes)
        assert len(set(map(str, outcomes))) == 1
        assert len(await tree(await rig.for_user("newcomer"))) == 8
        assert len((await rig.backend.list()).stores) == 1

    async def promise_users_never_see_each_other(self, rig: Rig) -> None:
        for number, user in enumerate(GOOD_USERS):
            store = await rig.for_user(user)
            assert await tree(store) == {}, user
            await put(store, "/a.md", b"%d" % number)
            await put(store, f"/d/{number}.md", b"x")
        for number, user in enumerate(GOOD_USERS):
            store = await rig.for_user(user)
            assert await tree(store) == {"/a.md": b"%d" % number, f"/d/{number}.md": b"x"}, user
            assert len(await history(store)) == 2
            assert (await store.usage()).files == 2
            info = await rig.backend.find_user(user)
            assert info is not None
            assert info.user == user
        await remove(await rig.for_user("acme"), "/d")
        assert len(await tree(await rig.for_user("acme2"))) == 2
        assert len((await rig.backend.list(limit=100)).stores) == len(GOOD_USERS)

    async def promise_the_same_user_of_two_workspaces_is_two(self, rig: Rig) -> None:
        here, there = await rig.for_user("u"), await rig.for_user("u", "elsewhere")
        await put(here, "/a.md", b"here")
        assert await tree(there) == {}
        assert await rig.backend.find_user("u", "elsewhere") is None
        await put(there, "/a.md", b"there")
        assert await tree(here) == {"/a.md": b"here"}
        assert here.id != there.id
        for store_id, own, foreign in (
            (here.id, "default", "elsewhere"),
            (there.id, "elsewhere", "default"),
        ):
            assert (await rig.backend.info(store_id, own)).workspace == own
            await self._nowhere(rig, store_id, foreign)
        assert [info.id for info in (await rig.backend.list("elsewhere")).stores] == [there.id]
        assert [info.id for info in (await rig.backend.list()).stores] == [here.id]

    async def promise_a_bad_user_is_misuse_and_leaves_nothing(self, rig: Rig) -> None:
        for user in BAD_USERS:
            with refused(Misuse):
                await rig.backend.for_user(user)
            with refused(Misuse):
                await rig.backend.find_user(user)
        assert (await rig.backend.list()).stores == ()

    async def promise_ids_of_another_store_are_unknown(self, rig: Rig) -> None:
        mine, theirs = rig.store, await rig.for_user("other")
        (made,) = await put(mine, "/a.md", b"mine")
        await put(mine, "/a.md", b"mine again")
        await put(theirs, "/a.md", b"theirs")
        with refused(UnknownId):
            await theirs.locate(made.memory_id)
        with refused(UnknownId):
            await theirs.version(made.id)
        if rig.backend.capabilities.redacts:
            with refused(UnknownId):
                await theirs.redact(made.id, OFFICER)
        assert (await mine.version(made.id)).content == b"mine"

    async def promise_stores_are_written_at_once_without_mixing(self, rig: Rig) -> None:
        async def live(number: int) -> None:
            store = await rig.for_user(f"user{number}")
            for turn in range(8):
                await put(store, "/a.md", b"%d:%d" % (number, turn))
                await put(store, f"/{turn}.md", b"%d" % number)
                assert await read(store, "/a.md") == b"%d:%d" % (number, turn)

        assert not errors(await rig.together([partial(live, number) for number in range(6)]))
        for number in range(6):
            found = await tree(await rig.for_user(f"user{number}"))
            assert found == {"/a.md": b"%d:7" % number} | {
                f"/{turn}.md": b"%d" % number for turn in range(8)
            }

    async def promise_a_store_is_made_with_what_is_said_of_it(self, rig: Rig) -> None:
        info = await rig.backend.create(
            "Team notes \U0001f680", description='it\'s "ours"', metadata={"k": "v", "": "\x00"}
        )
        assert info.id.startswith("memstore_")
        assert (info.name, info.description) == ("Team notes \U0001f680", 'it\'s "ours"')
        assert dict(info.metadata) == {"k": "v", "": "\x00"}
        assert (info.user, info.workspace, info.archived_at_ns) == (None, "default", None)
        assert info.updated_at_ns == info.created_at_ns > 0
        assert await rig.backend.info(info.id) == info
        store = await rig.open(info.id)
        assert store.id == info.id
        assert await tree(store) == {}
        await put(store, "/a.md", b"x")
        assert await tree(await rig.open(info.id)) == {"/a.md": b"x"}
        assert await rig.backend.info(info.id) == info
        await rig.reopen()
        if rig.backend.capabilities.durable:
            assert await rig.backend.info(info.id) == info
            assert await tree(await rig.open(info.id)) == {"/a.md": b"x"}

    async def promise_two_stores_may_have_one_name(self, rig: Rig) -> None:
        first = await rig.backend.create("notes")
        second = await rig.backend.create("notes")
        assert first.id != second.id
        await put(await rig.open(first.id), "/a.md", b"x")
        assert await tree(await rig.open(second.id)) == {}

    async def promise_a_store_that_is_not_there_is_unknown(self, rig: Rig) -> None:
        await put(rig.store, "/a.md", b"x")
        for store_id in WRONG_STORE_IDS:
            await self._nowhere(rig, store_id, "default")

    async def promise_stores_are_listed_by_pages_newest_first(self, rig: Rig) -> None:
        infos = [await rig.backend.create(f"store {number}") for number in range(6)]
        await put(rig.store, "/a.md", b"x")
        mine = await rig.backend.find_user(USER)
        assert mine is not None
        await rig.backend.create("elsewhere", workspace="other")
        wanted = self._newest_first([*infos, mine])
        for limit in (1, 2, 3, 6, 7, 100):
            assert await self._all(rig, limit) == wanted
        assert await self._all(rig, 3, workspace="nobodys") == []

    async def promise_archived_stores_can_be_left_out_of_the_list(self, rig: Rig) -> None:
        infos = [await rig.backend.create(f"store {number}") for number in range(5)]
        for number in (1, 4):
            await rig.backend.archive(infos[number].id)
        live = self._newest_first([infos[number] for number in (0, 2, 3)])
        assert await self._all(rig, 2, include_archived=False) == live
        assert len(await self._all(rig, 2)) == 5

    async def promise_a_stores_particulars_can_be_changed(self, rig: Rig) -> None:
        made = await rig.backend.create("one", description="d", metadata={"a": "1", "b": "2"})
        named = await rig.backend.update(made.id, name="two")
        assert named == made._replace(name="two", updated_at_ns=named.updated_at_ns)
        assert named.updated_at_ns >= made.updated_at_ns
        said = await rig.backend.update(made.id, description="", metadata={"c": "3"})
        assert (said.name, said.description, dict(said.metadata)) == ("two", "", {"c": "3"})
        assert said.created_at_ns == made.created_at_ns
        assert await rig.backend.info(made.id) == said
        for same in (
            await rig.backend.update(made.id),
            await rig.backend.update(made.id, name="two", description="", metadata={"c": "3"}),
        ):
            assert same == said
        assert dict((await rig.backend.update(made.id, metadata={})).metadata) == {}

    async def promise_an_archived_store_can_be_read_and_emptied_but_not_written(
        self, rig: Rig
    ) -> None:
        info = await rig.backend.create("old")
        store = await rig.open(info.id)
        (old,) = await put(store, "/a.md", b"old")
        await put(store, "/a.md", b"new")
        await fill(store, "/b.md", "/d/c.md")
        archived = await rig.backend.archive(info.id)
        assert archived.archived_at_ns is not None
        assert await rig.backend.archive(info.id) == archived
        assert await rig.backend.info(info.id) == archived
        for handle in (store, await rig.open(info.id)):
            before = await picture(handle)
            assert before.files == 3
            for change in (
                Put(p("/new.md"), b"x"),
                Put(p("/a.md"), b"x"),
                Edit(p("/a.md"), append(b"x")),
                Move(p("/a.md"), p("/z.md")),
                Move(p("/d"), p("/z")),
            ):
                with refused(ReadOnly):
                    await apply(handle, change)
            assert await picture(handle) == before
        await remove(store, "/b.md")
        await remove(store, "/d")
        if rig.backend.capabilities.redacts:
            await store.redact(old.id, OFFICER)
        assert await tree(store) == {"/a.md": b"new"}

    async def promise_an_erased_store_is_gone_from_everywhere(self, rig: Rig) -> None:
        info = await rig.backend.create("doomed")
        store = await rig.open(info.id)
        await put(store, "/a.md", SECRET)
        await put(store, "/big.md", SECRET + b"x" * 300_000)
        await put(store, "/a.md", b"other")
        await have_it_indexed(store)
        await put(rig.store, "/keep.md", b"kept")
        await rig.backend.erase(info.id, OFFICER)
        await self._nowhere(rig, info.id, "default")
        assert [one.id for one in await self._all(rig, 10)] == [rig.store.id]
        await self._unreadable(store)
        with refused(MemorandaError):
            await put(store, "/back.md", b"from the dead")
        assert not any(SECRET in blob for blob in rig.subject.stored_bytes(rig.home))
        await rig.reopen()
        if rig.backend.capabilities.durable:
            assert await tree(rig.store) == {"/keep.md": b"kept"}
            await self._nowhere(rig, info.id, "default")
        assert not any(SECRET in blob for blob in rig.subject.stored_bytes(rig.home))

    async def promise_what_waits_for_a_person_is_erased_with_its_store(self, rig: Rig) -> None:
        store = await rig.for_user("doomed")
        await put(store, "/a.md", b"other")
        label = label_of_user("doomed", "default")
        waiting = await rig.backend.for_user(label, PROPOSALS)
        await put(waiting, "/prop_1/0", SECRET)
        await waiting.close()
        await rig.backend.erase(store.id, OFFICER)
        assert await rig.backend.find_user(label, PROPOSALS) is None
        await rig.reopen()
        assert not any(SECRET in blob for blob in rig.subject.stored_bytes(rig.home))

    async def promise_an_erased_user_begins_anew(self, rig: Rig) -> None:
        (made,) = await put(rig.store, "/a.md", SECRET)
        old_id = rig.store.id
        await rig.backend.erase(old_id, OFFICER)
        assert await rig.backend.find_user(USER) is None
        await self._unreadable(rig.store)
        store = await rig.for_user(USER)
        assert await tree(store) == {}
        assert await history(store) == []
        await put(store, "/b.md", b"new life")
        assert store.id != old_id
        assert await tree(store) == {"/b.md": b"new life"}
        with refused(UnknownId):
            await store.locate(made.memory_id)
        await self._nowhere(rig, old_id, "default")

    async def promise_every_kind_of_work_fits_a_store_without_a_user(self, rig: Rig) -> None:
        store = await rig.open((await rig.backend.create("plain")).id)
        await fill(store, "/a.md", "/d/b.md")
        await edit(store, "/a.md", append(b"!"))
        await move(store, "/d", "/e")
        await remove(store, "/a.md")
        assert await tree(store) == {"/e/b.md": b"/d/b.md"}
        assert len(await history(store)) == 5
        assert len(await entries(store, depth=1)) == len(await memories(store)) == 1
        assert (await store.verify()).ok

    async def _all(
        self, rig: Rig, limit: int, workspace: str = "default", *, include_archived: bool = True
    ) -> list[StoreInfo]:
        found: list[StoreInfo] = []
        after: str | None = None
        while True:
            page = await rig.backend.list(
                workspace, after=after, limit=limit, include_archived=include_archived
            )
            assert len(page.stores) <= limit
            found.extend(page.stores)
            if page.after is None:
                return found
            assert page.stores, "a page that has a page after it is not empty"
            after = page.after

    def _newest_first(self, infos: list[StoreInfo]) -> list[StoreInfo]:
        return sorted(infos, key=lambda info: (-info.created_at_ns, info.id))

    async def _nowhere(self, rig: Rig, store_id: str, workspace: str) -> None:
        with refused(UnknownId):
            await rig.backend.info(store_id, workspace)
        with refused(UnknownId):
            await rig.backend.open(store_id, workspace)
        with refused(UnknownId):
            await rig.backend.update(store_id, workspace, name="x")
        with refused(UnknownId):
            await rig.backend.archive(store_id, workspace)
        with refused(UnknownId):
            await rig.backend.erase(store_id, OFFICER, workspace)

    async def _unreadable(self, store: Store) -> None:
        """A handle from before an erasure gives nothing away."""
        with refused(MemorandaError):
            await store.read(p("/a.md"))
        with refused(MemorandaError):
            await store.stat(p("/a.md"))
