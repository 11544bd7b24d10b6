"""The view cap: how much of a file's text one answer shows, and where it is cut.

The cap counts characters of the file, each line with its LF, not the numbers in front. A text is
cut at a line end. One line that alone is longer than the cap is cut inside, never inside a
character.
"""

from __future__ import annotations

from typing import NamedTuple

from memoranda.text.utf8 import decode, require_utf8

# No character takes more in UTF-8.
_MAX_CHARACTER_BYTES = 4


class Cut(NamedTuple):
    """What fits of the wanted lines: ``text`` is ``n_lines`` lines of them, or with ``inside``
    the beginning of the first one; ``whole`` tells that nothing was left out."""

    text: str
    n_lines: int
    whole: bool
    inside: bool = False


def enough_bytes(cap_chars: int) -> int:
    """How many bytes of the wanted lines ``cut_lines`` looks at, at most."""
    return cap_chars * _MAX_CHARACTER_BYTES + 1


def cut_lines(wanted: bytes, cap_chars: int, *, more: bool = False) -> Cut:
    """As many of the wanted lines as fit into ``cap_chars`` (1 or more) characters.

    ``wanted`` begins with a line. ``more`` tells that it is only the beginning of what is wanted,
    and then it holds ``enough_bytes``. Raises UnicodeError if what would be shown is not UTF-8;
    bytes behind it don't matter.
    """
    looked_at = wanted[: enough_bytes(cap_chars)]
    more = more or len(looked_at) < len(wanted)
    # Where this ends inside a character, more than the cap lies before it.
    text = decode(looked_at)
    if len(text) <= cap_chars and not more:
        return _cut(text, whole=True)
    end = text[:cap_chars].rfind("\n") + 1
    if end:
        return _cut(text[:end], whole=False)
    # One line fills the cap. Its own LF may stand just behind: then the line is shown whole.
    if text.startswith("\n", cap_chars):
        return _cut(text[: cap_chars + 1], whole=len(text) == cap_chars + 1 and not more)
    return _cut(text[:cap_chars], whole=False, inside=True)


def _cut(text: str, *, whole: bool, inside: bool = False) -> Cut:
    require_utf8(text)
    n_lines = text.count("\n") + (not text.endswith("\n"))
    return Cut(text, n_lines, whole, inside)
