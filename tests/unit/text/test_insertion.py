from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.insertion import insertion
from memoranda.text.lines import line_start
from memoranda.text.splice import Splice
from tests.unit.text.naive import lines_of

LF_TEXTS = st.text(alphabet="ab\n\u00e9", max_size=30)


def naive(old: str, line: int, text: str) -> str:
    """The text as lists of lines: what the insertion means."""
    lines = [one.removesuffix("\n") for one in lines_of(old)]
    ended = old.endswith("\n")
    if line == len(lines):
        ended = text.endswith("\n") or not text or ended
    new = text.removesuffix("\n").split("\n")
    joined = "\n".join([*lines[:line], *new, *lines[line:]])
    return joined + "\n" if ended else joined


@given(LF_TEXTS, LF_TEXTS, st.integers(0, 30))
def test_lines_are_put_between_lines(old: str, text: str, line: int) -> None:
    line = min(line, len(lines_of(old)))
    data = old.encode()
    assert insertion(data, line_start(data, line + 1), text.encode()).apply(data).decode() == naive(
        old, line, text
    )


@given(LF_TEXTS, LF_TEXTS, st.integers(0, 30))
def test_a_crlf_file_gets_the_same_lines_with_crlf(old: str, text: str, line: int) -> None:
    line = min(line, len(lines_of(old)))
    data = old.replace("\n", "\r\n").encode()
    expected = naive(old, line, text)
    if b"\n" in data:
        expected = expected.replace("\n", "\r\n")
    assert (
        insertion(data, line_start(data, line + 1), text.encode()).apply(data).decode() == expected
    )
    if b"\n" in data:
        crlf = text.replace("\n", "\r\n").encode()
        assert insertion(data, line_start(data, line + 1), crlf).apply(data).decode() == expected


@given(LF_TEXTS, st.integers(0, 30))
def test_nothing_of_the_old_text_is_touched(old: str, line: int) -> None:
    line = min(line, len(lines_of(old)))
    change = insertion(old.encode(), line_start(old.encode(), line + 1), b"x\ny\n")
    assert change.start == change.end
    assert change.middle.strip(b"\n") == b"x\ny"


@pytest.mark.parametrize(
    ("old", "line", "text", "change"),
    [
        (b"a\nb\n", 1, b"x", Splice(2, 2, b"x\n")),
        (b"a\nb", 2, b"x", Splice(3, 3, b"\nx")),
        (b"a\nb", 2, b"", Splice(3, 3, b"\n\n")),
        (b"", 0, b"", Splice(0, 0, b"\n")),
        (b"", 0, b"x", Splice(0, 0, b"x")),
        (b"a\r\n", 1, b"x\n\r\n", Splice(3, 3, b"x\r\n\r\n")),
    ],
)
def test_the_change_holds_only_what_is_new(
    old: bytes, line: int, text: bytes, change: Splice
) -> None:
    assert insertion(old, line_start(old, line + 1), text) == change
