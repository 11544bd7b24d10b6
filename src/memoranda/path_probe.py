"""What a careless layer behind us could make of a name (step 7 of ``docs/paths.md``).

Memoranda never decodes a name. Something behind it may: a proxy, a backup script, a web server
that shows an exported folder. So a name that would turn into structure there is refused here.
"""

from __future__ import annotations

import re
from typing import Final

from memoranda.lazy_pattern import lazy_pattern

MAX_DECODINGS: Final = 8

_ENCODED: Final = lazy_pattern(rb"%(?:([0-9A-Fa-f]{2})|[uU]([0-9A-Fa-f]{4}))")

# Longer UTF-8 forms than needed: forbidden since RFC 3629, yet decoded to "/" or "." by old and
# home-made decoders, some of which take any byte for a continuation.
_OVERLONG: Final = lazy_pattern(
    rb"[\xc0\xc1]|\xe0[\x00-\x9f]|\xf0[\x00-\x8f]|\xf8[\x00-\x87]|\xfc[\x00-\x83]"
)
_STRUCTURE: Final = lazy_pattern(r"[/\\\x00-\x1f\x7f-\x9f]")
_DOT_PART: Final = lazy_pattern(r"(?:^|[/\\])(?:\.\.|\.(?:[/\\]|\Z))")


def could_become_structure(name: str) -> bool:
    """Whether some way of decoding ``name`` gives a separator, a control or a dot segment.

    ``name`` is one segment without unpaired surrogates. Percent-decodes (``%XX`` and ``%uXXXX``)
    until nothing changes; a name that takes more than 8 rounds counts as structure. Pure; costs
    nothing for ASCII names without a percent sign.
    """
    if "%" not in name:
        return _is_structure(name)
    form = name.encode()
    for _ in range(MAX_DECODINGS + 1):
        # A stray byte is no character, so it can't be a control; it becomes a surrogate here.
        if _OVERLONG.search(form) or _is_structure(form.decode(errors="surrogateescape")):
            return True
        decoded = _ENCODED.sub(_decode, form)
        if decoded == form:
            return False
        form = decoded
    return True


def _decode(match: re.Match[bytes]) -> bytes:
    byte, unit = match.groups()
    if byte is not None:
        return bytes.fromhex(byte.decode())
    return chr(int(unit, 16)).encode(errors="surrogatepass")


def _is_structure(form: str) -> bool:
    if _STRUCTURE.search(form) or _DOT_PART.search(form):
        return True
    if form.isascii():
        return False
    from unicodedata import normalize

    return bool(_DOT_PART.search(normalize("NFKC", form)))
