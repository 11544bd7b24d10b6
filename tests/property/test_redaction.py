"""Redaction of any text: stable, and of an edit the same as of the whole."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.policies.redaction import Redaction
from memoranda.policies.redactor import Redactor
from memoranda.testing.redaction.invent import expand
from memoranda.testing.redaction.secrets import CREDENTIALS, PERSONAL
from memoranda.text.splice import Splice

REDACTOR = Redactor(Redaction.everything())

SECRETS = [
    expand(template, Random(seed))
    for seed in range(2)
    for forms in (CREDENTIALS, *PERSONAL.values())
    for template in forms.values()
]
WORDS = [
    "password: ",
    "token=",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----END RSA PRIVATE KEY-----",
    "[REDACTED:credential]",
    "https://ada:",
    "@host",
    "\n",
    " ",
    "ü",
    "\r\n",
    '"',
    "x",
]
pieces = st.one_of(
    st.sampled_from(SECRETS),
    st.sampled_from(SECRETS).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
            lambda cut: text[min(cut) : max(cut)]
        )
    ),
    st.sampled_from(WORDS),
    st.text(max_size=8),
)
texts = st.lists(pieces, max_size=8).map(lambda parts: "".join(parts).encode(errors="replace"))


def whole(data: bytes) -> bytes:
    masked = REDACTOR.mask(data)
    return data if masked is None else masked.data


@settings(max_examples=400, deadline=None)
@given(texts)
def test_masked_text_stays_as_it_is(data: bytes) -> None:
    once = whole(data)
    assert whole(once) == once


@settings(max_examples=400, deadline=None)
@given(texts)
def test_the_ends_that_stayed_the_same_are_told_right(data: bytes) -> None:
    masked = REDACTOR.mask(data)
    if masked is not None:
        before, after = masked.same_before, masked.same_after
        assert masked.data[:before] == data[:before]
        assert masked.data[len(masked.data) - after :] == data[len(data) - after :]
        assert masked.whats


@settings(max_examples=800, deadline=None)
@given(texts, texts, st.data())
def test_an_edit_gives_what_the_whole_new_text_would(
    old: bytes, middle: bytes, data: st.DataObject
) -> None:
    old = whole(old)
    start = data.draw(st.integers(0, len(old)))
    end = data.draw(st.integers(start, len(old)))
    splice = Splice(start, end, middle)
    edited = REDACTOR.mask_edit(old, splice)
    assert (splice if edited is None else edited.splice).apply(old) == whole(splice.apply(old))
