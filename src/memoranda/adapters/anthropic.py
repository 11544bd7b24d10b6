"""A memory as a tool of the official Anthropic SDK.

    client.beta.messages.tool_runner(..., tools=[MemoryTool("./memory", user="acme-corp")])

``MemoryTool`` and ``AsyncMemoryTool`` stand where the SDK's own ``BetaLocalFilesystemMemoryTool``
and its async twin stand, and are subclasses of the SDK's abstract memory tools.

The SDK builds its command objects without checking them. So ``call`` hands the input on as it
came: the memory reads it, and what is wrong with it becomes an answer for Claude.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeAlias, TypeVar, cast

from memoranda import reply
from memoranda.after_fork import renew
from memoranda.async_memory import AsyncMemory
from memoranda.errors import MemorandaError, Misuse, NotFound
from memoranda.memory import Memory
from memoranda.opening import DEFAULT_USER
from memoranda.path import ROOT_TEXT
from memoranda.reply import ToolResult
from memoranda.tenant import check_tenant, directory_of_tenant

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

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_SQLITE: Final = "sqlite:///"

_log = logging.getLogger("memoranda")


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
        self._source = _Source(Memory, base_path, user, policy=policy, actor=actor)

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
        try:
            result = self.memory.execute(input)
        except MemorandaError as error:
            result = _unusable(error)
        return _returned(result)

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
        self._source = _Source(AsyncMemory, base_path, user, policy=policy, actor=actor)

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
        try:
            result = await self.memory.execute(input)
        except MemorandaError as error:
            result = _unusable(error)
        return _returned(result)

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


_M = TypeVar("_M", Memory, AsyncMemory)


class _Source(Generic[_M]):
    """Where a tool has its memory from: one it was given, or one it opens, again after a close."""

    def __init__(
        self,
        kind: type[_M],
        base_path: str | os.PathLike[str] | _M,
        user: str | None,
        **settings: object,
    ) -> None:
        self.base_path: Path | None = None
        self.memory_root: Path | None = None
        self._lock = threading.Lock()  # guards the memory's coming and going
        renew(self)
        self._memory: _M | None
        self._open: Callable[[], _M] | None
        given: dict[str, Any] = {
            name: value for name, value in {"user": user, **settings}.items() if value is not None
        }
        if isinstance(base_path, kind):
            if given:
                raise Misuse(f"The memory that is given has its own {' and '.join(given)}.")
            self._open = None
            self._memory = base_path
            return
        # mypy doesn't see that it is no memory here.
        url = os.fspath(base_path)  # type: ignore[arg-type]
        # A program may change its directory before the memory is opened again.
        place = _absolute(url)
        self._open = lambda: kind.open(place, **given)
        self._memory = self._open()
        if _SCHEME.match(url) is None:
            tenant = check_tenant(DEFAULT_USER if user is None else user)
            self.base_path = Path(url)
            self.memory_root = self.base_path / "stores" / directory_of_tenant(tenant) / "memories"

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``."""
        self._lock = threading.Lock()

    @property
    def memory(self) -> _M:
        with self._lock:
            if self._memory is None:
                assert self._open is not None, "a memory that was given is never let go"
                self._memory = self._open()
            return self._memory

    def release(self) -> _M | None:
        """The memory that is to be closed, if there is one."""
        with self._lock:
            if self._open is None:
                return None
            memory, self._memory = self._memory, None
            return memory


def _absolute(url: str) -> str:
    """``url`` with the path in it, if it has a relative one, made absolute."""
    prefix = url[: len(_SQLITE)] if url.lower().startswith(_SQLITE) else ""
    path = url.removeprefix(prefix)
    is_path = path and (prefix or _SCHEME.match(url) is None)
    return prefix + os.path.abspath(path) if is_path else url


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


def _unusable(error: MemorandaError) -> ToolResult:
    """The answer where the program closed the memory, or it can't be opened any more.

    Raised, the SDK would show Claude the exception.
    """
    _log.error("The memory tool has no memory: %s", error)
    return reply.unavailable()
