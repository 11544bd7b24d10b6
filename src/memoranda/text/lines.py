"""Where lines begin: they end at LF and nowhere else, and a final LF begins no further line."""

from __future__ import annotations

from typing import Final

from memoranda.text.splice import Splice

# A stretch this short is searched LF by LF; a longer one is halved by counting, which runs at
# memory speed.
_SEARCHED_BYTES: Final = 512

_COUNTED_BYTES: Final = 32_768


def count_lines(data: bytes) -> int:
    r"""How many lines ``data`` has: 2 for ``b"a\nb"`` and ``b"a\nb\n"``, 0 for ``b""``."""
    newlines = data.count(b"\n")
    return newlines if not data or data.endswith(b"\n") else newlines + 1


def find_line(data: bytes, line: int) -> int | None:
    """The byte offset where ``line`` (1 or more) begins; None where ``data`` has no such line.

    One line more than there are is the end of ``data``. Costs one count of what lies before.
    """
    newlines = line - 1
    for low in range(0, len(data), _COUNTED_BYTES):
        high = min(low + _COUNTED_BYTES, len(data))
        here = data.count(b"\n", low, high)
        if here >= newlines:
            return line_start(data, newlines + 1, low, high)
        newlines -= here
    ends_a_line = not data or data.endswith(b"\n")
    return len(data) if newlines == (0 if ends_a_line else 1) else None


def line_start(data: bytes, line: int, start: int = 0, end: int | None = None) -> int:
    """The byte offset where ``line`` begins; lines are counted from 1 at offset ``start``.

    ``line`` is at most one more than there are between ``start`` and ``end``, by default that of
    ``data``; that one begins at ``end``. Costs about one count over what lies between.
    """
    newlines = line - 1
    low, high = start, len(data) if end is None else end
    while newlines and high - low > _SEARCHED_BYTES:
        middle = (low + high) // 2
        before = data.count(b"\n", low, middle)
        if before >= newlines:
            high = middle
        else:
            newlines -= before
            low = middle
    for _ in range(newlines):
        low = line_end(data, low)
    return low


def newlines_before(data: bytes, offset: int) -> int:
    """How many lines end before ``offset``."""
    return data.count(b"\n", 0, offset)


def line_begin(data: bytes, offset: int) -> int:
    """The byte offset where the line begins that ``offset`` lies in, or ends."""
    return data.rfind(b"\n", 0, offset) + 1


def line_end(data: bytes, offset: int) -> int:
    """The byte offset after the line that holds ``offset``, its LF included."""
    return data.find(b"\n", offset) + 1 or len(data)


def count_lines_after(old: bytes, change: Splice) -> int:
    """How many lines the text has that ``change`` makes of ``old``, without making it."""
    newlines = (
        newlines_before(old, change.start)
        + change.middle.count(b"\n")
        + old.count(b"\n", change.end)
    )
    if change.end < len(old):
        last = old[-1:]
    else:
        last = change.middle[-1:] or old[max(change.start - 1, 0) : change.start]
    return newlines if last in (b"", b"\n") else newlines + 1
