"""Turns: one process at a time changes a store, in the order in which they came.

A process takes the *turn* (a lock on the store's directory) and then the *lock* (on the file
``lock``), and gives the turn back at once. Who comes back queues for the turn behind those who
wait, so that no process can hold the lock again and again while others starve.

The file ``lock`` holds one word: which boot of the machine wrote it last, and how far the tree
follows the log.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Final

from memoranda.light_named_tuples import NamedTuple
from memoranda.stores.folder.file_port import Files

_WORD: Final = struct.Struct("<8s16sQQQQ")
WORD_BYTES: Final = _WORD.size
_MAGIC: Final = b"MEMWORD1"
_LAGGING: Final = 1
_COMMITTING: Final = 2

BOOT_ID_BYTES: Final = 16
NO_BOOT_ID: Final = bytes(BOOT_ID_BYTES)
"""Where a platform doesn't tell one boot from the next; equals no boot, not even itself."""


class Word(NamedTuple):
    """What the file ``lock`` says.

    The tree follows the log up to event ``applied``; ``lagging`` tells that some places don't, so
    that reads have to ask the log. ``history`` and ``memories`` are the inodes of the database and
    of the directory of files that are the store's. ``committing`` stands from before a commit until
    the tree follows it: where nobody holds the lock any more, whoever wrote it died in between.
    """

    boot_id: bytes
    applied: int
    lagging: bool
    history: int = 0
    memories: int = 0
    committing: bool = False

    def pack(self) -> bytes:
        """The bytes of the file."""
        flags = self.lagging * _LAGGING | self.committing * _COMMITTING
        return _WORD.pack(_MAGIC, self.boot_id, self.applied, flags, self.history, self.memories)

    @classmethod
    def unpack(cls, data: bytes) -> Word | None:
        """The word in the bytes of a file; None if they hold none."""
        if len(data) != WORD_BYTES:
            return None
        magic, boot_id, applied, flags, history, memories = _WORD.unpack(data)
        if magic != _MAGIC:
            return None
        lagging, committing = bool(flags & _LAGGING), bool(flags & _COMMITTING)
        return cls(boot_id, applied, lagging, history, memories, committing)


class TurnLock:
    """The turn and the lock of one store; not for two threads at once (a mutex stands before)."""

    __slots__ = ("_directory", "_files", "_last", "kept", "number")

    def __init__(self, files: Files, directory: int, lock: int) -> None:
        self._files = files
        self._directory = directory
        self.number = lock
        self._last: tuple[bytes, Word | None] = (b"", None)
        self.kept = False
        """Whether this process keeps the lock until it closes the store (network disks)."""

    def take(self) -> None:
        """Wait for the turn and then for the lock."""
        if self.kept:
            return
        self._files.lock(self._directory)
        try:
            self._files.lock(self.number)
        finally:
            self._files.unlock(self._directory)

    def give_back(self) -> None:
        """Let the next one in."""
        if not self.kept:
            self._files.unlock(self.number)

    def keep(self) -> bool:
        """Take the lock for as long as the store is open; False if another process has it."""
        self.kept = self._files.try_lock(self.number)
        return self.kept

    def word(self) -> Word | None:
        """What the file says now; None if it is new or damaged."""
        data = self._files.read_at(self.number, WORD_BYTES + 1, 0)
        last = self._last
        if data != last[0]:
            self._last = last = data, Word.unpack(data)
        return last[1]

    def write(self, word: Word) -> None:
        """Change what the file says; under the lock only."""
        data = word.pack()
        self._last = data, word
        self._files.write_at(self.number, data, 0)


@cache
def boot_id() -> bytes:
    """Which boot of this machine it is, 16 bytes."""
    try:
        # As bytes: a text would load its codec, in every process that only looks.
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return bytes.fromhex(file.read().decode("ascii").strip().replace("-", ""))
    except (OSError, ValueError):
        return NO_BOOT_ID
