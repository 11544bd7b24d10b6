"""Stores that break what is promised of changes."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Sequence
from dataclasses import replace

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Change,
    Context,
    Expect,
    Operation,
    Precondition,
    Put,
    Remove,
    Version,
)
from tests.testing.broken.registry import batch, store
from tests.testing.dict_store import Batch, DictStore


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
    ) -> Version:
        return super().note("modified", path, memory_id, content)


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
