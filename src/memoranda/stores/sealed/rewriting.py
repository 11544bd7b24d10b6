"""A batch as the caller wrote it, turned into one about sealed contents.

Whether a content is equal, and whether it is the one that a precondition names, only shows once the
old one is opened; nonces are random, so equal texts are sealed differently. So what compares with an
old content becomes an ``Edit``, which the store below runs inside its transaction.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from memoranda.digests import sha256
from memoranda.errors import Conflict, Corrupt
from memoranda.light_dataclasses import replace
from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath
from memoranda.stores.base import Edit, Entry, Expect, IfContent, Move, Put, Remove
from memoranda.stores.sealed.envelope import UNBOUND, digest_of_memory, peek, seal, unseal
from memoranda.text.splice import Splice

if TYPE_CHECKING:
    from memoranda.stores.base import Change, Precondition
    from memoranda.stores.sealed.envelope import Head
    from memoranda.stores.sealed.ring import Ring

NOTHING: Final = Splice(0, 0, b"")
"""What an edit gives that changes nothing."""


class Made(Enum):
    """What is at a path only because of an earlier change of the same batch."""

    HERE = "here"


Before: TypeAlias = "Entry | Made | None"
"""What a change finds at its path: a memory of before the batch, one of the batch, or none."""


class Written(NamedTuple):
    """What was sealed: the hash of the plain text, and which content of its memory it is."""

    sha256: str
    generation: int


class Rewriter:
    """Turns the changes of one attempt at a batch.

    ``heads`` are the live memories that the batch is about, by path as it was before the batch.
    ``written`` gets all that was sealed, by the SHA-256 of the sealed content.
    """

    def __init__(self, ring: Ring, changes: Sequence[Change], heads: Mapping[MemoryPath, Entry]):
        self.written: dict[str, Written] = {}
        self._ring = ring
        self._changes = changes
        self._heads = heads

    def rewritten(self, floors: Mapping[str, int]) -> list[Change]:
        """The batch for the store below. ``floors``: the newest generation of each memory that comes
        back by ``Put.keep_id``."""
        done: list[Change] = []
        for number, change in enumerate(self._changes):
            if isinstance(change, Put):
                done.append(self._put(number, change, floors))
            elif isinstance(change, Edit):
                done.append(self._edit(number, change))
            else:
                done += self._guarded(change)
        return done

    # ---- the changes

    def _put(self, number: int, put: Put, floors: Mapping[str, int]) -> Change:
        if put.path.is_root:
            return replace(put, content=b"")
        head = self._before(number, put.path)
        kept = put.keep_id
        if (
            head is not None
            and put.expect is not Expect.ABSENT
            and (kept is None or (isinstance(head, Entry) and head.memory_id == kept))
        ):
            return self._over(number, put, head)
        memory = UNBOUND if kept is None else digest_of_memory(self._ring, kept)
        floor = 0 if kept is None else floors.get(kept, 0)
        sealed = self._sealed(number, put.path, put.content, memory, floor)
        if put.expect is Expect.ANY and head is None:
            # Whoever made it meanwhile has a content that has to be compared with.
            return replace(put, content=sealed, expect=Expect.ABSENT)
        return replace(put, content=sealed)

    def _over(self, number: int, put: Put, head: Entry | Made) -> Edit:
        """A content in place of another one."""

        def edit(old: bytes) -> Splice:
            try:
                found, _ = self._opened(put.path, old, head)
            except Corrupt:
                # What can't be opened can still be replaced, but by nobody who knows what it was.
                if isinstance(put.expect, IfContent):
                    raise
                found = None
            self._check(put.expect, found)
            if found is not None and found.sha256 == sha256(put.content).hexdigest():
                return NOTHING
            memory = self._memory_of(old, head, found)
            floor = 0 if found is None else found.generation
            return Splice(0, len(old), self._sealed(number, put.path, put.content, memory, floor))

        return Edit(put.path, edit, _below(put.expect))

    def _edit(self, number: int, change: Edit) -> Edit:
        head = self._before(number, change.path)

        def edit(old: bytes) -> Splice:
            found, plain = self._opened(change.path, old, head)
            self._check(change.expect, found)
            splice = change.edit(plain)
            if not splice.changes(plain):
                return NOTHING
            memory = self._memory_of(old, head, found)
            new = splice.apply(plain)
            return Splice(
                0, len(old), self._sealed(number, change.path, new, memory, found.generation)
            )

        return replace(change, edit=edit, expect=_below(change.expect))

    def _guarded(self, change: Remove | Move) -> list[Change]:
        expect, path = change.expect, change.path if isinstance(change, Remove) else change.source
        if not isinstance(expect, IfContent) or path.is_root:
            return [change]

        def look(old: bytes) -> Splice:
            self._check(expect, self._peeked(path, old))
            return NOTHING

        return [Edit(path, look), replace(change, expect=Expect.ANY)]

    # ---- contents

    def _opened(self, path: MemoryPath, old: bytes, head: Before) -> tuple[Head, bytes]:
        """An old content, opened, if it is the memory's own."""
        try:
            found, plain = unseal(self._ring, old)
        except Corrupt as error:
            raise unreadable(path, error) from None
        if self._is_known(old, head) and found.memory not in {UNBOUND, self._bound(head)}:
            raise unreadable(path, Corrupt("it was sealed for another memory"))
        return found, plain

    def _peeked(self, path: MemoryPath, old: bytes) -> Head:
        try:
            return peek(self._ring, old)
        except Corrupt as error:
            raise unreadable(path, error) from None

    @staticmethod
    def _check(expect: Precondition, found: Head | None) -> None:
        if isinstance(expect, IfContent) and (found is None or found.sha256 != expect.sha256):
            raise Conflict("The memory has another content.")

    def _sealed(
        self, number: int, path: MemoryPath, plain: bytes, memory: bytes, floor: int
    ) -> bytes:
        place = path_after(self._changes[number + 1 :], path)
        generation = max(floor + 1, time.time_ns())
        sealed = seal(self._ring, plain, place, memory, generation)
        written = Written(sha256(plain).hexdigest(), generation)
        self.written[sha256(sealed).hexdigest()] = written
        return sealed

    # ---- whose they are

    def _before(self, number: int, path: MemoryPath) -> Before:
        was = path_before(self._changes[:number], path)
        return self._heads.get(was) if isinstance(was, MemoryPath) else was

    def _is_known(self, old: bytes, head: Before) -> bool:
        """Whether the old content is the one that ``head`` is about: nobody came between."""
        return isinstance(head, Entry) and sha256(old).hexdigest() == head.sha256

    def _bound(self, head: Before) -> bytes:
        return digest_of_memory(self._ring, head.memory_id) if isinstance(head, Entry) else UNBOUND

    def _memory_of(self, old: bytes, head: Before, found: Head | None) -> bytes:
        if self._is_known(old, head):
            return self._bound(head)
        return UNBOUND if found is None else found.memory


def path_before(earlier: Sequence[Change], path: MemoryPath) -> MemoryPath | Made | None:
    """Where before ``earlier`` was what is at ``path`` after them; None: nothing can be there."""
    for change in reversed(earlier):
        if isinstance(change, Put | Edit):
            if change.path == path:
                return Made.HERE
        elif isinstance(change, Remove):
            if _is_at(path, change.path):
                return None
        elif _is_at(path, change.target):
            path = _moved(path, change.target, change.source)
        elif _is_at(path, change.source):
            return None
    return path


def path_after(later: Sequence[Change], path: MemoryPath) -> MemoryPath:
    """Where after ``later`` is what was at ``path`` before them."""
    for change in later:
        if isinstance(change, Move) and _is_at(path, change.source):
            path = _moved(path, change.source, change.target)
    return path


def unreadable(path: MemoryPath, why: Corrupt) -> Corrupt:
    """The error for a content that can't be opened: which one, why, what to do."""
    return Corrupt(
        f"{path} can't be opened: {why}. Restore an older version of it, or write it anew."
    )


def _is_at(path: MemoryPath, place: MemoryPath) -> bool:
    return path == place or path.is_below(place)


def _moved(path: MemoryPath, source: MemoryPath, target: MemoryPath) -> MemoryPath:
    return MemoryPath.of(target.segments + path.segments[len(source.segments) :])


def _below(expect: Precondition) -> Precondition:
    """What the store below can check by itself; it knows the hashes of sealed contents only."""
    return Expect.ANY if isinstance(expect, IfContent) else expect
