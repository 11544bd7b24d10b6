"""Stores that break what is promised of versions."""

from __future__ import annotations

from dataclasses import replace

from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Operation,
    Remove,
    Version,
    VersionFilter,
    VersionPage,
)
from tests.testing.broken.registry import batch, store
from tests.testing.dict_store import Batch, DictStore, Live, State


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
