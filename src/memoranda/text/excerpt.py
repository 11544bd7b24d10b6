"""A part of a file as an answer shows it: whole lines, or the beginning of one."""

from __future__ import annotations

from typing import NamedTuple

from memoranda.text.view_cap import Cut


class CutLine(NamedTuple):
    """A line that is shown in part: its 1-based number, its characters shown, and all it has."""

    number: int
    shown_chars: int
    total_chars: int


class LeftOut(NamedTuple):
    """Lines that were wanted and not shown: the first of them, and how many the file has."""

    first: int
    n_lines: int


class Excerpt(NamedTuple):
    """Lines of a file, joined by LF in ``text``, the first of them with the number ``first``."""

    text: str
    first: int
    cut_line: CutLine | None = None
    left_out: LeftOut | None = None


def excerpt(cut: Cut, first: int, last: int, n_lines: int, first_line_chars: int) -> Excerpt:
    """What was ``cut`` out of the wanted lines ``first`` to ``last`` of a file of ``n_lines``.

    ``first_line_chars`` is how many characters line ``first`` has; it counts only where ``cut`` is
    ``inside`` that line.
    """
    following = first + cut.n_lines
    return Excerpt(
        cut.text,
        first,
        CutLine(first, len(cut.text), first_line_chars) if cut.inside else None,
        LeftOut(following, n_lines) if following <= last else None,
    )
