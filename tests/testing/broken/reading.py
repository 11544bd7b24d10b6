"""Stores that break what is promised of reading."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Change,
    Content,
    Context,
    Entry,
    Operation,
    Put,
    Remove,
    Version,
)
from tests.testing.broken.registry import batch, store
from tests.testing.dict_store import Batch, DictStore, Live, State


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
