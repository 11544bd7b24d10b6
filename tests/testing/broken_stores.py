"""Stores that break one promise each, and which promise has to notice.

A suite that passes these is no suite. Each entry is made from the honest store of dicts by
spoiling one small method; ``test_broken_stores`` wants the named promise to fail.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    LISTING_CHUNK,
    Change,
    Content,
    Context,
    Directory,
    Edit,
    Entry,
    Expect,
    Hit,
    Listed,
    Moment,
    Move,
    Operation,
    Outline,
    Page,
    Precondition,
    Put,
    Remove,
    Store,
    StoreInfo,
    StorePage,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)
from tests.testing.dict_store import Batch, DictBackend, DictStore, Live, Shelf, State, Tree


class Broken(NamedTuple):
    """A spoiled backend and the promise that has to fail on it."""

    backend: type[DictBackend]
    noticed_by: str


BROKEN: dict[str, Broken] = {}


def store(noticed_by: str) -> Callable[[type[DictStore]], type[DictStore]]:
    """Register a spoiled store under its class name."""

    def register(spoiled: type[DictStore]) -> type[DictStore]:
        backend = type(spoiled.__name__ + "Backend", (DictBackend,), {"store_class": spoiled})
        BROKEN[spoiled.__name__] = Broken(backend, noticed_by)
        return spoiled

    return register


def batch(noticed_by: str) -> Callable[[type[Batch]], type[Batch]]:
    """Register a spoiled batch under its class name."""

    def register(spoiled: type[Batch]) -> type[Batch]:
        store(noticed_by)(type(spoiled.__name__, (DictStore,), {"batch_class": spoiled}))
        return spoiled

    return register


def backend(noticed_by: str) -> Callable[[type[DictBackend]], type[DictBackend]]:
    """Register a spoiled backend under its class name."""

    def register(spoiled: type[DictBackend]) -> type[DictBackend]:
        BROKEN[spoiled.__name__] = Broken(spoiled, noticed_by)
        return spoiled

    return register


# ---------------------------------------------------------------- reading


@store("a_range_gives_the_bytes_asked_for_and_the_size_of_the_whole")
class TellsTheSizeOfTheRange(DictStore):
    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        content = await super().read(path, start, length)
        return content._replace(size_bytes=len(content.data))


@store("a_range_gives_the_bytes_asked_for_and_the_size_of_the_whole")
class TakesTheLengthForTheEnd(DictStore):
    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        return await super().read(path, start, None if length is None else length - start)


@store("what_was_put_is_read_back")
class ReadsWithoutTheLastByte(DictStore):
    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        content = await super().read(path, start, length)
        return content._replace(data=content.data[:-1])


@store("a_range_of_an_empty_memory_is_empty")
class ReadsEmptyAsMissing(DictStore):
    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        content = await super().read(path, start, length)
        if not content.size_bytes:
            raise errors.NotFound(path)
        return content


@store("different_contents_of_one_path_never_share_a_stamp")
class StampsBySize(DictStore):
    def stamp(self, live: Live) -> object:
        return len(live.content)


@store("a_memory_that_takes_anothers_place_has_another_stamp")
class StampsByPath(DictStore):
    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        return (await super().read(path, start, length))._replace(stamp=path)


@store("an_unchanged_memory_keeps_its_stamp")
class StampsAnewEachTime(DictStore):
    def stamp(self, live: Live) -> object:
        return self.now()


@store("reading_what_is_not_there_is_not_found")
class NamesTheParentThatIsMissing(DictStore):
    def live_at(self, state: State, path: MemoryPath) -> Live:
        try:
            return super().live_at(state, path)
        except errors.NotFound as error:
            raise errors.NotFound(path.parent) from error


@store("reading_a_directory_is_refused")
class CallsADirectoryMissing(DictStore):
    def live_at(self, state: State, path: MemoryPath) -> Live:
        try:
            return super().live_at(state, path)
        except errors.IsADirectory as error:
            raise errors.NotFound(path) from error


@store("the_root_is_a_directory_from_the_beginning")
class HasNoRootWhenEmpty(DictStore):
    def live_at(self, state: State, path: MemoryPath) -> Live:
        if not state.live:
            raise errors.NotFound(path)
        return super().live_at(state, path)


@store("stat_tells_ids_hash_size_and_times")
class HashesInCapitals(DictStore):
    def entry(self, path: MemoryPath, live: Live) -> Entry:
        entry = super().entry(path, live)
        return entry._replace(sha256=entry.sha256.upper())


@batch("an_edit_moves_the_time_of_change_and_not_that_of_making")
class ForgetsWhenItWasMade(Batch):
    def write(
        self,
        operation: Operation,
        path: MemoryPath,
        memory_id: str,
        content: bytes,
        old: Live | None = None,
    ) -> None:
        super().write(operation, path, memory_id, content, old)
        live = self.state.live[path]
        self.state.live[path] = replace(live, created_at_ns=live.updated_at_ns)


@store("a_memory_is_located_by_its_id_wherever_it_moves")
class LocatesWhereItWasMade(DictStore):
    async def locate(self, memory_id: str) -> Entry:
        entry = await super().locate(memory_id)
        made = next(one for one in self.state().versions if one.memory_id == memory_id)
        return entry._replace(path=made.path or entry.path)


@store("an_id_that_no_live_memory_has_is_unknown")
class LocatesTheDead(DictStore):
    async def locate(self, memory_id: str) -> Entry:
        for tree in reversed(self.state().snapshots.values()):
            for path, live in tree.items():
                if live.memory_id == memory_id:
                    return self.entry(path, live)
        raise errors.UnknownId("memory")


@store("a_reader_never_sees_half_of_a_write")
class WritesInTwoHalves(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        halves = [
            Put(one.path, one.content[: len(one.content) // 2])
            for one in changes
            if isinstance(one, Put)
        ]
        await super().apply(halves, context)
        time.sleep(0.001)
        return await super().apply(changes, context)


@store("a_reader_finds_a_memory_that_is_changed_all_the_time")
class RemovesBeforeItWrites(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        for one in changes:
            if isinstance(one, Put) and one.path in self.state().live:
                await super().apply([Remove(one.path)], context)
                time.sleep(0.001)
        return await super().apply(changes, context)


# ---------------------------------------------------------------- outlines


@store("an_outline_shows_two_levels_with_the_sizes_of_all_below")
class ShowsThreeLevels(DictStore):
    outline_levels = 3


@store("an_outline_is_ordered_by_code_points_with_the_slash_of_directories")
class OrdersOutlinesBySegments(DictStore):
    def outline_order(self, item: Listed) -> Any:
        return item.path.segments


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
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        found = await super().outline(directory, path_chars)
        below = [live for path, live in self.state().live.items() if path.is_below(directory)]
        return found._replace(size_bytes=sum(len(live.content) for live in below))


@store("a_directory_with_nothing_but_hidden_names_is_shown_empty")
class HidesDirectoriesOfHiddenNames(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        found = await super().outline(directory, path_chars)
        items = tuple(item for item in found.items if item.size_bytes or not item.is_directory)
        return found._replace(items=items, total=len(items))


@store("a_hidden_directory_can_itself_be_looked_into")
class HidesWhatLiesInHiddenDirectories(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        found = await super().outline(directory, path_chars)
        if all(self.is_shown(name) for name in directory.segments):
            return found
        return Outline(0, (), 0)


@store("an_outline_stops_once_enough_characters_are_shown")
class StopsOutlinesTooEarly(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        return await super().outline(directory, path_chars // 2)


@store("an_outline_stops_once_enough_characters_are_shown")
class NeverStopsOutlines(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        return await super().outline(directory, path_chars * 1000)


@store("an_outline_stops_once_enough_characters_are_shown")
class TotalsOnlyWhatIsShown(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        found = await super().outline(directory, path_chars)
        return found._replace(total=len(found.items))


@store("an_outline_of_nothing_or_of_a_file_is_not_found")
class OutlinesWhatIsMissingAsEmpty(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        try:
            return await super().outline(directory, path_chars)
        except errors.NotFound:
            return Outline(0, (), 0)


@store("the_outline_of_an_empty_store_is_empty")
class FindsNoRootToOutline(DictStore):
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        if not self.state().live:
            raise errors.NotFound(directory)
        return await super().outline(directory, path_chars)


@store("sizes_and_totals_follow_every_kind_of_change")
class CountsOnlyWhatGrows(DictStore):
    peak = 0

    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        found = await super().outline(directory, path_chars)
        type(self).peak = max(self.peak, found.size_bytes)
        return found._replace(size_bytes=self.peak if directory.is_root else found.size_bytes)


# ---------------------------------------------------------------- listing


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


# ---------------------------------------------------------------- search


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


# ---------------------------------------------------------------- changes


@batch("a_put_of_equal_content_makes_no_version")
class MakesVersionsOfNothing(Batch):
    def is_news(self, old: bytes, new: bytes) -> bool:
        return True


@batch("a_put_replaces_the_content_and_keeps_the_memory")
class GivesANewIdOnReplacing(Batch):
    def put(self, change: Put) -> None:
        self.state.live.pop(change.path, None)
        super().put(change)


@batch("a_put_makes_a_memory_and_its_parents")
class CallsEverythingModified(Batch):
    def note(
        self,
        operation: Operation,
        path: MemoryPath,
        memory_id: str,
        content: bytes | None,
        at: int | None = None,
    ) -> Version:
        return super().note("modified", path, memory_id, content, at)


class SkipsChecks(Batch):
    """A batch whose put lacks one check."""

    skipped: type[errors.MemorandaError]

    def put(self, change: Put) -> None:
        try:
            super().put(change)
        except self.skipped:
            self.write("modified", change.path, "mem_x", change.content)


@batch("a_put_at_a_directory_is_refused")
class PutsFilesOverDirectories(SkipsChecks):
    skipped = errors.IsADirectory


@batch("a_put_at_the_root_is_refused")
class PutsAFileAtTheRoot(SkipsChecks):
    skipped = errors.RootRefused


@batch("a_put_below_a_file_names_the_file")
class PutsFilesBelowFiles(SkipsChecks):
    skipped = errors.NotADirectory


@batch("a_put_below_a_file_names_the_file")
class NamesThePathItself(Batch):
    def no_file_above(self, path: MemoryPath) -> None:
        try:
            super().no_file_above(path)
        except errors.NotADirectory as error:
            raise errors.NotADirectory(path) from error


class Expecting(Batch):
    """A batch whose preconditions are looked at by ``instead``."""

    def instead(self, path: MemoryPath, expect: Precondition) -> Precondition:
        raise NotImplementedError

    def check(self, path: MemoryPath, expect: Precondition) -> None:
        super().check(path, self.instead(path, expect))


@batch("absent_refuses_a_path_that_is_taken")
class OverwritesInSpiteOfAbsent(Expecting):
    def instead(self, path: MemoryPath, expect: Precondition) -> Precondition:
        return Expect.ANY if expect is Expect.ABSENT else expect


@batch("a_version_precondition_lets_only_the_head_through")
class IgnoresPreconditions(Expecting):
    def instead(self, path: MemoryPath, expect: Precondition) -> Precondition:
        return expect if isinstance(expect, Expect) else Expect.ANY


@batch("a_content_precondition_lets_only_that_content_through")
class ConflictsAsNotFound(Batch):
    def check(self, path: MemoryPath, expect: Precondition) -> None:
        try:
            super().check(path, expect)
        except errors.Conflict as error:
            raise errors.NotFound(path) from error


@batch("a_precondition_on_what_is_missing_is_not_found")
class ConflictsOnWhatIsMissing(Batch):
    def check(self, path: MemoryPath, expect: Precondition) -> None:
        try:
            super().check(path, expect)
        except errors.NotFound as error:
            raise errors.Conflict from error


@batch("a_removed_memory_is_gone_and_its_history_stays")
class RemovesTheHistoryToo(Batch):
    def remove(self, change: Remove) -> None:
        super().remove(change)
        ids = {one.memory_id for one in self.made}
        self.state.versions = [one for one in self.state.versions if one.memory_id not in ids]


@batch("a_directory_is_removed_with_all_beneath_and_nothing_beside")
class RemovesWhatBeginsAlike(Batch):
    def is_beneath(self, path: MemoryPath, directory: MemoryPath) -> bool:
        return path.text.startswith(directory.text)


@batch("removing_wildcards_removes_only_themselves")
class RemovesByPattern(Batch):
    def is_beneath(self, path: MemoryPath, directory: MemoryPath) -> bool:
        pattern = directory.text.replace("_", "?").replace("%", "*") + "/*"
        return fnmatch.fnmatchcase(path.text, pattern)


@batch("a_directory_is_removed_with_all_beneath_and_nothing_beside")
class RemovesOneLevel(Batch):
    def is_beneath(self, path: MemoryPath, directory: MemoryPath) -> bool:
        return path.parent == directory


@batch("removing_what_is_missing_is_not_found")
class RemovesWhatIsMissing(Batch):
    def remove(self, change: Remove) -> None:
        try:
            super().remove(change)
        except errors.NotFound:
            return


@batch("removing_the_root_is_refused")
class RemovesTheRoot(Batch):
    def remove(self, change: Remove) -> None:
        if change.path.is_root:
            self.state.live.clear()
        else:
            super().remove(change)


@batch("preconditions_do_not_fit_a_directory")
class RemovesDirectoriesUnderAnyCondition(Batch):
    def remove(self, change: Remove) -> None:
        super().remove(Remove(change.path))


@batch("a_directory_vanishes_with_its_last_memory")
class KeepsEmptyDirectories(Batch):
    def put(self, change: Put) -> None:
        ever = self.store.ever_at(self.state, change.path)
        if ever and change.path not in self.state.live and change.expect is Expect.ABSENT:
            raise errors.IsADirectory(change.path)
        super().put(change)


@batch("a_file_that_went_makes_room_for_a_directory")
class KeepsTheNamesOfFiles(Batch):
    def no_file_above(self, path: MemoryPath) -> None:
        once = {one.path for one in self.state.versions}
        for length in range(1, len(path.segments)):
            if MemoryPath.of(path.segments[:length]) in once:
                raise errors.NotADirectory(MemoryPath.of(path.segments[:length]))


@batch("an_id_is_never_given_again")
class MakesIdsOfPaths(Batch):
    def put(self, change: Put) -> None:
        taken = change.path in self.state.live
        super().put(change if taken else replace(change, keep_id=f"mem_{change.path.name}"))


@batch("a_deleted_memory_comes_back_under_its_id_when_asked")
class NeverRevives(Batch):
    def put(self, change: Put) -> None:
        super().put(replace(change, keep_id=None))


@batch("a_memory_removed_with_its_directory_comes_back_under_its_id")
class RevivesOnlyWhatWasRemovedByItself(Batch):
    def put(self, change: Put) -> None:
        known = [one for one in self.state.versions if one.memory_id == change.keep_id]
        if known and str(known[-1].path).count("/") > 2:
            change = replace(change, keep_id=None)
        super().put(change)


class Unlocked(DictStore):
    """A store that looks, lets others in, and then writes over what they did."""

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        before = self.state()
        work = self.batch_class(self, before.copy(), context)
        for change in changes:
            work.do(change)
        time.sleep(0.002)
        work.check_ceiling(before)
        if work.made:
            with self.disk.lock:
                self.commit(work.state)
        return tuple(work.made)


for promise in (
    "no_edit_is_lost_among_many_writers",
    "counting_up_by_edits_counts_every_one",
    "of_many_who_make_one_path_exactly_one_does",
    "of_many_who_hold_one_version_exactly_one_writes",
    "of_many_who_move_one_memory_exactly_one_does",
    "of_many_who_want_one_target_exactly_one_gets_it",
    "memories_made_at_once_in_one_new_directory_are_all_kept",
    "racing_writers_never_pass_the_file_limit",
    "racing_writers_never_pass_the_byte_limits",
    "batches_over_two_memories_never_mix",
    "writers_on_different_memories_do_not_meet",
    "a_users_first_change_may_come_from_many_at_once",
):
    store(promise)(type(f"Unlocked_{promise}", (Unlocked,), {}))


# ---------------------------------------------------------------- moves


class SkipsMoveChecks(Batch):
    """A batch whose move lacks one check."""

    skipped: type[errors.MemorandaError]

    def check_target(self, change: Move, *, is_directory: bool) -> None:
        try:
            super().check_target(change, is_directory=is_directory)
        except self.skipped:
            return


@batch("a_taken_target_is_never_overwritten")
class OverwritesWhenMoving(SkipsMoveChecks):
    skipped = errors.AlreadyExists


@batch("a_directory_cannot_move_into_itself")
class MovesIntoItself(SkipsMoveChecks):
    skipped = errors.MoveIntoItself


@batch("a_target_below_a_file_names_the_file")
class MovesBelowFiles(SkipsMoveChecks):
    skipped = errors.NotADirectory


@batch("a_move_of_a_stale_version_conflicts")
class MovesStaleVersions(SkipsMoveChecks):
    skipped = errors.Conflict


@batch("a_memory_may_move_below_its_own_old_name")
class FindsItselfInTheWay(Batch):
    def check_target(self, change: Move, *, is_directory: bool) -> None:
        self.no_file_above(change.target)
        super().check_target(change, is_directory=is_directory)


@batch("a_taken_target_is_never_overwritten")
class MovesToItselfAsNothing(Batch):
    def move(self, change: Move) -> None:
        if change.source != change.target:
            super().move(change)


@batch("a_moved_memory_keeps_id_and_content")
class MovesByCopyAndRemove(Batch):
    def move(self, change: Move) -> None:
        live = self.state.live.get(change.source)
        if live is None:
            super().move(change)
        else:
            self.remove(Remove(change.source))
            self.put(Put(change.target, live.content, Expect.ABSENT))


@batch("a_moved_directory_takes_all_levels_along_with_their_ids")
class MovesOneLevel(Batch):
    def move(self, change: Move) -> None:
        below = {path for path in self.state.live if path.is_below(change.source)}
        far = {path: self.state.live.pop(path) for path in below if path.parent != change.source}
        try:
            super().move(change)
        finally:
            self.state.live.update(far)


@batch("each_memory_of_a_moved_directory_has_a_version_for_it")
class MovesDirectoriesWithoutVersions(Batch):
    def move(self, change: Move) -> None:
        before = len(self.state.versions)
        heads = {live.memory_id: live.version_id for live in self.state.live.values()}
        is_directory = change.source not in self.state.live
        super().move(change)
        if is_directory:
            del self.state.versions[before:]
            for path, live in self.state.live.items():
                self.state.live[path] = replace(live, version_id=heads[live.memory_id])


@batch("a_change_of_case_is_a_move")
class FoldsCase(Batch):
    def check_target(self, change: Move, *, is_directory: bool) -> None:
        if change.source.text.casefold() == change.target.text.casefold():
            raise errors.AlreadyExists(change.target)
        super().check_target(change, is_directory=is_directory)


@batch("a_move_within_its_directory_and_up_is_only_a_move")
class CannotMoveUp(Batch):
    def check_target(self, change: Move, *, is_directory: bool) -> None:
        if change.source.is_below(change.target.parent) and len(change.target.segments) == 1:
            raise errors.MoveIntoItself(change.source)
        super().check_target(change, is_directory=is_directory)


@batch("a_missing_source_is_not_found_and_leaves_no_parents")
class NamesTheTarget(Batch):
    def move(self, change: Move) -> None:
        try:
            super().move(change)
        except errors.NotFound as error:
            raise errors.NotFound(change.target) from error


@batch("the_root_cannot_be_moved")
class MovesTheRoot(Batch):
    def move(self, change: Move) -> None:
        if change.source.is_root:
            self.state.live = {
                MemoryPath.of(change.target.segments + path.segments): live
                for path, live in self.state.live.items()
            }
        else:
            super().move(change)


@batch("a_move_that_would_lengthen_a_path_too_far_is_refused")
class LengthensPaths(Batch):
    def move(self, change: Move) -> None:
        try:
            super().move(change)
        except errors.MovedNameTooLong as error:
            raise errors.MovedNameTooLong(change.target, error.too_long) from error


@batch("a_move_up_to_the_very_limits_is_allowed")
class CountsTheRootInPaths(Batch):
    def check_target(self, change: Move, *, is_directory: bool) -> None:
        super().check_target(change, is_directory=is_directory)
        for path in self.state.live:
            if path.is_below(change.source):
                below = path.text.removeprefix(change.source.text)
                if len((change.target.text + below).encode()) > 1024:
                    raise errors.MovedNameTooLong(change.source, change.target.text + below)


@batch("what_a_move_left_is_free_again")
class LeavesATraceBehind(Batch):
    def put(self, change: Put) -> None:
        for version in self.state.versions:
            if version.path == change.path and change.path not in self.state.live:
                change = replace(change, keep_id=version.memory_id)
        super().put(change)


# ---------------------------------------------------------------- batches


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


# ---------------------------------------------------------------- edits


@batch("an_edit_puts_its_splice_into_the_present_content")
class TakesTheEndForALength(Batch):
    def edit(self, change: Edit) -> None:
        old = self.store.live_at(self.state, change.path).content
        splice = change.edit(old)
        super().edit(replace(change, edit=lambda _: splice._replace(end=splice.start)))


@batch("an_edit_sees_the_content_that_is_there")
class EditsTheText(Batch):
    def edit(self, change: Edit) -> None:
        old = self.store.live_at(self.state, change.path).content
        text = old.replace(b"\r\n", b"\n")
        new = change.edit(text).apply(text)
        super().edit(
            replace(
                change, edit=lambda _: change.edit(b"")._replace(end=len(old), start=0, middle=new)
            )
        )


@batch("an_edit_that_changes_nothing_makes_no_version")
class NotesEveryEdit(Batch):
    def edit(self, change: Edit) -> None:
        before = len(self.made)
        super().edit(change)
        if len(self.made) == before:
            live = self.state.live[change.path]
            self.write("modified", change.path, live.memory_id, live.content)


@store("what_an_edit_raises_comes_out_unchanged_and_nothing_is_stored")
class WrapsWhatEditsRaise(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        try:
            return await super().apply(changes, context)
        except errors.NoMatch as error:
            raise errors.NoMatch(error.path) from error


@store("an_edit_that_breaks_leaves_the_store_whole_and_working")
class KeepsHalfOfABrokenBatch(DictStore):
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        try:
            return await super().apply(changes, context)
        except ArithmeticError:
            await super().apply([Put(MemoryPath.of(("half",)), b"")], context)
            raise


@batch("an_edit_of_nothing_or_of_a_directory_is_refused")
class MakesWhatItEdits(Batch):
    def edit(self, change: Edit) -> None:
        try:
            super().edit(change)
        except errors.NotFound:
            self.put(Put(change.path, change.edit(b"").middle))


@batch("an_edit_keeps_its_preconditions")
class EditsUnderAnyCondition(Batch):
    def edit(self, change: Edit) -> None:
        super().edit(replace(change, expect=Expect.ANY))


# ---------------------------------------------------------------- ceilings


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


@batch("none_lifts_a_limit")
class TakesNoneForDefault(Batch):
    def check_ceiling(self, before: State) -> None:
        super().check_ceiling(before)
        if self.bytes_of(self.state.live) > 262_144:
            raise errors.MemoryFull(0, 262_144)


# ---------------------------------------------------------------- versions


class AltersVersions(DictStore):
    """A store whose pages of versions are altered by ``alter``."""

    def alter(self, page: VersionPage, after: str | None) -> VersionPage:
        raise NotImplementedError

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        page = await super().versions(where, after=after, limit=limit, content=content)
        return self.alter(page, after)


@store("each_change_of_a_memory_is_a_version_newest_first")
class TellsOldestFirst(AltersVersions):
    def alter(self, page: VersionPage, after: str | None) -> VersionPage:
        return page._replace(versions=page.versions[::-1])


@store("pages_of_versions_make_the_same_whole")
class RepeatsOneAtEachPage(AltersVersions):
    def alter(self, page: VersionPage, after: str | None) -> VersionPage:
        return page._replace(
            after=str(int(page.after) + 1) if page.after and len(page.versions) > 1 else page.after
        )


@store("hashes_and_sizes_are_those_of_the_content_then")
class TellsPresentSizes(AltersVersions):
    def alter(self, page: VersionPage, after: str | None) -> VersionPage:
        sizes = {live.memory_id: len(live.content) for live in self.state().live.values()}
        return page._replace(
            versions=tuple(
                one._replace(size_bytes=sizes.get(one.memory_id, one.size_bytes))
                for one in page.versions
            )
        )


@store("paging_back_is_not_disturbed_by_new_versions")
class PagesVersionsByCounting(DictStore):
    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        start = int(after or 0)
        whole = await super().versions(where, limit=10**6, content=content)
        page = whole.versions[start : start + limit]
        more = len(whole.versions) > start + limit
        return VersionPage(page, str(start + limit) if more else None)


@store("contents_come_only_when_asked_for")
class AlwaysGivesContents(DictStore):
    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        return await super().versions(where, after=after, limit=limit, content=True)


@store("a_version_is_found_by_its_id_with_its_content")
class GivesVersionsWithoutContent(DictStore):
    async def version(self, version_id: str) -> Version:
        return (await super().version(version_id))._replace(content=None)


@store("old_contents_stay_exact_through_many_small_edits")
class RebuildsOldContentsWrong(DictStore):
    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        page = await super().versions(where, after=after, limit=limit, content=content)
        return page._replace(
            versions=tuple(
                one._replace(content=b"" if one.seq % 32 == 0 and one.content else one.content)
                for one in page.versions
            )
        )


@store("versions_are_ordered_and_their_times_never_go_back")
class HasAClockThatStepsBack(DictStore):
    def now(self) -> int:
        return self.disk.now() - (10**9 if self.disk.counter() % 3 == 0 else 0)


@store("versions_are_filtered_by_memory")
class FiltersNoMemories(DictStore):
    def matches(self, state: State, version: Version, where: VersionFilter) -> bool:
        return super().matches(state, version, replace(where, memory_id=None))


@store("a_path_finds_the_versions_of_all_that_was_ever_there_or_beneath")
class FiltersByThePathOfEachVersion(DictStore):
    def matches(self, state: State, version: Version, where: VersionFilter) -> bool:
        here = where.path is None or version.path == where.path
        return here and super().matches(state, version, replace(where, path=None))


@store("a_path_finds_what_came_and_went_with_its_directory")
class FindsOnlyWherePutsWere(DictStore):
    def ever_at(self, state: State, path: MemoryPath) -> set[str]:
        seen = State(state.live, [one for one in state.versions if one.operation == "created"])
        return super().ever_at(seen, path)


@batch("each_memory_of_a_removed_directory_has_its_deletion")
class NotesOneDeletionADirectory(Batch):
    def remove(self, change: Remove) -> None:
        before = len(self.state.versions)
        super().remove(change)
        del self.state.versions[before + 1 :]


@store("versions_are_filtered_by_operation_actor_and_time")
class LeavesTheEndOfATimeOut(DictStore):
    def matches(self, state: State, version: Version, where: VersionFilter) -> bool:
        if where.to_ns is not None:
            where = replace(where, to_ns=where.to_ns - 1)
        return super().matches(state, version, where)


@store("versions_are_filtered_by_operation_actor_and_time")
class FiltersActorsByTheirBeginning(DictStore):
    def matches(self, state: State, version: Version, where: VersionFilter) -> bool:
        fits = where.actor is None or version.actor.startswith(where.actor)
        return fits and super().matches(state, version, replace(where, actor=None))


@store("an_empty_store_has_no_versions")
class CannotPageNothing(AltersVersions):
    def alter(self, page: VersionPage, after: str | None) -> VersionPage:
        return page if page.versions else page._replace(after="0")


@batch("the_head_of_each_memory_is_its_newest_version")
class KeepsTheFirstVersionAsHead(Batch):
    def write(
        self,
        operation: Operation,
        path: MemoryPath,
        memory_id: str,
        content: bytes,
        old: Live | None = None,
    ) -> None:
        head = (old or self.state.live.get(path) or Live("", "", b"", 0, 0)).version_id
        super().write(operation, path, memory_id, content, old)
        if head:
            self.state.live[path] = replace(self.state.live[path], version_id=head)


# ---------------------------------------------------------------- moments


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


# ---------------------------------------------------------------- redaction


@store("a_redacted_version_keeps_only_that_it_was")
class KeepsTheHash(DictStore):
    def blank(self, version: Version) -> Version:
        return version._replace(path=None, size_bytes=None, content=None)


@store("a_redacted_version_keeps_only_that_it_was")
class ForgetsWhoRedacted(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        return (await super().redact(version_id, context))._replace(redacted_by=None)


@store("redacting_again_changes_nothing")
class RedactsAnew(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        redacted = await super().redact(version_id, context)
        return redacted._replace(redacted_by=context.actor)


@store("the_head_of_a_live_memory_cannot_be_redacted")
class RedactsHeads(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        try:
            return await super().redact(version_id, context)
        except errors.NotRedactable:
            return await self.version(version_id)


@store("the_last_content_of_a_deleted_memory_can_be_redacted")
class ProtectsTheDead(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        version = await self.version(version_id)
        newest = [one for one in self.state().versions if one.memory_id == version.memory_id][-1]
        if newest.id == version_id:
            raise errors.NotRedactable
        return await super().redact(version_id, context)


@store("an_unknown_version_is_unknown")
class RedactsWhatIsNotThere(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        try:
            return await super().redact(version_id, context)
        except errors.UnknownId:
            return self.state().versions[0]


@store("the_other_versions_stay_whole")
class RedactsWhatWasBuiltOnIt(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        at = redacted.seq
        state.versions[at] = state.versions[at]._replace(content=b"")
        self.commit(state)
        return redacted


@store("another_memory_of_equal_content_keeps_it")
class RedactsEqualContents(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        sha256 = (await self.version(version_id)).sha256
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        state.versions = [
            one._replace(content=None) if one.sha256 == sha256 else one for one in state.versions
        ]
        self.commit(state)
        return redacted


class RedactsOnlyTheView(DictStore):
    """The bytes stay where they were; only what is told is blank."""

    async def redact(self, version_id: str, context: Context) -> Version:
        kept = self.state().snapshots
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        state.snapshots = kept
        self.commit(state)
        return redacted


store("redacted_bytes_are_gone_from_storage")(RedactsOnlyTheView)


@store("a_store_goes_on_after_a_redaction")
class CountsRedactionsAsVersions(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        state.versions.append(redacted)
        self.commit(state)
        return redacted


@store("a_backend_that_cannot_redact_says_so")
class CannotRedactButSaysItCan(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        raise errors.Unsupported("redaction")


# ---------------------------------------------------------------- contents


class AltersContents(Batch):
    """A batch that stores what ``alter`` makes of a content."""

    def alter(self, content: bytes) -> bytes:
        raise NotImplementedError

    def put(self, change: Put) -> None:
        super().put(replace(change, content=self.alter(change.content)))


@batch("contents_come_back_to_the_byte")
class TranslatesLineEnds(AltersContents):
    def alter(self, content: bytes) -> bytes:
        return content.replace(b"\r\n", b"\n")


@batch("contents_come_back_to_the_byte")
class StopsAtNul(AltersContents):
    def alter(self, content: bytes) -> bytes:
        return content.partition(b"\0")[0]


@batch("contents_come_back_to_the_byte")
class StoresTextOnly(AltersContents):
    def alter(self, content: bytes) -> bytes:
        return content.decode(errors="replace").encode()


@batch("a_megabyte_comes_back_and_is_read_in_parts")
class LosesTheLastPiece(AltersContents):
    def alter(self, content: bytes) -> bytes:
        return content[: len(content) // 65_536 * 65_536] if len(content) > 65_536 else content


@batch("every_accepted_name_is_a_memory_of_its_own")
class FoldsNames(Batch):
    def put(self, change: Put) -> None:
        folded = tuple(name.lower() for name in change.path.segments)
        super().put(replace(change, path=MemoryPath.of(folded)))


@batch("every_accepted_name_lives_a_whole_life")
class DecodesNames(Batch):
    def move(self, change: Move) -> None:
        decoded = tuple(name.replace("%41", "A") for name in change.target.segments)
        super().move(replace(change, target=MemoryPath.of(decoded)))


# ---------------------------------------------------------------- lifetime


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
    async def verify(self) -> Any:
        report = await super().verify()
        return report._replace(problems=(object(),) if report.files > 3 else ())


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
    def of_user(self, user: str, workspace: str) -> Shelf | None:
        cached: dict[tuple[str, str], Shelf | None] = self.__dict__.setdefault("cached", {})
        if cached.get((user, workspace)) is None:
            found = super().of_user(user, workspace)
            cached[user, workspace] = found and Shelf(found.info, found.state)
        return cached[user, workspace]


@store("storage_holds_what_the_store_says")
class WritesToStorageLater(DictStore):
    def commit(self, state: State) -> None:
        self.__dict__["pending"] = state
        self.backend.make_shelf(self)

    def state(self) -> State:
        stored = super().state()
        pending: State | None = self.__dict__.get("pending")
        return pending or stored


# ---------------------------------------------------------------- backends


@backend("a_user_has_a_store_from_the_first_change_on")
class MakesStoresOnOpening(DictBackend):
    async def for_user(self, user: str, workspace: str = "default") -> Store:
        store = await super().for_user(user, workspace)
        assert isinstance(store, DictStore)
        self.make_shelf(store)
        return store


@backend("all_who_ask_for_a_user_get_the_same_store")
class MakesAStoreForEachHandle(DictBackend):
    def of_user(self, user: str, workspace: str) -> Shelf | None:
        return None

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        own: list[Shelf] = []
        store = self.store_class(self, lambda: own[0] if own else None)
        self.owners[store] = (user, workspace)
        own.append(self.make_shelf(store))
        return store


class LeaksBetweenUsers(DictBackend):
    """Finds a user's store by a careless comparison."""

    def same(self, known: str, user: str) -> bool:
        raise NotImplementedError

    def of_user(self, user: str, workspace: str) -> Shelf | None:
        for shelf in self.disk.shelves.values():
            if shelf.info.user is not None and self.same(shelf.info.user, user):
                return shelf
        return None


@backend("users_never_see_each_other")
class FoldsTheCaseOfUsers(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return known.casefold() == user.casefold()


@backend("users_never_see_each_other")
class ComparesUsersByPrefix(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return user.startswith(known)


@backend("the_same_user_of_two_workspaces_is_two")
class IgnoresWorkspaces(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return known == user


@backend("the_same_user_of_two_workspaces_is_two")
class OpensAcrossWorkspaces(DictBackend):
    def of_id(self, store_id: str, workspace: str) -> Shelf:
        shelf = self.disk.shelves.get(store_id)
        if shelf is None:
            raise errors.UnknownId("store")
        return shelf


@backend("a_bad_user_is_misuse_and_leaves_nothing")
class TakesAnyUser(DictBackend):
    async def for_user(self, user: str, workspace: str = "default") -> Store:
        return await super().for_user(user.strip() or "x", workspace)


@store("ids_of_another_store_are_unknown")
class FindsVersionsOfOthers(DictStore):
    async def version(self, version_id: str) -> Version:
        for shelf in self.disk.shelves.values():
            for version in shelf.state.versions:
                if version.id == version_id:
                    return version
        raise errors.UnknownId("version")


@backend("stores_are_written_at_once_without_mixing")
class MixesStores(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return known[:4] == user[:4]


class AltersInfos(DictBackend):
    """A backend whose words on a store are altered by ``alter``."""

    def alter(self, info: StoreInfo) -> StoreInfo:
        raise NotImplementedError

    async def info(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return self.alter(await super().info(store_id, workspace))


@backend("a_store_is_made_with_what_is_said_of_it")
class LosesDescriptions(AltersInfos):
    def alter(self, info: StoreInfo) -> StoreInfo:
        return info._replace(description="")


@backend("two_stores_may_have_one_name")
class TakesTheNameForTheId(DictBackend):
    async def create(
        self,
        name: str,
        *,
        workspace: str = "default",
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        for shelf in self.disk.shelves.values():
            if shelf.info.name == name:
                return shelf.info
        return await super().create(
            name, workspace=workspace, description=description, metadata=metadata
        )


@backend("a_store_that_is_not_there_is_unknown")
class OpensWhatIsNotThere(DictBackend):
    async def open(self, store_id: str, workspace: str = "default") -> Store:
        try:
            return await super().open(store_id, workspace)
        except errors.UnknownId:
            return self.store_class(self, lambda: None)


@backend("a_store_that_is_not_there_is_unknown")
class ErasesWhatIsNotThere(DictBackend):
    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        self.disk.shelves.pop(store_id, None)


@backend("stores_are_listed_by_pages_newest_first")
class ListsStoresOldestFirst(DictBackend):
    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        page = await super().list(
            workspace, after=after, limit=limit, include_archived=include_archived
        )
        return page._replace(stores=page.stores[::-1])


@backend("archived_stores_can_be_left_out_of_the_list")
class ListsTheArchivedAlways(DictBackend):
    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        return await super().list(workspace, after=after, limit=limit)


@backend("a_stores_particulars_can_be_changed")
class MergesMetadata(DictBackend):
    def renew(self, shelf: Shelf, **changed: object) -> StoreInfo:
        metadata = changed.get("metadata")
        if isinstance(metadata, dict):
            changed["metadata"] = {**shelf.info.metadata, **metadata}
        return super().renew(shelf, **changed)


@backend("a_stores_particulars_can_be_changed")
class RenewsTheTimeOfNothing(DictBackend):
    def renew(self, shelf: Shelf, **changed: object) -> StoreInfo:
        shelf.info = super().renew(shelf, **changed)._replace(updated_at_ns=self.disk.now())
        return shelf.info


@batch("an_archived_store_can_be_read_and_emptied_but_not_written")
class WritesTheArchived(Batch):
    def forbid_when_archived(self, path: MemoryPath) -> None:
        return


@batch("an_archived_store_can_be_read_and_emptied_but_not_written")
class EmptiesNothingArchived(Batch):
    def remove(self, change: Remove) -> None:
        self.forbid_when_archived(change.path)
        super().remove(change)


@backend("an_archived_store_can_be_read_and_emptied_but_not_written")
class ArchivesAgainAndAgain(DictBackend):
    async def archive(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return self.renew(self.of_id(store_id, workspace), archived_at_ns=self.disk.now())


class HidesInsteadOfErasing(DictBackend):
    """An erased store is only out of sight."""

    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        shelf = self.of_id(store_id, workspace)
        await super().erase(store_id, context, workspace)
        shelf.info = shelf.info._replace(workspace="erased", user=None)
        self.disk.shelves[f"erased {store_id}"] = shelf


backend("an_erased_store_is_gone_from_everywhere")(HidesInsteadOfErasing)


@backend("an_erased_user_begins_anew")
class ErasesOnlyTheMemories(DictBackend):
    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        self.of_id(store_id, workspace).state = State()


@backend("every_kind_of_work_fits_a_store_without_a_user")
class OpensStoresWithoutAUserForReading(DictBackend):
    async def open(self, store_id: str, workspace: str = "default") -> Store:
        store = await super().open(store_id, workspace)
        if self.of_id(store_id, workspace).info.user is None:
            self.renew(self.of_id(store_id, workspace), archived_at_ns=1)
        return store
