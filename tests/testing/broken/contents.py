"""Stores that break what is promised of contents."""

from __future__ import annotations

from dataclasses import replace

from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Move,
    Put,
)
from tests.testing.broken.registry import batch
from tests.testing.dict_store import Batch


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
