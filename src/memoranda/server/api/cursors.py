"""Cursors: where a page ended, as a text that clients pass back and don't read.

A cursor holds a position and neither a snapshot nor an offset, so nothing that happens between two
pages shifts the rest. A check of the whole tells cursors of other lists and made-up ones apart; it
is no secret, since a cursor gives nobody anything that the list itself doesn't.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Final

from memoranda.server.problems import Problem

_PREFIX: Final = "page_"
_CHECK_BYTES: Final = 8
_MOST_CHARS: Final = 8_000


def encode_cursor(after: str | None, *of: str) -> str | None:
    """The cursor of a position in the list that ``of`` names; None on the last page."""
    if after is None:
        return None
    position = json.dumps(after).encode()
    return _PREFIX + urlsafe_b64encode(_check(position, of) + position).decode().rstrip("=")


def decode_cursor(cursor: str | None, *of: str) -> str | None:
    """The position in the list that ``of`` names. Raises a ``Problem`` (400)."""
    if not cursor:
        return None
    try:
        text = cursor.removeprefix(_PREFIX)
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4)) if len(text) < _MOST_CHARS else b""
    except ValueError:
        data = b""
    check, position = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
    if not cursor.startswith(_PREFIX) or not position or check != _check(position, of):
        raise _unknown()
    # The check is no secret: what follows it may be anybody's.
    try:
        after: object = json.loads(position)
        found = after.encode().decode() if isinstance(after, str) else None
    except (ValueError, RecursionError):
        found = None
    if found is None:
        raise _unknown()
    return found


def _unknown() -> Problem:
    return Problem(400, "page: this is no cursor of this list.")


def _check(position: bytes, of: tuple[str, ...]) -> bytes:
    digest = blake2b(position, digest_size=_CHECK_BYTES, person=b"cursor")
    for part in of:
        digest.update(b"\0" + part.encode())
    return digest.digest()
