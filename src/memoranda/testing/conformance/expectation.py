"""What a case expects of an answer, and how it is compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from memoranda.testing.conformance.trial import Answer

KEYS: Final = frozenset(
    {"is_error", "equals", "contains", "not_contains", "starts_with", "in_order", "any_of", "image"}
)


def shortcomings(expect: dict[str, Any], answer: Answer) -> list[str]:
    """What is wanted and not met; empty when the answer meets ``expect``.

    A missing key, or null, is not checked:

    - ``is_error``: true or false
    - ``equals``, ``starts_with``: the whole text, its beginning
    - ``contains``, ``not_contains``: texts that all have to occur, that none may
    - ``in_order``: texts that have to occur one behind the other
    - ``image``: the media type and base64 data of the one image block, false for none at all
    - ``any_of``: expectations of which one has to be met whole
    """
    assert set(expect) <= KEYS, expect
    if answer.raised is not None:
        return ["an answer"]
    text = answer.text
    wanted: list[str] = []
    is_error = expect.get("is_error")
    if is_error is not None and answer.is_error != is_error:
        wanted.append("an error" if is_error else "success")
    equals = expect.get("equals")
    if equals is not None and text != equals:
        wanted.append(f"exactly {equals}")
    start = expect.get("starts_with")
    if start is not None and not text.startswith(start):
        wanted.append(f"a text that starts with {start}")
    wanted += [
        f"a text with {piece}" for piece in expect.get("contains") or () if piece not in text
    ]
    wanted += [
        f"a text without {piece}" for piece in expect.get("not_contains") or () if piece in text
    ]
    in_order = expect.get("in_order") or ()
    if not _occur_in_order(in_order, text):
        wanted.append(f"in this order: {' '.join(in_order)}")
    image = expect.get("image")
    if image is not None and images(answer) != ([image] if image else []):
        wanted.append(f"one image block {image}" if image else "no image block")
    options = expect.get("any_of") or ()
    tried = [shortcomings(option, answer) for option in options]
    if tried and all(tried):
        wanted.append(" or ".join("; ".join(one) for one in tried))
    return wanted


def _occur_in_order(pieces: Sequence[str], text: str) -> bool:
    end = 0
    for piece in pieces:
        begin = text.find(piece, end)
        if begin < 0:
            return False
        end = begin + len(piece)
    return True


def images(answer: Answer) -> list[dict[str, Any]]:
    """The media type and data of every image block of an answer."""
    blocks = [cast("dict[str, Any]", block) for block in answer.blocks if isinstance(block, dict)]
    return [
        {"media_type": block["source"]["media_type"], "data": block["source"]["data"]}
        for block in blocks
        if block.get("type") == "image"
    ]


def expanded(value: Any) -> Any:
    """``{"$repeat": ["text", n]}`` anywhere in a case stands for the text n times."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if set(fields) == {"$repeat"}:
            piece, times = fields["$repeat"]
            return piece * times
        return {key: expanded(inner) for key, inner in fields.items()}
    if isinstance(value, list):
        return [expanded(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value
