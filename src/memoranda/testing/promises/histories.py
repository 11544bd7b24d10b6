"""Taking over another store's history: ids of memories, times and actors come along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import MemorandaError, StoreExists, UnknownId, Unsupported
from memoranda.stores.base import Context, Move, Origin, Put, Remove, Retention, Store, StoreInfo
from memoranda.stores.ram import RamBackend
from memoranda.testing.promises.steps import apply, history, memories, p, put, read, refused, tree

if TYPE_CHECKING:
    from memoranda.testing.promises.rig import Rig

SECOND: Final = 1_000_000_000
BEGAN: Final = 1_700_000_000 * SECOND
KEY: Final = bytes(range(32))
STORE_ID: Final = "memstore_01" + "0" * 23 + "z"
INFO: Final = StoreInfo(
    STORE_ID, "default", "notes", "moved", "of before", {"k": "v"}, BEGAN, BEGAN + SECOND
)
WHENCE: Final = Context("user_admin", "copy", audit={"from": "elsewhere"})
ABOVE: Final = 1000


def _then(seconds: int, actor: str = "agent") -> Context:
    return Context(actor, "create", at_ns=BEGAN + seconds * SECOND)


async def _ids(n: int) -> list[str]:
    """Ids of memories as a store with ``KEY`` gives them, its lowest numbers first."""
    backend = RamBackend()
    store = await backend.take_up(INFO, Origin(KEY, 0, WHENCE))
    changes = [Put(p(f"/{number:03}"), b"") for number in range(n)]
    ids = [each.memory_id for each in await store.apply(changes, _then(0))]
    await backend.close()
    return ids


async def _taken_up(rig: Rig, info: StoreInfo = INFO) -> Store:
    rig.needs("takes_history")
    return rig.subject.wrap(await rig.backend.take_up(info, Origin(KEY, ABOVE, WHENCE)))


class HistoryPromises:
    """What a backend promises that says it takes over histories."""

    async def promise_a_store_is_taken_up_under_its_id_with_all_its_names(self, rig: Rig) -> None:
        store = await _taken_up(rig)
        assert store.id == STORE_ID
        assert await store.id_key() == KEY
        assert await tree(store) == {}
        for info in (
            await rig.backend.find_user("moved"),
            await rig.backend.info(STORE_ID),
            (await rig.backend.list()).stores[0],
        ):
            assert info == INFO

    async def promise_memories_that_are_taken_over_keep_ids_times_and_actors(
        self, rig: Rig
    ) -> None:
        store = await _taken_up(rig)
        a, b, c = await _ids(3)
        await store.apply([Put(p("/d/a"), b"1", keep_id=a)], _then(1, "user_ada"))
        await store.apply([Put(p("/d/e/b"), b"2", keep_id=b)], _then(1, "agent"))
        await store.apply([Put(p("/d/a"), b"3"), Put(p("/c"), b"4", keep_id=c)], _then(5))
        await store.apply([Move(p("/d/e/b"), p("/b")), Remove(p("/c"))], _then(6))
        await store.apply([Put(p("/c"), b"5", keep_id=c)], _then(6))
        assert await tree(store) == {"/b": b"2", "/c": b"5", "/d/a": b"3"}
        found = {each.path.store_path: each for each in await memories(store)}
        assert {path: each.memory_id for path, each in found.items()} == {
            "/b": b,
            "/c": c,
            "/d/a": a,
        }
        seen = [
            (each.memory_id, each.created_at_ns - BEGAN, each.actor, each.operation)
            for each in reversed(await history(store))
        ]
        assert seen[:2] == [(a, SECOND, "user_ada", "created"), (b, SECOND, "agent", "created")]
        assert sorted(seen[2:4]) == sorted(
            [(a, 5 * SECOND, "agent", "modified"), (c, 5 * SECOND, "agent", "created")]
        )
        assert sorted(seen[4:6]) == sorted(
            [(b, 6 * SECOND, "agent", "modified"), (c, 6 * SECOND, "agent", "deleted")]
        )
        assert seen[6:] == [(c, 6 * SECOND, "agent", "created")]
        assert found["/d/a"].created_at_ns == BEGAN + SECOND
        assert found["/d/a"].updated_at_ns == BEGAN + 5 * SECOND
        assert (await store.locate(a)).path == p("/d/a")
        assert (await store.verify()).problems == ()

    async def promise_time_never_goes_back_in_a_history_that_is_taken_over(self, rig: Rig) -> None:
        store = await _taken_up(rig)
        await apply(store, Put(p("/a"), b"1"), by=_then(9))
        (version,) = await apply(store, Put(p("/a"), b"2"), by=_then(3))
        assert version.created_at_ns == BEGAN + 9 * SECOND
        (now,) = await put(store, "/a", b"3")
        assert now.created_at_ns > BEGAN + 9 * SECOND

    async def promise_old_history_that_is_taken_over_stays_until_it_is_told_otherwise(
        self, rig: Rig
    ) -> None:
        store = await _taken_up(rig)
        keep = Retention(keep_days=0)
        for number in range(70):
            context = Context("a", "c", at_ns=BEGAN + number, retention=keep)
            await store.apply([Put(p("/a"), b"%d" % number)], context)
        assert len(await history(store)) == 70

    async def promise_what_comes_after_gets_ids_that_nothing_had(self, rig: Rig) -> None:
        store = await _taken_up(rig)
        taken = await _ids(8)
        for number, memory_id in enumerate(taken[:4]):
            change = Put(p(f"/d{number}/a"), b"x", keep_id=memory_id)
            await store.apply([change], _then(number))
        for number in range(4):
            await put(store, f"/e{number}/f/g", b"y")
        for number, memory_id in enumerate(taken[4:]):
            change = Put(p(f"/h{number}/a"), b"x", keep_id=memory_id)
            await store.apply([change], _then(number))
        found = [each.memory_id for each in await memories(store)]
        assert len(set(found)) == 12
        assert set(taken) <= set(found)
        assert (await store.verify()).problems == ()

    async def promise_a_new_id_needs_a_free_path_and_the_stores_own_key(self, rig: Rig) -> None:
        store = await _taken_up(rig)
        a, b = await _ids(2)
        await store.apply([Put(p("/a"), b"1", keep_id=a)], _then(1))
        with refused(MemorandaError):
            await store.apply([Put(p("/a"), b"2", keep_id=b)], _then(2))
        strange = (await rig.store.apply([Put(p("/s"), b"s")], _then(1)))[0].memory_id
        for keep_id, context in ((strange, _then(3)), ("mem_01x", _then(3)), (b, Context())):
            with refused(UnknownId):
                await store.apply([Put(p("/b"), b"2", keep_id=keep_id)], context)
        assert await tree(store) == {"/a": b"1"}

    async def promise_a_store_that_is_there_is_not_taken_up_again(self, rig: Rig) -> None:
        store = await _taken_up(rig)
        await put(store, "/a", b"1")
        other = "memstore_01" + "0" * 23 + "y"
        for info in (INFO, INFO._replace(user="else"), INFO._replace(id=other)):
            with refused(StoreExists):
                await rig.backend.take_up(info, Origin(KEY, 0, WHENCE))
        assert await read(store, "/a") == b"1"
        assert await rig.backend.find_user("else") is None

    async def promise_a_store_that_was_taken_up_is_found_after_a_restart(self, rig: Rig) -> None:
        rig.needs("durable")
        store = await _taken_up(rig)
        (memory_id,) = await _ids(1)
        await store.apply([Put(p("/a"), b"1", keep_id=memory_id)], _then(1))
        await store.close()
        await rig.reopen()
        store = await rig.for_user("moved")
        assert await read(store, "/a") == b"1"
        assert store.id == STORE_ID
        assert (await store.stat(p("/a"))).memory_id == memory_id

    async def promise_workspaces_are_listed_that_have_stores(self, rig: Rig) -> None:
        try:
            assert await rig.backend.workspaces() == ()
        except Unsupported:
            return
        await put(rig.store, "/a", b"1")
        await rig.backend.create("notes", workspace="w2")
        assert await rig.backend.workspaces() == ("default", "w2")
