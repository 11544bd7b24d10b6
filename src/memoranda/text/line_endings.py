r"""The CRLF rule: in a file whose line ends are all CRLF, so are those of every edit.

The rule holds for a file with at least one line end. In any other file (LF, or both kinds mixed)
texts are taken byte for byte.
"""

from __future__ import annotations

LF = b"\n"
CRLF = b"\r\n"


def line_ending(data: bytes) -> bytes:
    """What ends a line that is added to ``data``: CRLF where all its line ends are, else LF."""
    first = data.find(LF)
    # Nearly every file is told apart by its first line end, without a count over the whole.
    if first < 1 or not data.startswith(CRLF, first - 1):
        return LF
    return CRLF if data.count(CRLF) == data.count(LF) else LF


def with_endings(text: bytes, ending: bytes) -> bytes:
    """``text`` as it reads in a file whose lines end in ``ending``."""
    if ending == LF:
        return text
    return text.replace(CRLF, LF).replace(LF, CRLF)
