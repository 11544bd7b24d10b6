"""Stores that break what is promised of listing."""

from __future__ import annotations

import fnmatch
from typing import Any, Literal

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    LISTING_CHUNK,
    Directory,
    Entry,
    Moment,
    Page,
    Usage,
)
from tests.testing.broken.registry import store
from tests.testing.dict_store import DictStore, State, Tree


@store("a_listing_gives_every_memory_as_stat_gives_it")
class OrdersListsBySegments(DictStore):
    def list_order(self, item: Entry | Directory) -> Any:
        return item.path.segments

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        return (await super().list(prefix, depth=depth, limit=10**6, at=at))._replace(after=None)


@store("a_listing_gives_every_memory_as_stat_gives_it")
class ListsNoHiddenNames(DictStore):
    def tree_at(self, state: State, at: Moment | None) -> Tree:
        tree = super().tree_at(state, at)
        return {path: live for path, live in tree.items() if not path.name.startswith(".")}


class AltersPages(DictStore):
    """A store whose pages are altered by ``alter``."""

    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        raise NotImplementedError

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        page = await super().list(prefix, depth=depth, after=after, limit=limit, at=at)
        return self.alter(page, prefix, depth, after)


@store("children_are_ordered_with_the_slash_of_directories")
class OrdersChildrenWithoutTheSlash(AltersPages):
    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        return page._replace(
            entries=tuple(sorted(page.entries, key=lambda one: one.path.store_path))
        )


@store("direct_children_come_with_deeper_ones_rolled_up")
class RollsUpWithoutSizes(AltersPages):
    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        return page._replace(
            entries=tuple(
                Directory(one.path, 0) if isinstance(one, Directory) else one
                for one in page.entries
            )
        )


@store("a_page_ends_with_the_printed_path_of_its_last_entry")
class PagesByItsOwnMarks(DictStore):
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        mark = after.removeprefix("page:") if after else None
        page = await super().list(prefix, depth=depth, after=mark, limit=limit, at=at)
        return page._replace(after=f"page:{page.after}" if page.after else None)


@store("paging_goes_on_where_it_was_though_entries_vanish")
class PagesByCounting(DictStore):
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        whole = await super().list(prefix, depth=depth, limit=10**6, at=at)
        places = [self.list_order(one) for one in whole.entries]
        start = places.index(after) + 1 if after in places else 0
        rest = whole.entries[start:]
        return Page(
            tuple(rest[:limit]), self.list_order(rest[limit - 1]) if len(rest) > limit else None
        )


@store("pages_of_any_size_make_the_same_whole")
class SkipsOneAtEachPage(AltersPages):
    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        return page._replace(entries=page.entries[1:] if after else page.entries)


@store("a_page_may_start_after_a_path_that_never_was")
class StartsOnlyAfterWhatIsThere(AltersPages):
    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        known = after is None or any(path.store_path == after for path in self.state().live)
        return page if known else Page((), None)


@store("paging_children_goes_on_though_a_directory_vanishes")
class PagesDirectoriesWithoutTheSlash(DictStore):
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        mark = after.rstrip("/") if after else None
        return await super().list(prefix, depth=depth, after=mark, limit=limit, at=at)


@store("a_prefix_lists_only_what_lies_beneath_it")
class ListsWhatBeginsAlike(DictStore):
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        page = await super().list(MemoryPath.of(()), after=after, limit=limit, at=at)
        start = "" if prefix.is_root else prefix.store_path
        return page._replace(
            entries=tuple(one for one in page.entries if one.path.store_path.startswith(start))
        )


@store("a_prefix_of_wildcards_means_itself")
class ListsByPattern(DictStore):
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        page = await super().list(MemoryPath.of(()), depth=depth, after=after, limit=limit, at=at)
        pattern = prefix.text.replace("_", "?").replace("%", "*") + "/*"
        return page._replace(
            entries=tuple(
                one for one in page.entries if fnmatch.fnmatchcase(str(one.path), pattern)
            )
        )


@store("a_prefix_with_nothing_beneath_gives_an_empty_page")
class FindsNoSuchPrefix(AltersPages):
    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        if not page.entries:
            raise errors.NotFound(prefix)
        return page


@store("an_empty_store_lists_an_empty_page")
class ListsTheRootItself(AltersPages):
    def alter(self, page: Page, prefix: MemoryPath, depth: int, after: str | None) -> Page:
        return page if page.entries else Page((Directory(prefix, 0),), None)


@store("many_memories_are_listed_whole")
class ForgetsBeyondAThousand(DictStore):
    def tree_at(self, state: State, at: Moment | None) -> Tree:
        return dict(sorted(super().tree_at(state, at).items(), key=lambda one: str(one[0]))[:1000])


@store("usage_is_what_a_recount_gives")
class CountsWhatIsGone(DictStore):
    async def usage(self) -> Usage:
        usage = await super().usage()
        made = {one.memory_id for one in self.state().versions}
        return usage._replace(files=len(made))


@store("usage_is_what_a_recount_gives")
class CountsCharacters(DictStore):
    async def usage(self) -> Usage:
        usage = await super().usage()
        live = self.state().live.values()
        return usage._replace(
            size_bytes=sum(len(one.content.decode("utf-16-le", "replace")) for one in live)
        )
