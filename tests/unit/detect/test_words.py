"""Looking for many words at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.detect.words import RareSign, Words

WORDS = [b"auth", b"q~", b"://", b"you are now", b"tell", b"aa", b"tel", b"a+b", b"eee"]


@pytest.mark.parametrize("word", WORDS)
def test_each_word_is_found_wherever_it_stands(word: bytes) -> None:
    words = Words(WORDS)
    for text in (word, b"xx " + word, word + b" xx", b"x" + word + b"x", b"te q yo " + word):
        assert words.are_in(text)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_without_its_first_or_last_sign_is_not_found(word: bytes) -> None:
    words = Words([word])
    assert not words.are_in(word[1:])
    assert not words.are_in(word[:-1])


def test_no_words_are_in_no_text() -> None:
    assert not Words([]).are_in(b"anything")


@given(
    st.lists(st.binary(min_size=1, max_size=4).map(lambda word: word.translate(b"abcz +(\n" * 32))),
    st.lists(st.sampled_from(list(b"abcz +(\n"))).map(bytes),
)
def test_the_answer_is_that_of_a_search_for_each(words: list[bytes], text: bytes) -> None:
    assert Words(words).are_in(text) == any(word in text for word in words)


@given(
    st.binary(min_size=1, max_size=4).map(lambda word: word.translate(b"AbcZ -K\n" * 32)),
    st.lists(st.sampled_from(list(b"AbcZ -K\n")), max_size=300).map(bytes),
)
def test_a_word_looked_for_by_its_rarest_sign_is_found_where_it_stands(
    word: bytes, text: bytes
) -> None:
    assert RareSign(word).is_in(text) == (word in text)


def test_a_word_behind_many_of_its_rarest_sign_is_found() -> None:
    assert RareSign(b"-K-").is_in(b"K" * 500 + b"-K-")
    assert not RareSign(b"-K-").is_in(b"K" * 500 + b"-K")
