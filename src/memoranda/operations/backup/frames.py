"""The stream of a backup as frames, each with a digest over all that came before. No storage."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias, cast

from memoranda.digests import sha256
from memoranda.errors import DamagedBackup

Read: TypeAlias = Callable[[int], bytes]
"""Gives up to so many bytes, none at the end, as files do."""
Write: TypeAlias = Callable[[bytes], object]

MAGIC: Final = b"memoranda backup 1\n"
STORE: Final = b"S"
VERSION: Final = b"V"
CONTENT: Final = b"C"
HOLD: Final = b"H"
USE: Final = b"U"
STORE_END: Final = b"E"
END: Final = b"Z"
LARGEST_FRAME: Final = 1024 * 1024
_KINDS: Final = frozenset((STORE, VERSION, CONTENT, HOLD, USE, STORE_END, END))
_DIGEST_BYTES: Final = 32
_LENGTH_BYTES: Final = 4

_CUT: Final = (
    "The backup is cut off. Take another copy of it; nothing after this point can be read."
)
_CHANGED: Final = (
    "The backup is damaged: a part is not what its digest says. Take another copy of it."
)
_STRANGE: Final = "This is no backup of Memoranda's, or an encrypted one: give --age-identity."


class Frame(NamedTuple):
    """One part of a backup."""

    kind: bytes
    payload: bytes

    def fields(self) -> dict[str, Any]:
        """The payload as a JSON object; raises ``DamagedBackup``."""
        try:
            value: object = json.loads(self.payload)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise DamagedBackup("A part of the backup can't be read.")
        return cast("dict[str, Any]", value)


class FrameWriter:
    """Writes frames."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._digest = sha256(MAGIC).digest()
        write(MAGIC)

    def frame(self, kind: bytes, payload: bytes) -> None:
        """One frame; its payload is no longer than ``LARGEST_FRAME``."""
        head = kind + len(payload).to_bytes(_LENGTH_BYTES, "big")
        self._digest = _following(self._digest, head, payload)
        self._write(head)
        self._write(payload)
        self._write(self._digest)

    def fields(self, kind: bytes, **fields: object) -> None:
        """A frame that is a JSON object."""
        self.frame(kind, json.dumps(fields, separators=(",", ":")).encode())


class FrameReader:
    """Reads frames and sees that none is missing, changed, or in another place.

    Holds one frame in memory, whatever the stream says. Raises ``DamagedBackup``.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._digest = sha256(MAGIC).digest()
        if self._take(len(MAGIC), _STRANGE) != MAGIC:
            raise DamagedBackup(_STRANGE)

    def next(self) -> Frame:
        """The next frame; after ``END`` nothing follows."""
        head = self._take(1 + _LENGTH_BYTES, _CUT)
        kind, length = head[:1], int.from_bytes(head[1:], "big")
        if kind not in _KINDS or length > LARGEST_FRAME:
            raise DamagedBackup(_CHANGED)
        payload = self._take(length, _CUT)
        digest = self._take(_DIGEST_BYTES, _CUT)
        self._digest = _following(self._digest, head, payload)
        if digest != self._digest:
            raise DamagedBackup(_CHANGED)
        if kind == END and self._read(1):
            raise DamagedBackup("Something follows the end of the backup.")
        return Frame(kind, payload)

    def _take(self, length: int, otherwise: str) -> bytes:
        parts: list[bytes] = []
        while length:
            part = self._read(length)
            if not part:
                raise DamagedBackup(otherwise)
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


def _following(before: bytes, head: bytes, payload: bytes) -> bytes:
    return sha256(before + head + payload).digest()
