"""Stores that break what is promised of outlines."""

from __future__ import annotations

from typing import Any

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Listed,
    Outline,
)
from tests.testing.broken.registry import store
from tests.testing.dict_store import DictStore


@store("an_outline_shows_two_levels_with_the_sizes_of_all_below")
class ShowsThreeLevels(DictStore):
    outline_levels = 3


@store("an_outline_is_ordered_by_code_points_with_the_slash_of_directories")
class OrdersOutlinesBySegments(DictStore):
    def outline_order(self, item: Listed) -> Any:
        return item[0].removesuffix("/").split("/")


@store("an_outline_is_ordered_by_code_points_with_the_slash_of_directories")
class OrdersOutlinesAsUtf16(DictStore):
    def outline_order(self, item: Listed) -> Any:
        return super().outline_order(item).encode("utf-16-be")


@store("hidden_names_and_node_modules_stay_out_of_lines_sizes_and_total")
class ShowsNodeModules(DictStore):
    def is_shown(self, name: str) -> bool:
        return not name.startswith(".")


@store("hidden_names_and_node_modules_stay_out_of_lines_sizes_and_total")
class CountsHiddenBytes(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await super().outline(directory, line_chars)
        below = [live for path, live in self.state().live.items() if path.is_below(directory)]
        return found._replace(size_bytes=sum(len(live.content) for live in below))


@store("a_directory_with_nothing_but_hidden_names_is_shown_empty")
class HidesDirectoriesOfHiddenNames(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await super().outline(directory, line_chars)
        items = tuple(item for item in found.items if item[1] or not item[0].endswith("/"))
        return found._replace(items=items, total=len(items))


@store("a_hidden_directory_can_itself_be_looked_into")
class HidesWhatLiesInHiddenDirectories(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await super().outline(directory, line_chars)
        if all(self.is_shown(name) for name in directory.segments):
            return found
        return Outline(0, (), 0)


@store("an_outline_stops_once_enough_characters_are_shown")
class StopsOutlinesTooEarly(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        return await super().outline(directory, line_chars // 2)


@store("an_outline_stops_once_enough_characters_are_shown")
class NeverStopsOutlines(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        return await super().outline(directory, line_chars * 1000)


@store("an_outline_stops_once_enough_characters_are_shown")
class TotalsOnlyWhatIsShown(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await super().outline(directory, line_chars)
        return found._replace(total=len(found.items))


@store("an_outline_of_nothing_or_of_a_file_is_not_found")
class OutlinesWhatIsMissingAsEmpty(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        try:
            return await super().outline(directory, line_chars)
        except errors.NotFound:
            return Outline(0, (), 0)


@store("the_outline_of_an_empty_store_is_empty")
class FindsNoRootToOutline(DictStore):
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        if not self.state().live:
            raise errors.NotFound(directory)
        return await super().outline(directory, line_chars)


@store("sizes_and_totals_follow_every_kind_of_change")
class CountsOnlyWhatGrows(DictStore):
    peak = 0

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await super().outline(directory, line_chars)
        type(self).peak = max(self.peak, found.size_bytes)
        return found._replace(size_bytes=self.peak if directory.is_root else found.size_bytes)
