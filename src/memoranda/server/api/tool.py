"""``POST /v1/memory_stores/{store}/tool``: a ``tool_use`` block in, its ``tool_result`` out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.server.api.endpoint import api, doc, opened, store_of
from memoranda.server.api.objects import ToolResultBlock
from memoranda.server.api.reading import parse_any, read_bytes, validated
from memoranda.server.api.requests import ToolUseBlock
from memoranda.tool_block import ToolUse

if TYPE_CHECKING:
    from memoranda.server.api.objects import Shape
    from memoranda.server.call import Visit


async def use(visit: Visit) -> Shape:
    """Do what Claude asks. What is wrong with its input is an answer for Claude, not an error."""
    await opened(visit)  # so that an unknown store is said before what is wrong with the body
    block = validated(parse_any(await read_bytes(visit)), ToolUseBlock)
    return await visit.services.calls.answer(
        visit.key, store_of(visit), ToolUse(block.id, block.input)
    )


ENDPOINTS: Final = (
    # With the role "read" views are answered, and changes refused in Claude's words.
    api("POST", "/v1/memory_stores/{store}/tool", "read", use, doc(
        "tool.use", "Do what a tool_use block of the memory tool asks; once for each id.",
        ToolResultBlock, body=ToolUseBlock, errors=(404, 409))),
)  # fmt: skip
