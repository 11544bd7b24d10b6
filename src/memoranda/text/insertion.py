"""Inserting lines: nothing is glued together, and the end of the file keeps its kind."""

from __future__ import annotations

from memoranda.text.line_endings import LF, line_ending, with_endings
from memoranda.text.splice import Splice


def insertion(old: bytes, at: int, text: bytes) -> Splice:
    """The change that puts ``text`` before the line of ``old`` that begins at offset ``at``, or at
    the end.

    The final line end of ``text`` is optional, and ""
    is one blank line. In the middle the file keeps its final line end or the lack of it; at the
    end it ends as ``text`` does if that ends in a line end, else as before.
    """
    ending = line_ending(old)
    text = with_endings(text, ending)
    ended = text.endswith(ending) or not text
    body = text.removesuffix(ending)
    if at < len(old):
        return Splice(at, at, body + ending)
    old_ended = old.endswith(LF)
    glue = ending if old and not old_ended else b""
    return Splice(at, at, glue + body + (ending if ended or old_ended else b""))
