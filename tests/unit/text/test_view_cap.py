from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.view_cap import Cut, cut_lines, enough_bytes
from tests.unit.text.naive import TEXTS, lines_of


def naive(text: str, cap: int) -> Cut:
    """Whole lines while they fit; of a first line that is longer, its beginning."""
    if not text:
        return Cut("", 1, True)
    lines = lines_of(text)
    if len(lines[0].removesuffix("\n")) > cap:
        return Cut(lines[0][:cap], 1, False, True)
    shown = lines[:1]
    while len(shown) < len(lines) and len("".join(lines[: len(shown) + 1])) <= cap:
        shown.append(lines[len(shown)])
    return Cut("".join(shown), len(shown), len(shown) == len(lines))


@given(TEXTS, st.integers(1, 70))
def test_lines_are_cut_where_the_cap_is_reached(text: str, cap: int) -> None:
    assert cut_lines(text.encode(), cap) == naive(text, cap)


@given(TEXTS, st.integers(1, 14))
def test_the_beginning_is_enough_to_cut_by(text: str, cap: int) -> None:
    data = (text + "b" * 200).encode()
    enough = enough_bytes(cap)
    assert cut_lines(data[:enough], cap, more=True) == cut_lines(data, cap)
    assert cut_lines(data[: enough + 1], cap) == cut_lines(data, cap)
    assert cut_lines(data[: enough + 1], cap, more=True) == cut_lines(data, cap)


@pytest.mark.parametrize(
    ("text", "cap", "cut"),
    [
        ("", 1, Cut("", 1, True)),
        ("a", 1, Cut("a", 1, True)),
        ("a\n", 1, Cut("a\n", 1, True)),
        ("\n", 1, Cut("\n", 1, True)),
        ("a\nb", 1, Cut("a\n", 1, False)),
        ("a\n\n", 1, Cut("a\n", 1, False)),
        ("ab", 1, Cut("a", 1, False, True)),
        ("a\nb", 2, Cut("a\n", 1, False)),
        ("a\nb", 3, Cut("a\nb", 2, True)),
        ("a\nb\n", 3, Cut("a\n", 1, False)),
        ("a\nb\n", 4, Cut("a\nb\n", 2, True)),
        ("a\nbcd", 4, Cut("a\n", 1, False)),
        ("\U0001f600" * 3 + "\n", 3, Cut("\U0001f600" * 3 + "\n", 1, True)),
        ("\U0001f600" * 3 + "\na", 3, Cut("\U0001f600" * 3 + "\n", 1, False)),
        ("\U0001f600" * 4, 3, Cut("\U0001f600" * 3, 1, False, True)),
    ],
)
def test_the_borders_of_the_cap(text: str, cap: int, cut: Cut) -> None:
    assert cut_lines(text.encode(), cap) == cut
    if cut.whole:
        assert cut_lines(text.encode(), 1000) == cut


def test_more_to_come_is_never_the_whole() -> None:
    data = ("\U0001f600" * 3 + "\n").encode()
    assert cut_lines(data, 3, more=True) == Cut("\U0001f600" * 3 + "\n", 1, False)
    assert cut_lines(b"a\nb\nc\nd\n" * 2, 3, more=True) == Cut("a\n", 1, False)
    assert cut_lines(b"x" * enough_bytes(3), 3, more=True) == Cut("xxx", 1, False, True)


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3", b"\xf0\x9f\x98", b"\xed\xa0\x80"])
def test_broken_bytes_matter_where_they_are_shown(broken: bytes) -> None:
    for data in (broken, b"a" + broken, broken + b"\n" * 40, b"ab" + broken * 9):
        with pytest.raises(UnicodeError):
            cut_lines(data, 3)
    with pytest.raises(UnicodeError):
        cut_lines(b"a\n" + broken, 5)
    for data in (b"a\nb\n" + broken, b"a\nb" + broken, b"ab\n" + broken * 9):
        assert cut_lines(data, 2).whole is False
    assert cut_lines(b"ab" + broken, 2) == Cut("ab", 1, False, True)
    assert cut_lines(b"ab\n" + b"c" * 20 + broken, 3) == Cut("ab\n", 1, False)


def test_four_bytes_a_character_and_an_lf_are_enough() -> None:
    assert enough_bytes(1) == 5
    assert enough_bytes(16_000) == 64_001


def test_any_sixteen_thousand_characters_fit_into_what_is_looked_at() -> None:
    text = "\U0001f600" * 15_999 + "\n"
    assert len(text.encode()) <= enough_bytes(16_000)
    assert cut_lines(text.encode() * 2, 16_000) == Cut(text, 1, False)
