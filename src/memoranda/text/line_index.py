"""Where the lines of a large file are, so that a range of it is read without the rest."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final, NamedTuple

from memoranda.after_fork import renew

# Bytes are counted at 0.5 ns each, so finding a line between two marks takes 8 us. 50 MB have
# 3,052 marks.
MARK_BYTES: Final = 16_384


class Span(NamedTuple):
    """Bytes ``start`` to ``end`` (exclusive) of a file; ``lines_before`` end before ``start``."""

    start: int
    end: int
    lines_before: int


class LineIndex:
    """How many LFs lie before every 16 KB of a file; built by feeding the file from its start."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._newlines = 0
        self._ended = True
        self._marks: list[int] = []

    def feed(self, chunk: bytes) -> None:
        """Go on with the next bytes; all chunks but the last are whole multiples of 16 KB."""
        for start in range(0, len(chunk), MARK_BYTES):
            self._marks.append(self._newlines)
            self._newlines += chunk.count(b"\n", start, start + MARK_BYTES)
        self.size_bytes += len(chunk)
        self._ended = chunk.endswith(b"\n")

    @property
    def n_lines(self) -> int:
        """How many lines the file has."""
        return self._newlines if self._ended else self._newlines + 1

    def span(self, first: int, last: int) -> Span:
        """The stretch between two marks that holds the 1-based lines ``first`` to ``last``."""
        begin = max(bisect_left(self._marks, first - 1) - 1, 0)
        end = bisect_left(self._marks, last) * MARK_BYTES
        return Span(begin * MARK_BYTES, min(end, self.size_bytes), self._marks[begin])


class IndexCache:
    """The indexes of the files that were viewed last, each for one state of its file.

    Safe to use from many threads. An index takes about 2.5 KB for each MB of its file.
    """

    def __init__(self, max_files: int = 32) -> None:
        self._max_files = max_files
        self.after_fork_in_child()
        renew(self)

    def after_fork_in_child(self) -> None:
        """Begin empty, see ``after_fork.Renewed``: an entry may have been on its way."""
        self._indexes: OrderedDict[Hashable, tuple[Hashable, LineIndex]] = OrderedDict()
        self._lock = Lock()
        """Guards ``_indexes``: looking up moves an entry, too."""

    def get(self, file: Hashable) -> tuple[Hashable, LineIndex] | None:
        """The stamp and index kept for ``file``; whether the stamp is still the file's is for the
        caller to see."""
        # Views of small files ask too, all in vain: they don't wait for each other.
        if file not in self._indexes:
            return None
        with self._lock:
            known = self._indexes.get(file)
            if known:
                self._indexes.move_to_end(file)
            return known

    def put(self, file: Hashable, stamp: Hashable, index: LineIndex) -> None:
        """Keep ``index`` for the state ``stamp`` of ``file``, in place of an older one."""
        with self._lock:
            self._indexes[file] = stamp, index
            self._indexes.move_to_end(file)
            if len(self._indexes) > self._max_files:
                del self._indexes[next(iter(self._indexes))]

    def drop(self, file: Hashable) -> None:
        """Forget the index of ``file``, if one is kept."""
        with self._lock:
            self._indexes.pop(file, None)
