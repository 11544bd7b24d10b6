"""What the Messages API takes as a content block."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Final, cast

from memoranda.testing.messages_failures import Block, refuse

MAX_IMAGE_BASE64_CHARS: Final = 5 * 1024 * 1024
"""The API's limit for one image. It counts the base64 text, so the file may hold three quarters."""

_RESULT_KINDS: Final = {"text", "image", "document", "search_result", "tool_reference"}

_SIGNATURES: Final = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def check_blocks(blocks: Any, where: str, kinds: AbstractSet[str] | None) -> None:
    """A non-empty list of well-formed blocks, all of ``kinds`` (None: any)."""
    if not isinstance(blocks, list):
        raise refuse(where, "Input should be a text or a list of content blocks.")
    if not blocks:
        raise refuse(where, "The content must not be empty.")
    for index, block in enumerate(cast("list[object]", blocks)):
        at = f"{where}.{index}"
        if not isinstance(block, dict):
            raise refuse(at, "Input should be an object.")
        fields = cast("Block", block)
        kind = fields.get("type")
        if not isinstance(kind, str) or (kinds is not None and kind not in kinds):
            raise refuse(f"{at}.type", "This kind of block is not taken here.")
        check = _CHECKS.get(kind)
        if check is not None:
            check(fields, f"{at}.{kind}")


def _check_text(block: Block, where: str) -> None:
    if not isinstance(block.get("text"), str) or not block["text"]:
        raise refuse(f"{where}.text", "The text must not be empty.")


def _check_tool_use(block: Block, where: str) -> None:
    for field in ("id", "name"):
        if not isinstance(block.get(field), str) or not block[field]:
            raise refuse(f"{where}.{field}", "Input should be a non-empty string.")
    if not isinstance(block.get("input"), dict):
        raise refuse(f"{where}.input", "Input should be an object.")


def _check_tool_result(block: Block, where: str) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise refuse(f"{where}.tool_use_id", "Field required.")
    if not isinstance(block.get("is_error", False), bool):
        raise refuse(f"{where}.is_error", "Input should be true or false.")
    for field in block:
        if field not in ("type", "tool_use_id", "content", "is_error", "cache_control"):
            raise refuse(f"{where}.{field}", "Extra inputs are not permitted.")
    content = block.get("content")
    if isinstance(content, str) or "content" not in block:
        return
    kinds = {"text"} if block.get("is_error") else _RESULT_KINDS
    check_blocks(content, f"{where}.content", kinds)


def _check_image(block: Block, where: str) -> None:
    source = block.get("source")
    if not isinstance(source, dict):
        raise refuse(f"{where}.source", "Input should be an object.")
    fields = cast("Block", source)
    if fields.get("type") != "base64":
        return
    signature = _SIGNATURES.get(str(fields.get("media_type")))
    if signature is None:
        raise refuse(f"{where}.source.media_type", f"Input should be one of {list(_SIGNATURES)}.")
    data = fields.get("data")
    if not isinstance(data, str):
        raise refuse(f"{where}.source.data", "Input should be a string.")
    if len(data) > MAX_IMAGE_BASE64_CHARS:
        raise refuse(
            f"{where}.source.base64",
            f"The image has {len(data)} bytes, more than {MAX_IMAGE_BASE64_CHARS}.",
        )
    try:
        head = base64.b64decode(data, validate=True)[:16]
    except binascii.Error:
        raise refuse(f"{where}.source.data", "Input should be base64.") from None
    if not head.startswith(signature):
        raise refuse(f"{where}.source", "The data is not an image of the given media type.")


_CHECKS: Final[dict[str, Callable[[Block, str], None]]] = {
    "text": _check_text,
    "tool_use": _check_tool_use,
    "tool_result": _check_tool_result,
    "image": _check_image,
}
