"""Regular expressions that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from memoranda.lazy_pattern import lazy_pattern


def test_a_lazy_pattern_finds_what_the_compiled_one_finds() -> None:
    lazy, eager = lazy_pattern(r"b+", re.IGNORECASE), re.compile(r"b+", re.IGNORECASE)
    for text in ("aBBc", "bb", "ac"):
        for _ in range(2):
            assert str(lazy.search(text)) == str(eager.search(text))
            assert str(lazy.match(text)) == str(eager.match(text))
            assert str(lazy.fullmatch(text)) == str(eager.fullmatch(text))
            assert lazy.sub("-", text) == eager.sub("-", text)


def test_a_lazy_pattern_takes_bytes() -> None:
    assert lazy_pattern(rb"\xff").search(b"\x00\xff") is not None


def test_a_broken_pattern_is_an_error_when_it_is_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_a_lazy_pattern_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        _ = lazy_pattern("a").findall
