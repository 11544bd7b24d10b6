"""Two contents side by side, line by line."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

MOST_LINES: Final = 4_000
"""Longer contents are not compared here: it would take seconds."""

_AROUND: Final = 3

Kind: TypeAlias = Literal["same", "changed", "gone", "skipped"]


class Row(NamedTuple):
    """One line of each side, with its 1-based number; None where a side has none."""

    kind: Kind
    left_number: int | None
    left: str | None
    right_number: int | None
    right: str | None


def side_by_side(old: str, new: str) -> list[Row] | None:
    """The rows that differ with three unchanged ones around; None for contents that are too long.

    A ``gone`` row has one side only.
    """
    before, after = old.split("\n"), new.split("\n")
    if max(len(before), len(after)) > MOST_LINES:
        return None
    rows: list[Row] = []
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_AROUND)
    for number, group in enumerate(groups):
        if number:
            rows.append(Row("skipped", None, None, None, None))
        for tag, left, left_end, right, right_end in group:
            kind: Kind = "same" if tag == "equal" else "changed"
            for step in range(max(left_end - left, right_end - right)):
                has_left, has_right = left + step < left_end, right + step < right_end
                rows.append(
                    Row(
                        kind if has_left and has_right else "gone",
                        left + step + 1 if has_left else None,
                        before[left + step] if has_left else None,
                        right + step + 1 if has_right else None,
                        after[right + step] if has_right else None,
                    )
                )
    return rows
