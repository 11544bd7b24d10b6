"""Viewing a directory: one line an item, two levels deep, as far as the cap allows."""

from __future__ import annotations

from memoranda import reply
from memoranda.path import MemoryPath
from memoranda.reply import ToolResult
from memoranda.stores.base import Store


async def show_directory(store: Store, path: MemoryPath, cap_chars: int) -> ToolResult:
    """The answer to a view of a directory: itself, then its items in the store's order.

    At most ``cap_chars`` characters of lines, LFs included; the first line is always shown. One
    call of ``Store.outline``, which gets no more than can be shown. Raises what that raises.
    """
    outline = await store.outline(path, cap_chars)
    lines = reply.listed(path, outline)
    used = 0
    for shown, line in enumerate(lines):
        used += len(line) + 1
        if used > cap_chars and shown:
            del lines[shown:]
            break
    return ToolResult(reply.listing(path, lines, outline.total))
