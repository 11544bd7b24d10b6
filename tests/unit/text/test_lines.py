from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.lines import (
    count_lines,
    count_lines_after,
    find_line,
    line_begin,
    line_end,
    line_start,
    newlines_before,
)
from memoranda.text.splice import Splice
from tests.unit.text.naive import TEXTS, changes, lines_of, splice_of


@pytest.mark.parametrize(
    ("data", "n_lines"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"\n", 1), (b"a\nb", 2), (b"a\nb\n", 2), (b"\n\n", 2)],
)
def test_a_final_lf_begins_no_line(data: bytes, n_lines: int) -> None:
    assert count_lines(data) == n_lines


@given(TEXTS)
def test_lines_are_counted_as_they_are_told_apart(text: str) -> None:
    assert count_lines(text.encode()) == len(lines_of(text))


def check_starts(data: bytes, start: int) -> None:
    """Every line from ``start`` on begins where the one before it ends."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data[start:])
    offset = start
    for number, line in enumerate(lines, 1):
        assert line_start(data, number, start) == offset
        if start == 0:
            assert find_line(data, number) == offset
        assert line_end(data, offset) == offset + len(line)
        offset += len(line)
    assert line_start(data, len(lines) + 1, start) == len(data)
    if start == 0:
        assert find_line(data, len(lines) + 1) == len(data)
        assert find_line(data, len(lines) + 2) is None
        assert find_line(data, 10**30) is None


@given(TEXTS, st.integers(0, 9))
def test_every_line_begins_where_the_one_before_it_ends(text: str, start: int) -> None:
    data = text.encode()
    check_starts(data, min(start, len(data)))


@pytest.mark.parametrize("width", [1, 7, 300, 511, 512, 513, 2000])
@pytest.mark.parametrize("final", [b"", b"\n", b"\n\n\n"])
@pytest.mark.parametrize("start", [0, 1, 600])
def test_lines_of_longer_texts_are_found(width: int, final: bytes, start: int) -> None:
    lines = [b"x" * (width - number % 2) for number in range(40)]
    data = b"\n".join(lines) + final
    check_starts(data, min(start, len(data)))


@pytest.mark.parametrize("final", [b"", b"\n"])
@pytest.mark.parametrize("width", [0, 1, 16_383, 32_767, 32_768, 40_000])
def test_lines_of_texts_that_are_counted_in_parts_are_found(width: int, final: bytes) -> None:
    check_starts(b"\n".join([b"x" * width] * 5) + final, 0)


@given(st.lists(st.integers(0, 700), max_size=30))
def test_lines_of_any_width_are_found(widths: list[int]) -> None:
    check_starts(b"\n".join(b"x" * width for width in widths), 0)


@pytest.mark.parametrize(
    ("data", "offset", "begin", "before"),
    [
        (b"", 0, 0, 0),
        (b"a", 1, 0, 0),
        (b"\n", 0, 0, 0),
        (b"\n", 1, 1, 1),
        (b"\na", 1, 1, 1),
        (b"a\nb\ncd\n", 1, 0, 0),
        (b"a\nb\ncd\n", 3, 2, 1),
        (b"a\nb\ncd\n", 5, 4, 2),
        (b"a\nb\ncd\n", 7, 7, 3),
    ],
)
def test_a_line_begins_behind_the_lf_before(
    data: bytes, offset: int, begin: int, before: int
) -> None:
    assert line_begin(data, offset) == begin
    assert newlines_before(data, offset) == before


def test_the_end_of_a_text_without_lf_ends_its_last_line() -> None:
    assert line_end(b"a\nbc", 2) == 4
    assert line_end(b"a\nbc", 0) == 2
    assert line_end(b"a\nbc", 1) == 2
    assert line_end(b"a\nbc", 4) == 4
    assert line_end(b"", 0) == 0


@given(changes())
def test_the_lines_after_a_change_are_counted_without_making_it(
    change: tuple[str, int, int, str],
) -> None:
    old = change[0].encode()
    splice = splice_of(*change)
    assert count_lines_after(old, splice) == count_lines(splice.apply(old))


@pytest.mark.parametrize(
    ("old", "change", "n_lines"),
    [
        (b"", Splice(0, 0, b""), 0),
        (b"ab", Splice(0, 2, b""), 0),
        (b"a\nb", Splice(2, 3, b""), 1),
        (b"a\nb", Splice(1, 3, b""), 1),
        (b"a\n", Splice(0, 2, b"b"), 1),
        (b"a\n", Splice(0, 2, b"b\n"), 1),
        (b"a\n", Splice(0, 1, b"b\n"), 2),
        (b"\na", Splice(0, 2, b""), 0),
    ],
)
def test_the_lines_after_a_change_at_the_end(old: bytes, change: Splice, n_lines: int) -> None:
    assert count_lines_after(old, change) == n_lines
