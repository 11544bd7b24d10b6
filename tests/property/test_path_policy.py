"""Random paths, most of them nearly bad, against the policy's plain statements."""

from __future__ import annotations

import random
import sys
import unicodedata
from typing import Literal
from urllib.parse import unquote, unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.errors import BadPath
from memoranda.escape import escape_for_display
from memoranda.path import MAX_PATH_BYTES, MemoryPath, is_allowed_name, parse_path
from memoranda.path_probe import could_become_structure
from tests.property import path_oracle

# What attacks are made of, and what lies just beside it.
PIECES = [
    *"/\\.:%~ abgit019CGZ-_",
    "..",
    "/memories",
    "memories",
    ".git",
    "git~1",
    "%2",
    "%2e",
    "%2E",
    "%2f",
    "%5c",
    "%25",
    "%00",
    "%09",
    "%41",
    "%u",
    "%u002e",
    "%U002F",
    "%c0",
    "%ae",
    "%e0",
    "%80",
    "%9f",
    "%c2",
    "%f0",
    "%8f",
    "%de",
    "%ef%bc%8e",
    "e",
    "E",
    "\u0301",
    "\u0338",
    "\u212b",
    "\u1112\u1161\u11ab",
    "\uff0e",
    "\uff0f",
    "\uff3c",
    "\uff05",
    "\u2024",
    "\u2025",
    "\u2026",
    "\u00a0",
    "\u3000",
    "\u200d",
    "\u202e",
    "\ufe0f",
    "\ufe00",
    "\u2028",
    "\n",
    "\x00",
    "\x7f",
    "\x85",
    "\ud800",
    "\udc00",
    "\ufffe",
    "\U000e0041",
    "\u6f22" * 40,
    "a" * 120,
    "d/" * 10,
]

pieces = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
names = st.one_of(pieces, st.text(st.characters(), max_size=12), st.text("%0123456789abcdefuU./"))
paths = st.one_of(
    names.map("/memories/{}".format),
    st.lists(names, max_size=4).map(lambda parts: "/memories/" + "/".join(parts)),
    pieces,
    st.text(st.characters()),
)


def parsed(text: str) -> MemoryPath | None:
    try:
        return parse_path(text)
    except BadPath:
        return None


@given(paths)
@example("/memories/" + "e\u0301" * 500)
@example("/memories/%" + "25" * 8 + "41")
def test_the_parser_and_the_literal_policy_agree(text: str) -> None:
    path = parsed(text)
    assert (None if path is None else path.segments) == path_oracle.names_of(text)


@given(st.from_regex(r"/memories(/[A-Za-z0-9_.~:%-]{1,8}){1,22}", fullmatch=True))
@example("/memories/" + "a" * 245)
@example("/memories/" + "a" * 246)
def test_paths_that_look_plain_are_taken_for_what_they_are(text: str) -> None:
    path = parsed(text)
    assert (None if path is None else path.segments) == path_oracle.names_of(text)
    assert path is None or (path.text, path.slash) == (text, False)


@given(names)
def test_a_name_is_allowed_on_a_disk_exactly_where_it_is_a_path_as_it_is(name: str) -> None:
    path = parsed(f"/memories/{name}")
    as_it_is = path is not None and not path.slash and path.segments == (name,)
    short = path_oracle.names_of(f"/memories/{name}") is not None
    assert is_allowed_name(name) is (as_it_is and short)


@given(paths)
def test_an_accepted_path_is_stable_and_composed(text: str) -> None:
    path = parsed(text)
    if path is None:
        return
    again = parse_path(str(path))
    assert again == path
    assert again.text == path.text
    assert again.slash is False
    assert unicodedata.is_normalized("NFC", path.text)
    assert path.slash is text.endswith("/")
    assert path == MemoryPath.of(path.segments)
    assert str(MemoryPath.of(path.segments)) == path.text
    assert len(path.text.encode()) <= len("/memories") + MAX_PATH_BYTES


@given(paths)
def test_a_path_s_own_parts_are_paths(text: str) -> None:
    path = parsed(text)
    while path and not path.is_root:
        assert parse_path(str(path)) == path
        assert path.parent.child(path.name) == path
        assert path.is_below(path.parent)
        assert MemoryPath.from_store_path(path.store_path) == path
        path = path.parent


@given(paths, paths)
def test_two_different_texts_are_two_paths_unless_they_look_the_same(one: str, two: str) -> None:
    first, second = parsed(one), parsed(two)
    if first is None or second is None:
        return
    same = unicodedata.normalize("NFC", one).removesuffix("/") == unicodedata.normalize(
        "NFC", two
    ).removesuffix("/")
    assert (first == second) is same


@given(paths, st.sampled_from(["NFC", "NFD"]))
def test_every_spelling_that_looks_the_same_is_the_same_path(
    text: str, form: Literal["NFC", "NFD"]
) -> None:
    path = parsed(text)
    if path is not None:
        assert parsed(unicodedata.normalize(form, text)) == path


@given(names)
def test_no_accepted_name_decodes_to_structure_in_any_number_of_rounds(name: str) -> None:
    path = parsed(f"/memories/{name}")
    if path is None:
        return
    for segment in path.segments:
        form: bytes = segment.encode()
        text = segment
        for _ in range(20):
            form = unquote_to_bytes(form)
            text = unquote(text)
            assert b"/" not in form
            assert b"\\" not in form
            assert b"\x00" not in form
            assert form not in (b".", b"..")
            assert not form.startswith(b"..")
            assert "/" not in text
            assert not text.startswith("..")
            for shape in (text, unicodedata.normalize("NFKC", text)):
                parts = shape.replace("\\", "/").split("/")
                assert not {".", ".."} & set(parts)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_probe_answers_for_every_text(name: str) -> None:
    assert could_become_structure(name) in (True, False)


@given(st.text(st.characters()), st.integers(0, 40))
def test_a_shown_text_is_one_short_harmless_line(text: str, limit: int) -> None:
    shown = escape_for_display(text, limit)
    assert len(shown) <= limit
    assert shown.encode().decode().isprintable() or not any(map(path_oracle.is_hidden, shown))
    if not any(map(path_oracle.is_hidden, text)):
        assert shown == text[:limit]


# ---------------------------------------------------------------- every character there is


def test_no_character_composes_into_the_root_or_a_slash() -> None:
    # What allows the parser to look for the root before it normalises.
    for character in map(chr, range(sys.maxunicode + 1)):
        for before in ("/memories", "/memories/", "/memories/a"):
            composed = unicodedata.normalize("NFC", before + character)
            assert composed.startswith("/memories/") is (before + character).startswith(
                "/memories/"
            )
            assert composed.count("/") == (before + character).count("/")
            assert composed != "/memories"


def test_no_character_is_spelled_with_more_than_three_for_a_byte() -> None:
    # What allows the parser to refuse a long text before it normalises.
    for character in map(chr, range(sys.maxunicode + 1)):
        spelled = unicodedata.normalize("NFD", character)
        assert len(spelled) <= 3 * len(character.encode("utf-8", "surrogatepass"))


def assert_judged_as_the_policy_does(codes: range, place: str) -> None:
    for code in codes:
        text = "/memories/" + place.format(chr(code))
        path = parsed(text)
        assert (None if path is None else path.segments) == path_oracle.names_of(text), hex(code)


PLACES = ["{}", "a{}", "{}a", "a{}b"]


@pytest.mark.parametrize("place", PLACES)
def test_the_characters_of_most_scripts_are_judged_as_the_policy_does(place: str) -> None:
    assert_judged_as_the_policy_does(range(0x3100), place)
    assert_judged_as_the_policy_does(range(0xFD00, 0x10000), place)


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES)
def test_every_character_there_is_is_judged_as_the_policy_does(place: str) -> None:
    assert_judged_as_the_policy_does(range(sys.maxunicode + 1), place)


@pytest.mark.full
def test_the_parser_and_the_literal_policy_agree_on_many_mixtures_of_attacks() -> None:
    # A plain loop: it tries a hundred times as many as a search for the smallest example could.
    chance = random.Random("paths")
    for _ in range(500_000):
        pieces_of_one = chance.choices(PIECES, k=chance.randint(0, 8))
        if chance.random() < 0.2:
            pieces_of_one.append(chr(chance.randrange(sys.maxunicode + 1)))
        text = "/memories/" + "".join(pieces_of_one)
        path = parsed(text)
        found = None if path is None else path.segments
        assert found == path_oracle.names_of(text), ascii(text)
