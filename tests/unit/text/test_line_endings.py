from __future__ import annotations

import re

import pytest
from hypothesis import given

from memoranda.text.line_endings import line_ending, with_endings
from tests.unit.text.naive import TEXTS


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (b"", b"\n"),
        (b"a", b"\n"),
        (b"\r", b"\n"),
        (b"\n", b"\n"),
        (b"\r\n", b"\r\n"),
        (b"a\r\nb", b"\r\n"),
        (b"a\r\nb\r\n", b"\r\n"),
        (b"a\r\nb\n", b"\n"),
        (b"a\nb\r\n", b"\n"),
        (b"\n\r\n", b"\n"),
        (b"\r\r\n", b"\r\n"),
        (b"a\rb\r\n\r", b"\r\n"),
        (b"\n\r", b"\n"),
        (b"a\n\r", b"\n"),
    ],
)
def test_a_file_has_crlf_where_all_its_line_ends_are(data: bytes, ending: bytes) -> None:
    assert line_ending(data) == ending


@given(TEXTS)
def test_every_file_has_one_kind_of_line_end(text: str) -> None:
    ends = re.findall(r"\r?\n", text)
    expected = b"\r\n" if ends and set(ends) == {"\r\n"} else b"\n"
    assert line_ending(text.encode()) == expected


@given(TEXTS)
def test_text_takes_crlf_at_every_lf(text: str) -> None:
    data = text.encode()
    assert with_endings(data, b"\r\n") == re.sub(r"(?<!\r)\n", "\r\n", text).encode()
    assert with_endings(data, b"\n") == data
