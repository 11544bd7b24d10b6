"""The 999,999-line rule: a view numbers lines with six digits, so it shows no longer file."""

from __future__ import annotations

from typing import Final

MAX_LINES: Final = 999_999


def passes(n_lines: int) -> bool:
    """Whether a file of ``n_lines`` lines is too long to be shown, ranged or not."""
    return n_lines > MAX_LINES
