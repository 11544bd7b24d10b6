"""Stores that break what is promised of ceilings."""

from __future__ import annotations

from dataclasses import replace

from memoranda import errors
from tests.testing.broken.registry import batch
from tests.testing.dict_store import Batch, State


@batch("a_file_may_be_as_large_as_its_limit_and_no_larger")
class StopsBelowTheLimit(Batch):
    def is_over(self, amount: int, limit: int) -> bool:
        return amount >= limit


@batch("a_store_may_hold_as_many_bytes_as_its_limit_and_no_more")
class LetsOneMoreIn(Batch):
    def is_over(self, amount: int, limit: int) -> bool:
        return amount > limit + 1


@batch("a_store_may_hold_as_many_files_as_its_limit_and_no_more")
class CountsNoFiles(Batch):
    def check_ceiling(self, before: State) -> None:
        try:
            super().check_ceiling(before)
        except errors.TooManyFiles:
            return


class ChecksWhatDoesNotGrow(Batch):
    """A batch that looks at the result alone, and so locks up what is over its limit."""

    def check_ceiling(self, before: State) -> None:
        super().check_ceiling(State())


for promise in (
    "a_file_above_its_limit_may_still_shrink_move_and_go",
    "a_store_above_its_bytes_may_still_shrink",
    "a_store_above_its_files_may_still_change_and_lose_some",
):
    batch(promise)(type(f"ChecksWhatDoesNotGrow_{promise}", (ChecksWhatDoesNotGrow,), {}))


@batch("what_a_layer_adds_to_each_file_does_not_count")
class CountsWhatALayerAdds(Batch):
    def check_ceiling(self, before: State) -> None:
        ceiling = self.context.ceiling._replace(beside_bytes=0)
        self.context = replace(self.context, ceiling=ceiling)
        super().check_ceiling(before)


@batch("none_lifts_a_limit")
class TakesNoneForDefault(Batch):
    def check_ceiling(self, before: State) -> None:
        super().check_ceiling(before)
        if self.bytes_of(self.state.live) > 262_144:
            raise errors.MemoryFull(0, 262_144)
