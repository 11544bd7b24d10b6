from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.numbering import numbered
from tests.unit.text.naive import TEXTS, lines_of


def naive(text: str, first: int) -> str:
    lines = [line.removesuffix("\n") for line in lines_of(text)] or [""]
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, first))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "     1\t"),
        ("\n", "     1\t"),
        ("a", "     1\ta"),
        ("a\n", "     1\ta"),
        ("a\n\n", "     1\ta\n     2\t"),
        ("\na", "     1\t\n     2\ta"),
    ],
)
def test_each_line_has_its_number(text: str, shown: str) -> None:
    assert numbered(text, 1) == shown


@given(TEXTS, st.integers(1, 999_990) | st.integers(500, 520) | st.integers(20_400, 20_500))
def test_numbering_is_the_same_by_any_way(text: str, first: int) -> None:
    assert numbered(text, first) == naive(text, first)


@pytest.mark.parametrize("first", [1, 512, 513, 1000, 19_400, 20_480, 20_481, 900_000])
@pytest.mark.parametrize("count", [1, 2, 511, 512, 513, 1080, 3000])
def test_long_texts_are_numbered_across_blocks(first: int, count: int) -> None:
    text = "".join(f"line {number}\n" for number in range(count))
    assert numbered(text, first) == naive(text, first)
    assert numbered(text, first) == naive(text, first)
