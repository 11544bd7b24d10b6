"""Pictures: which files are shown as an image block, and that block."""

from __future__ import annotations

from binascii import b2a_base64
from typing import Final

from memoranda.path import MemoryPath
from memoranda.reply import Block

# What the bytes of each format begin with, and its media type, by the endings that name it.
_PNG: Final = (b"\x89PNG\r\n\x1a\n", "image/png")
_JPEG: Final = (b"\xff\xd8\xff", "image/jpeg")
_FORMATS: Final = {".png": _PNG, ".jpg": _JPEG, ".jpeg": _JPEG}


def media_type(path: MemoryPath, beginning: bytes) -> str | None:
    """The media type of the picture at ``path``, or None where name and bytes are not one's.

    The ending counts in any case of letters. The bytes decide, too: an image block of other bytes
    would make the API refuse every further request of the conversation.
    """
    dot = path.text.rfind(".")
    magic, name = _FORMATS.get(path.text[dot:].lower(), (b"", None))
    return name if beginning.startswith(magic) else None


def image_fits(size_bytes: int, max_bytes: int) -> bool:
    """Whether a picture of this size makes a block of at most ``max_bytes`` of base64, which is
    what the API counts: 5 MB of it are 3.75 MB of picture."""
    return (size_bytes + 2) // 3 * 4 <= max_bytes


def image_block(media_type: str, data: bytes) -> Block:
    """The content block that shows a picture."""
    source = {
        "type": "base64",
        "media_type": media_type,
        "data": b2a_base64(data, newline=False).decode("ascii"),
    }
    return {"type": "image", "source": source}
