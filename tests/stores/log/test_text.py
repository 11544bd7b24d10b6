"""Contents in slices, their common ends, and their pieces."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from memoranda.stores.log.delta import common_prefix, common_suffix
from memoranda.stores.log.pieces import PIECE_BYTES, number_of_pieces, pieces_of
from memoranda.stores.log.text import Text
from memoranda.text.splice import Splice

NEARLY_EQUAL = st.tuples(
    st.binary(max_size=200), st.binary(max_size=5), st.binary(max_size=5), st.binary(max_size=200)
).map(lambda parts: (parts[0] + parts[1] + parts[3], parts[0] + parts[2] + parts[3]))


@given(NEARLY_EQUAL)
def test_the_common_ends_of_two_texts_are_as_long_as_they_can_be(pair: tuple[bytes, bytes]) -> None:
    a, b = pair
    before = common_prefix(a, b)
    assert a[:before] == b[:before]
    assert before == min(len(a), len(b)) or a[before] != b[before]
    most = min(len(a), len(b)) - before
    after = common_suffix(a, b, most)
    assert after <= most
    assert a[len(a) - after :] == b[len(b) - after :]
    assert after == most or a[len(a) - after - 1] != b[len(b) - after - 1]


@given(NEARLY_EQUAL)
def test_what_replaces_a_text_is_the_old_ends_and_a_new_middle(pair: tuple[bytes, bytes]) -> None:
    old, new = pair
    text = Text.replacing(old, new)
    rebuilt = old[: text.same_before] + text.middle().whole() + old[len(old) - text.same_after :]
    assert rebuilt == new == text.whole()


@given(st.binary(max_size=50), st.data())
def test_an_edited_text_is_never_joined_to_be_hashed_or_to_find_its_middle(
    old: bytes, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(old)))
    end = data.draw(st.integers(start, len(old)))
    splice = Splice(start, end, data.draw(st.binary(max_size=9)))
    text = Text.spliced(old, splice)
    new = splice.apply(old)
    assert text.size == len(new)
    assert text.sha256() == sha256(new).digest() == text.sha256()
    assert text.middle().whole() == splice.middle
    assert len(text.parts) == 3
    assert text.whole() == new
    assert list(text.parts) == [new]
    assert text.middle().whole() == splice.middle


def test_a_text_of_a_text_keeps_the_ends_that_both_kept() -> None:
    first = Text.spliced(b"0123456789", Splice(2, 3, b"x"))
    second = Text.spliced(first.whole(), Splice(8, 9, b"y")).after(first)
    assert (second.same_before, second.same_after) == (2, 1)
    assert second.whole() == b"01x34567y9"
    assert second.sha256() == sha256(b"01x34567y9").digest()


@given(st.lists(st.integers(0, 3 * PIECE_BYTES), max_size=4), st.integers(0, 3))
def test_pieces_are_the_content_cut_at_even_places(lengths: list[int], first: int) -> None:
    parts = [bytes([65 + n]) * length for n, length in enumerate(lengths)]
    whole = b"".join(parts)
    pieces = list(pieces_of(parts, first))
    assert b"".join(data for _, data in pieces) == whole[first * PIECE_BYTES :]
    assert [n for n, _ in pieces] == list(range(first, max(first, number_of_pieces(len(whole)))))
    assert all(len(data) == PIECE_BYTES for _, data in pieces[:-1])
