from __future__ import annotations

import itertools

import pytest

from memoranda.text.view_range import lines_in_range


@pytest.mark.parametrize("n_lines", [0, 1, 2, 5])
def test_no_range_is_the_whole_file(n_lines: int) -> None:
    assert lines_in_range(None, n_lines) == (1, max(n_lines, 1))


@pytest.mark.parametrize("n_lines", range(5))
def test_every_small_range_gives_the_lines_that_it_names(n_lines: int) -> None:
    lines = list(range(1, max(n_lines, 1) + 1))
    for start, end in itertools.product(range(-4, 8), repeat=2):
        named = [line for line in lines if line >= start and (line <= end or end == -1)]
        expected = (named[0], named[-1]) if named else None
        assert lines_in_range((start, end), n_lines) == expected


def test_large_numbers_are_only_numbers() -> None:
    assert lines_in_range((-(10**300), 10**300), 7) == (1, 7)
    assert lines_in_range((10**300, -1), 7) is None
