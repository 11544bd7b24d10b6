"""Stores that break what is promised of search."""

from __future__ import annotations

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Hit,
)
from tests.testing.broken.registry import store
from tests.testing.dict_store import DictStore


class AltersHits(DictStore):
    """A store whose hits are altered by ``alter``."""

    def alter(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        raise NotImplementedError

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return self.alter(await super().search(query, prefix, limit=limit))


@store("a_search_gives_the_lines_that_hold_the_word")
class CountsLinesFromZero(AltersHits):
    def alter(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return tuple(Hit(hit.path, tuple((n - 1, text) for n, text in hit.lines)) for hit in hits)


@store("every_word_has_to_be_there_and_case_does_not_matter")
class SearchesForAnyWord(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        found: dict[MemoryPath, Hit] = {}
        for word in query.split():
            for hit in await super().search(word, prefix, limit=limit):
                found[hit.path] = hit
        return tuple(found[path] for path in sorted(found, key=str))


@store("a_quoted_part_counts_as_one_word")
class IgnoresQuotes(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return await super().search(query.replace('"', " "), prefix, limit=limit)


@store("hits_come_by_path_within_the_prefix_and_the_limit")
class SearchesEverywhere(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return await super().search(query, MemoryPath.of(()), limit=limit)


@store("hits_come_by_path_within_the_prefix_and_the_limit")
class GivesHitsBackwards(AltersHits):
    def alter(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return hits[::-1]


@store("a_search_sees_the_present_contents")
class SearchesHistory(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return tuple(
            Hit(one.path, ())
            for one in self.state().versions
            if one.path and one.content and query.encode() in one.content
        )


@store("long_lines_are_cut_in_hits")
class ShowsWholeLines(AltersHits):
    def alter(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return tuple(Hit(hit.path, tuple((n, text * 2) for n, text in hit.lines)) for hit in hits)


@store("a_query_of_signs_is_only_text")
class TakesQueriesForPatterns(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        words = query.replace("zzz", "").replace("OR", "").strip("(),*^:\\'% ")
        return await super().search(words, prefix, limit=limit)


@store("what_is_not_text_does_not_break_a_search")
class SearchesOnlyText(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        for live in self.state().live.values():
            live.content.decode()
        return await super().search(query, prefix, limit=limit)


@store("a_backend_that_cannot_search_says_so")
class CannotSearchButSaysItCan(DictStore):
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        raise errors.Unsupported("search")
