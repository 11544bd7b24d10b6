"""The snippet after a replacement: the changed lines with two context lines on either side."""

from __future__ import annotations

from typing import Final

from memoranda.text.excerpt import Excerpt, excerpt
from memoranda.text.lines import count_lines_after, line_begin, line_end, newlines_before
from memoranda.text.splice import Splice
from memoranda.text.utf8 import count_characters, decode
from memoranda.text.view_cap import Cut, cut_lines, enough_bytes

CONTEXT_LINES: Final = 2
CONTEXT_LINE_CHARS: Final = 200

# No character takes more than 4 bytes.
_CONTEXT_LINE_BYTES: Final = 4 * CONTEXT_LINE_CHARS


def snippet(old: bytes, change: Splice, cap_chars: int) -> Excerpt:
    """What to show of the text that ``change`` makes of ``old``; both have to be UTF-8.

    The changed lines are those that hold a byte of the new middle; where nothing came in, the
    line at that place, if there is one. They come first in the cap. Context lines are cut to 200
    characters and share what is left, the nearest first. The new text is never put together: the
    cost is that of what is shown, and of counting lines.
    """
    start, end, middle = change
    begin = line_begin(old, start)
    after = end if middle.endswith(b"\n") else line_end(old, end)
    first = newlines_before(old, begin) + 1
    # One byte more than is looked at: it tells that there is more.
    enough = enough_bytes(cap_chars) + 1
    changed = cut_lines(
        old[begin : min(start, begin + enough)]
        + middle[:enough]
        + old[end : min(after, end + enough)],
        cap_chars,
    )
    if not changed.whole:
        return _without_context(old, change, first, changed)

    before, behind = _lines_before(old, begin), _lines_behind(old, after)
    shown_before: list[str] = []
    shown_behind: list[str] = []
    room = cap_chars - len(changed.text)
    for distance in range(CONTEXT_LINES):
        for lines, shown in ((before, shown_before), (behind, shown_behind)):
            if len(shown) == distance < len(lines) and len(lines[distance]) < room:
                shown.append(lines[distance] + "\n")
                room -= len(shown[distance])
    text = "".join((*reversed(shown_before), changed.text, *shown_behind))
    return Excerpt(text, first - len(shown_before))


def _lines_before(old: bytes, offset: int) -> list[str]:
    """The beginnings of the lines that end at ``offset``, the nearest first."""
    lines: list[str] = []
    for _ in range(CONTEXT_LINES):
        if offset == 0:
            break
        begin = line_begin(old, offset - 1)
        lines.append(_beginning(old, begin, offset))
        offset = begin
    return lines


def _lines_behind(old: bytes, offset: int) -> list[str]:
    """The beginnings of the lines that begin at ``offset``, the nearest first."""
    lines: list[str] = []
    for _ in range(CONTEXT_LINES):
        if offset == len(old):
            break
        end = line_end(old, offset)
        lines.append(_beginning(old, offset, end))
        offset = end
    return lines


def _beginning(old: bytes, begin: int, end: int) -> str:
    """The first 200 characters of the line from ``begin`` to ``end``, without its LF."""
    text = decode(old[begin : min(end, begin + _CONTEXT_LINE_BYTES)])
    return text.removesuffix("\n")[:CONTEXT_LINE_CHARS]


def _without_context(old: bytes, change: Splice, first: int, changed: Cut) -> Excerpt:
    """The changed lines as far as the cap lets them be shown."""
    last = first + change.middle.removesuffix(b"\n").count(b"\n")
    n_lines, first_line_chars = count_lines_after(old, change), _first_line_chars(old, change)
    return excerpt(changed, first, last, n_lines, first_line_chars)


def _first_line_chars(old: bytes, change: Splice) -> int:
    """How many characters the first changed line has, without its LF."""
    start, end, middle = change
    begin = line_begin(old, start)
    newline = middle.find(b"\n")
    if newline >= 0:
        return count_characters(old, begin, start) + count_characters(middle, 0, newline)
    stop = old.find(b"\n", end)
    return (
        count_characters(old, begin, start)
        + count_characters(middle)
        + count_characters(old, end, len(old) if stop < 0 else stop)
    )
