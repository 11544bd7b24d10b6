from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.matches import lines_of_matches, match_starts
from tests.unit.text.naive import ASCII_TEXTS, TEXTS


def naive_starts(data: bytes, wanted: bytes) -> list[int]:
    return [at for at in range(len(data)) if data.startswith(wanted, at)]


def naive_lines(data: bytes, wanted: bytes) -> tuple[int, ...]:
    lines = {data.count(b"\n", 0, at) + 1 for at in naive_starts(data, wanted)}
    return tuple(sorted(lines))


WANTED = st.text(alphabet="ab\n", min_size=1, max_size=6)


@given(ASCII_TEXTS | TEXTS, WANTED)
def test_every_place_is_found(text: str, wanted: str) -> None:
    data, looked_for = text.encode(), wanted.encode()
    assert list(match_starts(data, looked_for)) == naive_starts(data, looked_for)
    assert lines_of_matches(data, looked_for, 10**6) == naive_lines(data, looked_for)


@st.composite
def repetitions(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A text with runs of a short unit, and a wanted text that is such a run."""
    unit = draw(st.text(alphabet="ab\n", min_size=1, max_size=4))
    runs = st.integers(0, 12).map(lambda times: unit * times)
    between = st.text(alphabet="ab\n", max_size=4)
    text = "".join(draw(st.lists(st.tuples(runs, between).map("".join), max_size=5)))
    wanted = (unit * draw(st.integers(1, 6)))[draw(st.integers(0, len(unit) - 1)) :]
    return text.encode(), wanted.encode()


@given(repetitions())
def test_every_place_of_a_repeating_text_is_found(case: tuple[bytes, bytes]) -> None:
    data, wanted = case
    assert list(match_starts(data, wanted)) == naive_starts(data, wanted)
    assert lines_of_matches(data, wanted, 10**6) == naive_lines(data, wanted)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"aaaa", b"aa"),
        (b"aaaaa", b"aaaa"),
        (b"aaaaab", b"aaaa"),
        (b"aaaabaaaa", b"aaa"),
        (b"abababab", b"abab"),
        (b"ababababa", b"abab"),
        (b"abababacababab", b"abab"),
        (b"aabaabaabaab", b"aabaab"),
        (b"\n\n\n\n\n", b"\n\n"),
        (b"a\na\na\na\n", b"a\na\n"),
        (b"abaababaabaab", b"abaab"),
        (b"ab" * 50 + b"x" + b"ab" * 50, b"ab" * 5),
        (b"xxabab", b"abab"),
        (b"x" + b"a" * 12, b"a" * 6),
        (b"x" + b"a" * 12 + b"bb" + b"a" * 9, b"a" * 6),
    ],
)
def test_overlapping_places_are_found(data: bytes, wanted: bytes) -> None:
    assert list(match_starts(data, wanted)) == naive_starts(data, wanted)


def test_a_text_that_is_not_there_has_no_lines() -> None:
    assert lines_of_matches(b"abc", b"x", 1) == ()
    assert list(match_starts(b"", b"x")) == []


@pytest.mark.parametrize("unit", [b"\n", b"a", b"a\n", b"ab\nc"])
def test_closely_overlapping_places_take_linear_time(unit: bytes) -> None:
    """A quadratic search would take minutes here; this takes some hundredths of a second."""
    data = unit * (400_000 // len(unit))
    wanted = data[: len(data) // 2]
    began = time.process_time()
    starts = sum(1 for _ in match_starts(data, wanted))
    assert starts == (len(data) - len(wanted)) // len(unit) + 1
    assert time.process_time() - began < 5


@pytest.mark.parametrize("data", [b"a" * 400_000, b"a\n" * 200_000, b"\n" * 400_000])
def test_only_as_many_lines_are_looked_at_as_are_asked_for(data: bytes) -> None:
    began = time.process_time()
    for _ in range(100):
        wanted = data[:1]
        lines = lines_of_matches(data, wanted, 5)
        assert lines == tuple(range(1, min(5, data.count(b"\n") or 1) + 1))
    assert time.process_time() - began < 1


def test_a_long_text_is_found_on_the_first_lines_too() -> None:
    unit = b"0123456789\n"
    data, wanted = unit * 2000, unit * 1000
    assert lines_of_matches(data, wanted, 10) == tuple(range(1, 11))
    assert lines_of_matches(data, wanted, 10_000) == tuple(range(1, 1002))


def test_places_of_a_long_text_on_one_line_count_once() -> None:
    wanted = b"a" * 5000
    assert lines_of_matches(b"aa" + wanted + b"\n" + wanted, wanted, 10) == (1, 2)


def test_the_lines_of_closely_overlapping_places_take_linear_time() -> None:
    """A quadratic search would take several times as long."""
    data = b"\n" * 1_000_000
    began = time.process_time()
    assert len(lines_of_matches(data, data[:500_000], 10**9)) == 500_001
    assert time.process_time() - began < 5
