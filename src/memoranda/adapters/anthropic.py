"""A memory as a tool of the official Anthropic SDK.

    client.beta.messages.tool_runner(..., tools=[MemoryTool("./memory", user="acme-corp")])

``MemoryTool`` and ``AsyncMemoryTool`` stand where the SDK's own ``BetaLocalFilesystemMemoryTool``
and its async twin stand, and are subclasses of the SDK's abstract memory tools.

The SDK builds its command objects without checking them. So ``call`` hands the input on as it
came: the memory reads it, and what is wrong with it becomes an answer for Claude.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias, cast

from memoranda.adapters.source import MemorySource, execute, execute_async
from memoranda.async_memory import AsyncMemory
from memoranda.errors import NotFound
from memoranda.memory import Memory
from memoranda.path import ROOT_TEXT
from memoranda.reply import ToolResult

try:
    from anthropic.lib.tools import BetaFunctionToolResultType, ToolError
    from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.anthropic needs the Anthropic SDK, version 2.14 or later: "
        "install memoranda[anthropic]."
    ) from error

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818Param,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from memoranda.policies.policy import Policy

AllowedCaller: TypeAlias = Literal[
    "direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"
]

_CLEARED: Final = "All memory cleared"
"""What the SDK's own tool says; programs read it, not Claude."""


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool for an ``Anthropic`` client: one user's memory, for the SDK's tool runners.

    ``base_path`` is a folder, any URL that ``Memory.open`` takes, or a ``Memory`` that the
    application opened and keeps. ``user`` says whose memory it is, ``policy`` its rules, ``actor``
    who stands in its history; a ``Memory`` that is given has them already. The other arguments
    become fields of the tool's entry in requests.

    The memory is opened at once: what can't be opened raises ``Misuse``, a folder that the SDK's
    own tool filled too (import it first). Safe to use from many threads. ``call`` raises nothing
    but the SDK's ``ToolError``, whatever it is given: the runners send it as a failed result.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | Memory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        defer_loading: bool | None = None,
        strict: bool | None = None,
        allowed_callers: Iterable[AllowedCaller] | None = None,
        input_examples: Iterable[Mapping[str, object]] | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._fields = _entry_fields(defer_loading, strict, allowed_callers, input_examples)
        self._source = MemorySource(Memory, base_path, user, policy=policy, actor=actor)

    @property
    def memory(self) -> Memory:
        """The memory behind the tool, for what Claude doesn't do: history, restore, search."""
        return self._source.memory

    @property
    def base_path(self) -> Path | None:
        """The folder as it was given; None where a URL or a memory was given."""
        return self._source.base_path

    @property
    def memory_root(self) -> Path | None:
        """Where in ``base_path`` the memories lie as plain files, once there are any."""
        return self._source.memory_root

    def to_dict(self) -> BetaMemoryTool20250818Param:
        """The tool's entry in a request."""
        return cast("BetaMemoryTool20250818Param", {**super().to_dict(), **self._fields})

    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 # the SDK's name
        """Run a command as Claude sent it; a failed one raises ``ToolError`` with the answer."""
        return _returned(execute(self._source, input))

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Run one of the SDK's command objects, as ``call`` runs its input."""
        return self.call(_input(command))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        return self.call(_input(command, "view"))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        return self.call(_input(command, "create"))

    def str_replace(
        self, command: BetaMemoryTool20250818StrReplaceCommand
    ) -> BetaFunctionToolResultType:
        return self.call(_input(command, "str_replace"))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        return self.call(_input(command, "insert"))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        return self.call(_input(command, "delete"))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        return self.call(_input(command, "rename"))

    def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Remove every memory. They stay in history; ``memory.erase`` leaves nothing.

        One change a file or directory at the top. Raises ``ReadOnly`` where the policy says so.
        """
        memory = self.memory
        for item in memory.list(ROOT_TEXT, depth=1):
            with suppress(NotFound):  # somebody else was faster
                memory.remove(str(item.path))
        return _CLEARED

    def close(self) -> None:
        """Let go of a memory that the tool opened; the next command opens it anew.

        The SDK's session runner closes its tools when a session ends. What was in a ``memory:``
        URL is gone then.
        """
        memory = self._source.release()
        if memory is not None:
            memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """``MemoryTool`` for an ``AsyncAnthropic`` client; may be used from several event loops in turn.

    Takes what ``MemoryTool`` takes, an ``AsyncMemory`` instead of a ``Memory``.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | AsyncMemory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        defer_loading: bool | None = None,
        strict: bool | None = None,
        allowed_callers: Iterable[AllowedCaller] | None = None,
        input_examples: Iterable[Mapping[str, object]] | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._fields = _entry_fields(defer_loading, strict, allowed_callers, input_examples)
        self._source = MemorySource(AsyncMemory, base_path, user, policy=policy, actor=actor)

    @property
    def memory(self) -> AsyncMemory:
        """The memory behind the tool, for what Claude doesn't do: history, restore, search."""
        return self._source.memory

    @property
    def base_path(self) -> Path | None:
        """The folder as it was given; None where a URL or a memory was given."""
        return self._source.base_path

    @property
    def memory_root(self) -> Path | None:
        """Where in ``base_path`` the memories lie as plain files, once there are any."""
        return self._source.memory_root

    def to_dict(self) -> BetaMemoryTool20250818Param:
        """The tool's entry in a request."""
        return cast("BetaMemoryTool20250818Param", {**super().to_dict(), **self._fields})

    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 # the SDK's name
        """Run a command as Claude sent it; a failed one raises ``ToolError`` with the answer."""
        return _returned(await execute_async(self._source, input))

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Run one of the SDK's command objects, as ``call`` runs its input."""
        return await self.call(_input(command))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        return await self.call(_input(command, "view"))

    async def create(
        self, command: BetaMemoryTool20250818CreateCommand
    ) -> BetaFunctionToolResultType:
        return await self.call(_input(command, "create"))

    async def str_replace(
        self, command: BetaMemoryTool20250818StrReplaceCommand
    ) -> BetaFunctionToolResultType:
        return await self.call(_input(command, "str_replace"))

    async def insert(
        self, command: BetaMemoryTool20250818InsertCommand
    ) -> BetaFunctionToolResultType:
        return await self.call(_input(command, "insert"))

    async def delete(
        self, command: BetaMemoryTool20250818DeleteCommand
    ) -> BetaFunctionToolResultType:
        return await self.call(_input(command, "delete"))

    async def rename(
        self, command: BetaMemoryTool20250818RenameCommand
    ) -> BetaFunctionToolResultType:
        return await self.call(_input(command, "rename"))

    async def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Remove every memory. They stay in history; ``memory.erase`` leaves nothing.

        One change a file or directory at the top. Raises ``ReadOnly`` where the policy says so.
        """
        memory = self.memory
        for item in await memory.list(ROOT_TEXT, depth=1):
            with suppress(NotFound):  # somebody else was faster
                await memory.remove(str(item.path))
        return _CLEARED

    async def close(self) -> None:
        """Let go of a memory that the tool opened; the next command opens it anew.

        The SDK's session runner closes its tools when a session ends. What was in a ``memory:``
        URL is gone then.
        """
        memory = self._source.release()
        if memory is not None:
            await memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _entry_fields(
    defer_loading: bool | None,
    strict: bool | None,
    allowed_callers: Iterable[AllowedCaller] | None,
    input_examples: Iterable[Mapping[str, object]] | None,
) -> dict[str, Any]:
    fields = {
        "defer_loading": defer_loading,
        "strict": strict,
        # The entry is read for each request: an iterator would be empty at the second.
        "allowed_callers": None if allowed_callers is None else list(allowed_callers),
        "input_examples": None if input_examples is None else list(input_examples),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _input(command: Any, name: str | None = None) -> dict[str, Any]:
    """What a command object of the SDK stands for; fields that were never set are left out."""
    fields: dict[str, Any] = command.to_dict()
    return fields if name is None else {**fields, "command": name}


def _returned(result: ToolResult) -> BetaFunctionToolResultType:
    content = cast("BetaFunctionToolResultType", result.content)
    if result.is_error:
        raise ToolError(content)
    return content
