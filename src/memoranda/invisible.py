"""The characters that no name may hold, because people can't see them or terminals obey them.

The table is written out instead of asked of ``unicodedata``, whose answers change with the Python
version: a name that one host accepted has to be accepted by every other host that opens the same
store. It covers Unicode 16; a test compares it with the running Python's tables and fails when a
newer Unicode adds a format character.
"""

from __future__ import annotations

from typing import Final

from memoranda.lazy_pattern import lazy_pattern

_CONTROL: Final = r"\x00-\x1f\x7f-\x9f"
_FORMAT: Final = (
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_SEPARATORS: Final = r"\u2028\u2029"
_SURROGATES: Final = r"\ud800-\udfff"
_NONCHARACTERS: Final = r"\ufdd0-\ufdef" + "".join(
    rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(17)
)
# Shown as nothing at all. U+FE0E and U+FE0F, which choose the style of an emoji, are left out.
_IGNORABLE: Final = (
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufff8"
    r"\U000e0000-\U000e0fff"
)

INVISIBLE: Final = lazy_pattern(
    f"[{_CONTROL}{_FORMAT}{_SEPARATORS}{_SURROGATES}{_NONCHARACTERS}{_IGNORABLE}]"
)
"""Finds the first character of a text that no name may hold."""
