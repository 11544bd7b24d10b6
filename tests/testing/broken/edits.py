"""Stores that break what is promised of edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    Expect,
    Put,
    Version,
)
from memoranda.testing.promises.steps import constantly, replace_all
from tests.testing.broken.registry import batch, store
from tests.testing.dict_store import Batch, DictStore


@batch("an_edit_puts_its_splice_into_the_present_content")
class TakesTheEndForALength(Batch):
    def edit(self, change: Edit) -> None:
        old = self.store.live_at(self.state, change.path).content
        splice = change.edit(old)
        super().edit(replace(change, edit=constantly(splice._replace(end=splice.start))))


@batch("an_edit_sees_the_content_that_is_there")
class EditsTheText(Batch):
    def edit(self, change: Edit) -> None:
        old = self.store.live_at(self.state, change.path).content
        text = old.replace(b"\r\n", b"\n")
        new = change.edit(text).apply(text)
        super().edit(replace(change, edit=replace_all(new)))


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
