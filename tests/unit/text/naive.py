"""The slow and obvious way to say what the text functions should give: whole strings, lists."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from memoranda.text.splice import Splice

# Few characters, so that lines, line ends and repetitions come up often; one of each width.
TEXTS = st.text(alphabet="ab\n\r\u00e9\u65e5\U0001f600", max_size=60)
ASCII_TEXTS = st.text(alphabet="ab\n", max_size=60)


def lines_of(text: str) -> list[str]:
    """The lines of a text, each with its LF if it has one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, int, int, str]:
    """A text, a stretch of it in characters, and what takes its place."""
    old = draw(TEXTS)
    start = draw(st.integers(0, len(old)))
    end = draw(st.integers(start, len(old)))
    return old, start, end, draw(TEXTS)


def splice_of(old: str, start: int, end: int, middle: str) -> Splice:
    """The same change in bytes."""
    return Splice(len(old[:start].encode()), len(old[:end].encode()), middle.encode())
