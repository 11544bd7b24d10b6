"""The 999,999-line rule: a view numbers lines with six digits, so it shows no longer file."""

from __future__ import annotations

from typing import Final

MAX_LINES: Final = 999_999


def may_pass(size_bytes: int) -> bool:
    """Whether a file of this size can have too many lines; every line but the last takes a byte
    or more, so a smaller file needs no count."""
    return size_bytes > MAX_LINES


def passes(n_lines: int) -> bool:
    """Whether a file of ``n_lines`` lines is too long to be shown, ranged or not."""
    return n_lines > MAX_LINES
