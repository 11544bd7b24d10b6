"""One batch of a history as changes that make the same batch in another store. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath
from memoranda.stores.base import Expect, Move, Put, Remove

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memoranda.stores.base import Change, Entry, Version

_BLANK: Final = "redacted "
"""What stands in for a content that was redacted, until the version that has it is redacted, too; with
the version's id, so that no two are equal: an equal content would make no version."""

_BLANK_NAME: Final = ".redacted-"
_ASIDE_NAME: Final = ".aside-"


class Head(NamedTuple):
    """Where a live memory is, and the hash of what it holds."""

    path: MemoryPath
    sha256: str


class Replay:
    """What lives in the copy at this point of the history, by memory id, and what comes next.

    Where a version was redacted nobody knows its path and content: it gets a path of its own, unless
    one is given, and a content of its own. Costs memory for each live memory, none for versions.
    """

    def __init__(self, live: Iterable[Entry]) -> None:
        self._heads = {each.memory_id: Head(each.path, each.sha256) for each in live}

    def needs_content(self, version: Version) -> bool:
        """Whether a version brings a content that the copy has not got yet."""
        if version.sha256 is None:
            return False
        head = self._heads.get(version.memory_id)
        return head is None or head.sha256 != version.sha256

    def changes(self, batch: Sequence[Version]) -> list[Change]:
        """The changes of one batch, in an order in which none is in another one's way; takes the
        copy to the point after it. Contents are there for versions that need them."""
        heads = self._heads
        moves: list[Move] = []
        puts: list[Put] = []
        removes: list[Remove] = []
        for version in batch:
            head = heads.pop(version.memory_id, None)
            if version.operation == "deleted":
                if head is not None:
                    removes.append(Remove(head.path))
                continue
            path, content = self._what(version)
            if head is not None and head.path != path:
                moves.append(Move(head.path, path))
            if content is not None:
                # Who comes anew has to find its place free; who is there already is written over.
                expect = Expect.ABSENT if head is None else Expect.ANY
                puts.append(Put(path, content, expect, version.memory_id))
            sha256 = "" if version.sha256 is None else version.sha256
            heads[version.memory_id] = Head(path, sha256)
        return [*removes, *_without_collisions(moves), *puts]

    @staticmethod
    def _what(version: Version) -> tuple[MemoryPath, bytes | None]:
        path = version.path or MemoryPath.of((_BLANK_NAME + version.memory_id,))
        if version.redacted_at_ns is None:
            return path, version.content
        return path, (_BLANK + version.id).encode()


def _without_collisions(moves: Sequence[Move]) -> Iterator[Move]:
    """The same moves, as if all were done at once: by way of a place aside where a target is taken
    until another one has moved away."""
    left = {move.source for move in moves}
    left_above = {above for source in left for above in _above(source)}
    straight: list[Move] = []
    rest: list[Move] = []
    for number, move in enumerate(moves):
        target = move.target
        if target in left or target in left_above or not left.isdisjoint(_above(target)):
            aside = MemoryPath.of((f"{_ASIDE_NAME}{number}",))
            yield Move(move.source, aside)
            rest.append(Move(aside, target))
        else:
            straight.append(move)
    yield from straight
    yield from rest


def _above(path: MemoryPath) -> list[MemoryPath]:
    return [MemoryPath.of(path.segments[:length]) for length in range(1, len(path.segments))]
