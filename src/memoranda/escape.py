"""How a text that was refused is shown: harmless, short, and still recognisable."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final

from memoranda.invisible import INVISIBLE

SHOWN_CHARS: Final = 256

_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape_for_display(given: str, limit: int = SHOWN_CHARS) -> str:
    r"""``given`` with invisible characters as ``\n``, ``\u202e`` or ``\U000e0041``.

    Control, format, surrogate and all other characters that no name may hold are escaped, so the
    result is one line of valid UTF-8. It is cut to ``limit`` characters, never inside an escape.
    The cost is that of ``limit`` characters, however long ``given`` is.
    """
    given = given[:limit]
    shown = INVISIBLE.sub(_escape, given)
    if len(shown) <= limit:
        return shown
    ends = accumulate(len(INVISIBLE.sub(_escape, character)) for character in given)
    fitting = bisect_right(list(ends), limit)
    return INVISIBLE.sub(_escape, given[:fitting])


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
