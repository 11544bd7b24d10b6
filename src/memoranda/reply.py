"""Every text that Claude reads, one function each, each citing the contract."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Block: TypeAlias = dict[str, Any]


class ToolResult(NamedTuple):
    """What goes back for one command: text or a list of content blocks, and whether it failed."""

    content: str | list[Block]
    is_error: bool = False
