"""Stores that break what is promised of lifetime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Context,
    Problem,
    Report,
    Store,
)
from tests.testing.broken.registry import backend, store
from tests.testing.dict_store import DictBackend, DictStore, Disk, Shelf, State


@store("an_id_names_the_store_and_stays")
class HasAnIdOfItsOwn(DictStore):
    @property
    def id(self) -> str:
        return f"memstore_{id(self)}"


@store("recording_a_view_changes_nothing")
class RecordsAsVersions(DictStore):
    async def record(self, context: Context) -> None:
        state = self.state().copy()
        if state.versions:
            state.versions.append(state.versions[-1]._replace(seq=len(state.versions) + 1))
            self.commit(state)


@store("touching_changes_nothing_and_passes_over_what_is_missing")
class TouchesTheTimeOfChange(DictStore):
    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        state = self.state().copy()
        for path in paths:
            if path in state.live:
                state.live[path] = replace(state.live[path], updated_at_ns=at_ns)
        self.commit(state)


@store("touching_changes_nothing_and_passes_over_what_is_missing")
class MissesWhatItTouches(DictStore):
    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        for path in paths:
            self.live_at(self.state(), path)


@store("verification_finds_nothing_wrong_in_a_used_store")
class CriesWolf(DictStore):
    async def verify(self) -> Report:
        report = await super().verify()
        return report._replace(
            problems=(Problem("bad", "It is bad.", "Do better."),) if report.files > 3 else ()
        )


@store("closing_twice_does_nothing_more")
class CannotCloseTwice(DictStore):
    async def close(self) -> None:
        self.state()
        await super().close()


@store("a_closed_store_refuses_every_call_as_misuse")
class TakesNotesAfterTheEnd(DictStore):
    async def record(self, context: Context) -> None:
        return


@store("a_closed_store_refuses_every_call_as_misuse")
class NeverCloses(DictStore):
    async def close(self) -> None:
        return


@backend("a_closed_backend_closes_its_stores")
class LeavesItsStoresOpen(DictBackend):
    async def close(self) -> None:
        return


@backend("a_store_that_was_closed_can_be_opened_again")
class HandsOutClosedStores(DictBackend):
    kept: Store | None = None

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        self.kept = self.kept or await super().for_user(user, workspace)
        return self.kept


class ForgetsOnClosing(DictBackend):
    """Nothing outlives the backend, though it says that it is durable."""

    async def close(self) -> None:
        await super().close()
        self.disk.shelves.clear()


for promise in (
    "everything_is_there_after_opening_anew",
    "times_and_order_go_on_after_opening_anew",
    "an_id_names_the_store_and_stays",
    "a_store_is_made_with_what_is_said_of_it",
    "every_accepted_name_is_a_memory_of_its_own",
):
    backend(promise)(type(f"ForgetsOnClosing_{promise}", (ForgetsOnClosing,), {}))


@backend("a_second_opening_sees_every_acknowledged_write_at_once")
class CachesForItself(DictBackend):
    def __init__(self, disk: Disk) -> None:
        super().__init__(disk)
        self.cached: dict[tuple[str, str], Shelf] = {}

    def of_user(self, user: str, workspace: str) -> Shelf | None:
        if (user, workspace) not in self.cached:
            found = super().of_user(user, workspace)
            if found is None:
                return None
            self.cached[user, workspace] = Shelf(found.info, found.state)
        return self.cached[user, workspace]


@store("storage_holds_what_the_store_says")
class WritesToStorageLater(DictStore):
    pending: State | None = None

    def commit(self, state: State) -> None:
        self.pending = state
        self.backend.make_shelf(self)

    def state(self) -> State:
        stored = super().state()
        return self.pending or stored
