"""How a refused text is shown."""

from __future__ import annotations

import pytest

from memoranda.escape import escape_for_display


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("", ""),
        ("/memories/a b.md", "/memories/a b.md"),
        ("caf\u00e9 \u6f22 \U0001f680", "caf\u00e9 \u6f22 \U0001f680"),
        ("a\nb", r"a\nb"),
        ("a\r\tb", r"a\r\tb"),
        ("a\x00b\x1b[31m\x7f\x85", r"a\u0000b\u001b[31m\u007f\u0085"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("\u200b\u2028\ufeff", r"\u200b\u2028\ufeff"),
        ("\ud800x\udfff", r"\ud800x\udfff"),
        ("\U000e0041", r"\U000e0041"),
        ("\uffff\U0001fffe", r"\uffff\U0001fffe"),
        ("a\\nb %0a <b>", "a\\nb %0a <b>"),
    ],
)
def test_what_nobody_sees_is_spelled_out(given: str, shown: str) -> None:
    assert escape_for_display(given) == shown


def test_a_text_is_cut_to_256_characters() -> None:
    assert escape_for_display("a" * 256) == "a" * 256
    assert escape_for_display("a" * 257) == "a" * 256
    assert escape_for_display("\U0001f680" * 300) == "\U0001f680" * 256


def test_a_text_is_cut_to_the_limit_that_is_asked_for() -> None:
    assert escape_for_display("abcdef", 4) == "abcd"
    assert escape_for_display("abcdef", limit=0) == ""


def test_an_escape_is_never_cut() -> None:
    assert escape_for_display("a\u202eb", 7) == r"a\u202e"
    assert escape_for_display("a\u202eb", 8) == r"a\u202eb"
    assert escape_for_display("a\u202eb", 6) == "a"
    assert escape_for_display("a\u202eb", 2) == "a"
    assert escape_for_display("\n" * 300) == r"\n" * 128
    assert escape_for_display("\u202e" * 300) == r"\u202e" * 42
    assert escape_for_display("\U000e0041" * 300) == r"\U000e0041" * 25


def test_nothing_comes_after_the_first_character_that_does_not_fit() -> None:
    assert escape_for_display("a\u202ebcdef", 4) == "a"


def test_what_is_shown_is_one_line_of_utf_8() -> None:
    everything = "".join(map(chr, range(0x3000))) + "\ud800\udfff\ufffe\U000e0001\U0010ffff"
    for start in range(0, len(everything), 40):
        shown = escape_for_display(everything[start : start + 40])
        assert len(shown.encode().decode().splitlines()) == 1


def test_a_huge_text_costs_nothing() -> None:
    huge = "\u202e" * 50_000_000
    for _ in range(1000):
        assert len(escape_for_display(huge)) == 252
