"""Where a text stands in another one, overlapping places too, in linear time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

# Blocks of this size are compared at memory speed; within the last one bytes are compared singly.
_BLOCK_BYTES: Final = 4096

_LONG_BYTES: Final = 4096
"""A longer text may be worth the look whether it repeats itself."""


def lines_of_matches(data: bytes, wanted: bytes, most: int) -> tuple[int, ...]:
    """The first ``most`` distinct 1-based lines on which ``wanted`` (not empty) begins, ascending."""
    lines: list[int] = []
    line, counted = 1, 0
    starts = match_starts(data, wanted) if len(wanted) > _LONG_BYTES else _first_ones(data, wanted)
    for start in starts:
        line += data.count(b"\n", counted, start)
        counted = start
        if not lines or lines[-1] != line:
            lines.append(line)
            if len(lines) == most:
                break
    return tuple(lines)


def _first_ones(data: bytes, wanted: bytes) -> Iterator[int]:
    """Of each line the first place at which ``wanted`` begins."""
    at = data.find(wanted)
    while at >= 0:
        yield at
        newline = data.find(b"\n", at)
        at = data.find(wanted, newline + 1) if newline >= 0 else -1


def match_starts(data: bytes, wanted: bytes) -> Iterator[int]:
    """The byte offsets at which ``wanted`` (not empty) begins, ascending, overlapping ones too.

    ``find`` looks at all of ``wanted`` for each place, so a long ``wanted`` that overlaps itself
    closely would take quadratic time: a million LFs hold half a million LFs half a million times.
    Two places less than half its length apart mean that it repeats with that step, and the places
    that follow are known once it is known how far ``data`` goes on repeating.
    """
    at = data.find(wanted)
    while at >= 0:
        yield at
        following = data.find(wanted, at + 1)
        step = following - at
        if 0 < step <= len(wanted) // 2:
            last = _repeats_until(data, following + len(wanted), step) - len(wanted)
            yield from range(following, last + 1, step)
            following = data.find(wanted, last + 1)
        at = following


def _repeats_until(data: bytes, offset: int, step: int) -> int:
    """The first offset from ``offset`` on whose byte differs from the one ``step`` before it."""
    while (
        data[offset : offset + _BLOCK_BYTES] == data[offset - step : offset - step + _BLOCK_BYTES]
    ):
        offset += _BLOCK_BYTES
    while offset < len(data) and data[offset] == data[offset - step]:
        offset += 1
    return offset
