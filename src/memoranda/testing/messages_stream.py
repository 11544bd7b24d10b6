"""A message as the server-sent events in which the Messages API streams it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memoranda.testing.messages_failures import Block

# A long text goes out in at most this many pieces: the SDK parses the whole input of a tool call
# anew with each piece.
_MOST_PIECES = 64
_FEWEST_CHARS = 7

PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def event_bytes(event: Block) -> bytes:
    """One event in the wire format."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def events(message: Block) -> Iterator[Block]:
    """The events of a message, in order, without pings."""
    usage = message["usage"]
    opening: Block = {
        **message,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        start, deltas = _take_apart(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")},
        "usage": {"output_tokens": usage["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _take_apart(block: Block) -> tuple[Block, list[Block]]:
    """The block as it starts, and the deltas that fill it."""
    kind = block["type"]
    if kind == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        return {**block, "text": ""}, deltas
    if kind == "tool_use":
        # The first piece is empty, and the others break words, escapes and numbers anywhere.
        pieces = ["", *_pieces(_input_json(block["input"]))]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        return {**block, "input": {}}, deltas
    if kind == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    return block, []


def _input_json(tool_input: Any) -> str:
    # The API sends nothing at all for an empty input.
    return json.dumps(tool_input, ensure_ascii=False) if tool_input != {} else ""


def _pieces(whole: str) -> Iterator[str]:
    step = max(_FEWEST_CHARS, -(-len(whole) // _MOST_PIECES))
    return (whole[start : start + step] for start in range(0, len(whole), step))
