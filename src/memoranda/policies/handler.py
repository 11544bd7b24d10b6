"""What a command layer wraps and is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from memoranda.command import Command, RefusedInput
from memoranda.reply import ToolResult
from memoranda.stores.base import Context

Handler: TypeAlias = Callable[[Command | RefusedInput, Context], Awaitable[ToolResult]]
"""Answers a command; input that is no command comes through as well, so that layers count and
note it. A layer is a handler that was made with the next one in."""
