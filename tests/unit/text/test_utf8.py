from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.utf8 import count_characters, decode, is_utf8, require_utf8

WHOLE = "a\u00e9\u65e5\U0001f600\ufeff\0".encode()
BROKEN = [b"\xff", b"\xc3", b"\xc0\xae", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xe6\x97"]


@pytest.mark.parametrize("broken", BROKEN, ids=repr)
@pytest.mark.parametrize("padding", [0, 1, 65_534, 65_535, 65_536, 131_072])
def test_broken_bytes_are_found_anywhere(broken: bytes, padding: int) -> None:
    assert not is_utf8(b"x" * padding + broken)
    assert not is_utf8(broken + b"x" * padding)
    assert not is_utf8(WHOLE + b"x" * padding + broken + WHOLE)


@pytest.mark.parametrize("padding", [0, 1, 65_533, 65_534, 65_535, 65_536, 131_071])
def test_characters_across_blocks_are_whole(padding: int) -> None:
    data = b"x" * padding + "\U0001f600\u65e5\u00e9".encode() * 3
    assert is_utf8(data)
    assert count_characters(data) == padding + 9


def test_ascii_and_nothing_are_utf8() -> None:
    assert is_utf8(b"")
    assert is_utf8(b"plain\n")


@given(st.binary(max_size=40))
def test_bytes_are_utf8_if_they_can_be_decoded(data: bytes) -> None:
    try:
        data.decode()
        expected = True
    except UnicodeDecodeError:
        expected = False
    assert is_utf8(data) is expected


@given(st.text(max_size=40), st.integers(0, 50), st.integers(0, 50))
def test_characters_are_counted_in_a_stretch(text: str, start: int, end: int) -> None:
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    data = text.encode("utf-8", "replace")
    before, behind = (len(text[:at].encode("utf-8", "replace")) for at in (start, end))
    assert count_characters(data) == len(text)
    assert count_characters(data, before) == len(text) - start
    assert count_characters(data, before, behind) == end - start


@given(st.binary(max_size=40))
def test_broken_bytes_are_kept_apart(data: bytes) -> None:
    decoded = decode(data)
    assert decoded.encode("utf-8", "surrogateescape") == data
    if is_utf8(data):
        assert decoded == data.decode()
        require_utf8(decoded)
    else:
        with pytest.raises(UnicodeError):
            require_utf8(decoded)
