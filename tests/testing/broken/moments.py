"""Stores that break what is promised of moments."""

from __future__ import annotations

from typing import Literal

from memoranda.path import MemoryPath
from memoranda.stores.base import (
    LISTING_CHUNK,
    Moment,
    Page,
)
from tests.testing.broken.registry import store
from tests.testing.dict_store import DictStore, State, Tree


@store("every_state_is_listed_again_as_it_was")
class ListsThePresentAtAnyTime(DictStore):
    def tree_at(self, state: State, at: Moment | None) -> Tree:
        return state.live


@store("the_beginning_is_empty")
class BeginsWithTheFirstVersion(DictStore):
    def tree_at(self, state: State, at: Moment | None) -> Tree:
        return super().tree_at(state, at and Moment(max(at.seq, 1)))


@store("a_moment_is_the_last_one_not_after_a_time")
class TakesTheMomentBefore(DictStore):
    async def moment(self, at_ns: int) -> Moment:
        return await super().moment(at_ns - 1)


@store("a_past_listing_has_prefixes_depths_pages_and_sizes")
class ListsThePastInOnePage(DictStore):
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        if at is not None:
            depth = 0
        return await super().list(prefix, depth=depth, after=after, limit=limit, at=at)


@store("the_present_is_the_last_moment")
class LagsOneVersionBehind(DictStore):
    def tree_at(self, state: State, at: Moment | None) -> Tree:
        return super().tree_at(state, at and Moment(at.seq - 1))
