"""Which lines a ``view_range`` means."""

from __future__ import annotations


def lines_in_range(view_range: tuple[int, int] | None, n_lines: int) -> tuple[int, int] | None:
    """The first and last line (1-based, inclusive) of a file of ``n_lines`` that are asked for.

    None for ``view_range`` is the whole file; an end of -1 is the last line; a start below 1
    counts as 1 and an end past the file as its last line. The result is None where that leaves
    no line. A file of 0 lines counts as one empty line here.
    """
    n_lines = n_lines or 1
    if view_range is None:
        return 1, n_lines
    first, last = max(view_range[0], 1), view_range[1]
    last = n_lines if last == -1 else min(last, n_lines)
    return (first, last) if first <= last else None
