"""UTF-8 read strictly, counted without decoding, and checked without a second copy."""

from __future__ import annotations

from codecs import utf_8_decode
from typing import Final

# Large enough to run at full speed, small enough that checking 50 MB takes no memory.
_BLOCK_BYTES: Final = 65_536

_CONTINUATION_BYTES: Final = bytes(range(0x80, 0xC0))


def is_utf8(data: bytes) -> bool:
    """Whether all of ``data`` is UTF-8 (no surrogates, no overlong forms)."""
    if data.isascii():
        return True
    view = memoryview(data)
    at = 0
    try:
        while at < len(data):
            block = view[at : at + _BLOCK_BYTES]
            last = at + len(block) == len(data)
            at += utf_8_decode(block, "strict", last)[1]
    except UnicodeDecodeError:
        return False
    return True


def count_characters(data: bytes, start: int = 0, end: int | None = None) -> int:
    """How many characters the bytes ``start`` to ``end`` (exclusive) hold; a byte that is not
    UTF-8 counts as one where it doesn't look like the middle of a character."""
    end = len(data) if end is None else end
    return sum(
        len(data[at : min(at + _BLOCK_BYTES, end)].translate(None, _CONTINUATION_BYTES))
        for at in range(start, end, _BLOCK_BYTES)
    )


def decode(data: bytes) -> str:
    """``data`` as text in which bytes that are not UTF-8 are lone surrogates.

    So the text beside them can be used: see ``require_utf8``.
    """
    return data.decode(errors="surrogateescape")


def require_utf8(text: str) -> None:
    """Raise UnicodeError if ``text`` holds bytes that were not UTF-8."""
    text.encode()
