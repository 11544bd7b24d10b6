"""Files that were replaced or removed stay a while: somebody may still be writing into them.

A displaced file waits in ``incoming/``. After two seconds, once nobody has it open, it is compared
with what it was when it was displaced, and unlinked. If it changed, its text becomes a version
that is never head (*late*).
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.stores.folder.file_port import READING, Files
from memoranda.stores.folder.tree import ABSENT, Seen, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

SECONDS: Final = 2.0
MOST_FILES: Final = 64
MOST_BYTES: Final = 16 * 1024 * 1024


class Displaced(NamedTuple):
    """A file in ``incoming/`` that nobody needs any more. ``seen`` is None where an earlier
    process displaced it; ``since`` is on the monotonic clock."""

    name: str
    seen: Seen | None
    since: float
    size: int


class Touched(NamedTuple):
    """A displaced file that is not what it was, and its text."""

    name: str
    seen: Seen
    content: bytes


class Lingering:
    """The displaced files of one store, oldest first."""

    def __init__(self, files: Files, incoming: int) -> None:
        self._files = files
        self._incoming = incoming
        self._waiting: deque[Displaced] = deque()
        self._bytes = 0

    def add(self, name: str, seen: Seen | None, now: float, size: int) -> None:
        """A file was displaced just now."""
        self._waiting.append(Displaced(name, seen, now, size))
        self._bytes += size

    def find(self, now: float) -> None:
        """Take up what an earlier process left in ``incoming/``; its age counts from now."""
        for name in sorted(self._files.names(self._incoming)):
            self.add(name, None, now, 0)

    @property
    def is_crowded(self) -> bool:
        """Whether so much waits that the oldest have to go early."""
        return len(self._waiting) > MOST_FILES or self._bytes > MOST_BYTES

    def due(self, now: float) -> bool:
        """Whether the oldest file has waited long enough, or there are too many."""
        waiting = self._waiting
        return bool(waiting) and (waiting[0].since + SECONDS <= now or self.is_crowded)

    def take_due(self, now: float) -> list[Displaced]:
        """The files whose time has come, out of the queue; give each to ``settle``."""
        taken: list[Displaced] = []
        while self.due(now):
            displaced = self._waiting.popleft()
            self._bytes -= displaced.size
            taken.append(displaced)
        return taken

    def settle(self, displaced: Displaced, now: float) -> Touched | None:
        """Unlink a file that is as it was; give back one that was touched.

        One that somebody has open waits on, unless too many do.
        """
        files = self._files
        try:
            descriptor = files.open(displaced.name, READING, self._incoming)
        except OSError as error:
            if error.errno not in ABSENT:
                self.add(displaced.name, displaced.seen, now, displaced.size)
            return None
        try:
            seen = Seen.of(files.fstat(descriptor))
            if seen == displaced.seen:
                if not files.is_open_elsewhere(descriptor) or self.is_crowded:
                    files.remove(displaced.name, self._incoming)
                else:
                    self.add(displaced.name, seen, now, displaced.size)
                return None
            return Touched(displaced.name, seen, read_whole(files, descriptor, seen.size))
        finally:
            files.close(descriptor)

    def settled(self, touched: Iterable[Touched], now: float) -> None:
        """The texts of touched files are kept for good; they go unless they change again."""
        for each in touched:
            self.add(each.name, each.seen, now, each.seen.size)

    def empty(self) -> None:
        """Unlink everything at once: a text has to be gone from the disk."""
        self._waiting.clear()
        self._bytes = 0
        for name in self._files.names(self._incoming):
            with contextlib.suppress(FileNotFoundError):
                self._files.remove(name, self._incoming)
