"""Backends that break what is promised of taking over histories; each is RAM with one slip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memoranda.errors import StoreExists, UnknownId
from memoranda.stores.base import (
    Change,
    Context,
    Origin,
    Put,
    Retention,
    Store,
    StoreInfo,
    Version,
    WrapperStore,
)
from memoranda.stores.ram import RamBackend
from memoranda.testing.faults import WrappingBackend
from tests.testing.broken.registry import any_backend
from tests.testing.dict_store import Disk


class OverRam(WrappingBackend):
    """RAM, with its stores in a wrapper that may be spoiled."""

    wrapper: type[WrapperStore] = WrapperStore

    def __init__(self, _: Disk) -> None:
        super().__init__(RamBackend(), self.wrapper)


@any_backend("a_store_is_taken_up_under_its_id_with_all_its_names")
class LosesWhatWasSaidOfIt(OverRam):
    async def take_up(self, info: StoreInfo, origin: Origin) -> Store:
        return await super().take_up(info._replace(description=""), origin)


class GivesIdsOfItsOwn(WrapperStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        own = [replace(each, keep_id=None) if isinstance(each, Put) else each for each in changes]
        return await super().apply(own, context)


@any_backend("memories_that_are_taken_over_keep_ids_times_and_actors")
class TakesNoIds(OverRam):
    wrapper = GivesIdsOfItsOwn


class SaysWhatItWasTold(WrapperStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        versions = await super().apply(changes, context)
        if context.at_ns is None:
            return versions
        return tuple([each._replace(created_at_ns=context.at_ns) for each in versions])


@any_backend("time_never_goes_back_in_a_history_that_is_taken_over")
class GoesBackInTime(OverRam):
    wrapper = SaysWhatItWasTold


class KeepsNoHistory(WrapperStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        little = Retention(keep_days=1, keep_newest=1, budget_bytes=1)
        return await super().apply(changes, replace(context, retention=little))


@any_backend("old_history_that_is_taken_over_stays_until_it_is_told_otherwise")
class DropsWhatIsOld(OverRam):
    wrapper = KeepsNoHistory


@any_backend("what_comes_after_gets_ids_that_nothing_had")
class BeginsAtOne(OverRam):
    async def take_up(self, info: StoreInfo, origin: Origin) -> Store:
        return await super().take_up(info, origin._replace(above=0))


class MakesDoWithoutTheId(GivesIdsOfItsOwn):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        try:
            return await self.inner.apply(changes, context)
        except UnknownId:
            return await super().apply(changes, context)


@any_backend("a_new_id_needs_a_free_path_and_the_stores_own_key")
class TakesIdsOfAnybody(OverRam):
    wrapper = MakesDoWithoutTheId


@any_backend("a_store_that_is_there_is_not_taken_up_again")
class TakesUpWhatIsThere(OverRam):
    async def take_up(self, info: StoreInfo, origin: Origin) -> Store:
        try:
            return await super().take_up(info, origin)
        except StoreExists:
            found = await self.find_user("moved")
            assert found is not None
            return await self.open(found.id)


@any_backend("a_store_that_was_taken_up_is_found_after_a_restart")
class SaysThatItIsDurable(OverRam):
    def __init__(self, disk: Disk) -> None:
        super().__init__(disk)
        able = self.capabilities._replace(durable=True)
        self.capabilities = able  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]


@any_backend("workspaces_are_listed_that_have_stores")
class ListsOneWorkspace(OverRam):
    async def workspaces(self) -> tuple[str, ...]:
        return ("default",)
