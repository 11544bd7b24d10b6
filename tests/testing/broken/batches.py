"""Stores that break what is promised of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memoranda import errors
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    Move,
    Put,
    Version,
)
from tests.testing.broken.registry import batch, store
from tests.testing.dict_store import Batch, DictStore


@store("a_batch_whose_last_change_fails_leaves_nothing")
class AppliesOneByOne(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        made: list[Version] = []
        for change in changes:
            made.extend(await super().apply([change], context))
        return tuple(made)


@store("a_large_batch_is_one_batch")
class CutsLargeBatches(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        made: list[Version] = []
        for start in range(0, len(changes), 100):
            made.extend(await super().apply(changes[start : start + 100], context))
        return tuple(made)


@store("ceilings_look_at_the_end_of_a_batch_only")
class LooksAtEachChange(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        for count in range(1, len(changes)):
            self.batch_class(self, self.state().copy(), context).do(changes[0])
            work = self.batch_class(self, self.state().copy(), context)
            for change in changes[:count]:
                work.do(change)
            work.check_ceiling(self.state())
        return await super().apply(changes, context)


@store("each_change_sees_those_before_it")
class EditsWhatWasThereBefore(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        before = self.state().live

        def seen(change: Change) -> Change:
            if not isinstance(change, Edit):
                return change
            old = before[change.path].content if change.path in before else b""
            return Put(change.path, change.edit(old).apply(old))

        return await super().apply([seen(change) for change in changes], context)


@store("a_batch_gives_one_version_for_each_changed_memory_in_order")
class SortsItsBatches(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        return tuple(sorted(await super().apply(changes, context), key=lambda one: str(one.path)))


@store("a_batch_gives_one_version_for_each_changed_memory_in_order")
class GivesContentsBack(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        made = await super().apply(changes, context)
        return tuple([await self.version(one.id) for one in made])


@store("an_empty_batch_changes_nothing")
class RefusesEmptyBatches(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        if not changes:
            raise errors.Misuse("nothing to do")
        return await super().apply(changes, context)


@store("a_batch_that_fails_at_its_first_change_runs_no_other")
class RunsEditsFirst(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        for change in changes:
            if isinstance(change, Edit) and change.path in self.state().live:
                change.edit(self.state().live[change.path].content)
        return await super().apply(changes, context)


@store("two_memories_swap_places_in_one_batch")
class LooksUpPathsBeforeTheBatch(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        live = self.state().live
        for change in changes:
            if isinstance(change, Move) and len(changes) == 3 and change.target in live:
                raise errors.AlreadyExists(change.target)
        return await super().apply(changes, context)


@store("versions_of_one_batch_share_who_and_why")
class LosesTheTrace(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        return await super().apply(changes, replace(context, trace_id=None))


@batch("versions_of_one_batch_share_its_number_and_time")
class NumbersEachChange(Batch):
    def do(self, change: Change) -> None:
        self.number = len(self.state.versions) + 1
        super().do(change)


@batch("versions_of_one_batch_share_its_number_and_time")
class TimesEachChange(Batch):
    def do(self, change: Change) -> None:
        self.at = self.store.now()
        super().do(change)


@store("the_store_goes_on_after_a_failed_batch")
class LocksUpAfterAFailure(DictStore):
    failed = False

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        if self.failed:
            raise errors.Unavailable
        try:
            return await super().apply(changes, context)
        except errors.Refused:
            self.failed = True
            raise
