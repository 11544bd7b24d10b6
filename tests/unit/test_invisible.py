"""The table of characters that no name may hold, against Unicode itself."""

from __future__ import annotations

import sys
import unicodedata

from memoranda.invisible import INVISIBLE

# Default_Ignorable_Code_Point of Unicode 16, as far as the general category doesn't tell.
IGNORABLE = {
    0x034F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    *range(0x180B, 0x1810),
    0x2065,
    0x3164,
    *range(0xFE00, 0xFE0E),
    0xFFA0,
    *range(0xFFF0, 0xFFF9),
    *range(0xE0000, 0xE1000),
}

# Format characters that Unicode 15 added; a Python with older tables doesn't know them.
NEWER_FORMAT = set(range(0x13430, 0x13440))


def is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def test_the_table_holds_what_unicode_hides_and_nothing_else() -> None:
    hidden = {code for code in range(sys.maxunicode + 1) if INVISIBLE.match(chr(code))}
    wanted = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or is_noncharacter(code)
    }
    assert hidden == wanted | IGNORABLE | NEWER_FORMAT


def test_the_table_finds_a_character_anywhere_in_a_text() -> None:
    found = INVISIBLE.search("ab\u200bc\n")
    assert found is not None
    assert found.group() == "\u200b"
    assert INVISIBLE.search("caf\u00e9 \u2764\ufe0f.md") is None
