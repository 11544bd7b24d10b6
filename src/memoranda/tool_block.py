"""The blocks of a conversation: a ``tool_use`` that comes in, the ``tool_result`` that goes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from memoranda.errors import Misuse
from memoranda.escape import escape_for_display
from memoranda.reply import Block, ToolResult

_TRACE_CHARS: Final = 128


class ToolUse(NamedTuple):
    """What matters of a ``tool_use`` block; ``input`` may be anything."""

    id: str
    input: object


def read_tool_use(block: object) -> ToolUse:
    """What matters of ``block``: a mapping, or an SDK's object with ``id`` and ``input``.

    Raises ``Misuse`` without an id: there is nobody to answer. All else is the model's doing.
    """
    if isinstance(block, Mapping):
        fields = cast("Mapping[str, object]", block)
        block_id, given = fields.get("id"), fields.get("input")
    else:
        block_id, given = getattr(block, "id", None), getattr(block, "input", None)
    if not isinstance(block_id, str) or not block_id:
        raise Misuse("A tool_use block has an id, a text that isn't empty; this has none.")
    return ToolUse(block_id, given)


def tool_result(tool_use_id: str, result: ToolResult) -> Block:
    """The ``tool_result`` block for the next request."""
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": result.content,
        "is_error": result.is_error,
    }
    return block


def kept_trace_id(given: str) -> str:
    """A trace id as history keeps it: one short line, whatever was given."""
    return escape_for_display(given, _TRACE_CHARS)
