"""Stores that break what is promised of moves."""

from __future__ import annotations

from dataclasses import replace

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Expect,
    Move,
    Put,
    Remove,
)
from tests.testing.broken.registry import batch
from tests.testing.dict_store import Batch


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


@batch("a_memory_may_take_the_name_of_its_own_directory_by_way_of_another")
class CannotMoveToAnEmptiedDirectory(Batch):
    def move(self, change: Move) -> None:
        before = self.store.state().live  # of before the batch
        emptied = {path for path in before if path.is_below(change.target)}
        if emptied:
            raise errors.AlreadyExists(change.target)
        super().move(change)


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
