"""A memory as a function of any provider's function calling: no SDK, no network.

    memory = MemoryFunction("./memory", user="acme-corp")
    tools=[memory.openai_chat_tool()]                  # or openai_tool(), gemini_declaration(), ...
    answer = memory.call(call.function.name, call.function.arguments)   # .text, .is_error

``prompt`` goes into the system prompt of models that no API tells how to use a memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

from memoranda import protocol
from memoranda.adapters.source import MemorySource, execute, execute_async
from memoranda.async_memory import AsyncMemory
from memoranda.command import RefusedInput
from memoranda.errors import UnknownCommand
from memoranda.memory import Memory
from memoranda.protocol import COMMANDS, CommandName
from memoranda.reply import Block, ToolResult

if TYPE_CHECKING:
    from memoranda.policies.policy import Policy


class FunctionAnswer(NamedTuple):
    """What goes back to the model: a text, whether the command failed, and pictures it asked to see.

    ``images`` are image blocks as Claude's API takes them (base64 in ``source.data``), empty for
    all but a view of a picture; the text names its path.
    """

    text: str
    is_error: bool = False
    images: tuple[Block, ...] = ()


class Declaration:
    """How providers are told of the tool; the same for both colours.

    ``commands`` are the ones that the model is offered, all six by default; the others are unknown
    to it, and refused if it asks for them all the same.
    """

    name: Final = protocol.NAME

    def __init__(self, commands: Iterable[CommandName] = COMMANDS) -> None:
        self.commands: Final = protocol.checked(commands)

    @property
    def description(self) -> str:
        """What the tool is for and what each command does."""
        return protocol.description(self.commands)

    @property
    def prompt(self) -> str:
        """When to use it: a part for the system prompt."""
        return protocol.prompt(self.commands)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments; fields that don't apply are left out."""
        return protocol.input_schema(self.commands)

    @property
    def strict_schema(self) -> dict[str, Any]:
        """The JSON schema for strict modes: every field is there, null where it doesn't apply."""
        return protocol.strict_schema(self.commands)

    def anthropic_tool(self) -> dict[str, Any]:
        """A custom tool of Claude's API, for places that don't take the memory tool by its type."""
        return {
            "type": "custom",
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    def openai_tool(self, *, strict: bool = True) -> dict[str, Any]:
        """A function tool of the Responses API. ``strict=False`` for servers that know no strict
        mode."""
        return {"type": "function", **self._openai_function(strict)}

    def openai_chat_tool(self, *, strict: bool = True) -> dict[str, Any]:
        """A function tool of the Chat Completions API, which many other servers speak too."""
        return {"type": "function", "function": self._openai_function(strict)}

    def gemini_declaration(self) -> dict[str, Any]:
        """A function declaration of the Gemini API, its parameters in that API's dialect."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": _in_geminis_dialect(self.input_schema),
        }

    def _openai_function(self, strict: bool) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.strict_schema if strict else self.input_schema,
            "strict": strict,
        }

    def _input(self, name: object, arguments: object) -> object:
        """What the memory is to execute for a call, or its refusal."""
        if name != self.name:
            return RefusedInput("", UnknownCommand(name))
        fields = _decoded(arguments)
        if isinstance(fields, Mapping):
            # Gemini's SDK gives a mapping of its own kind; a dict is what the memory reads.
            fields = dict(cast("Mapping[object, object]", fields))
            command = fields.get("command")
            if isinstance(command, str) and command in COMMANDS and command not in self.commands:
                return RefusedInput("", UnknownCommand(command))
        return fields


class MemoryFunction(Declaration):
    """One user's memory for a loop of your own around any provider's function calling.

    ``base_path`` is a folder, any URL that ``Memory.open`` takes, or a ``Memory`` that the
    application opened and keeps. ``user``, ``policy`` and ``actor`` as for ``Memory.open``; a
    ``Memory`` that is given has them already. What can't be opened raises ``Misuse`` here. Safe to
    use from many threads.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | Memory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        commands: Iterable[CommandName] = COMMANDS,
    ) -> None:
        super().__init__(commands)
        self._source = MemorySource(Memory, base_path, user, policy=policy, actor=actor)

    @property
    def memory(self) -> Memory:
        """The memory behind the tool, for what the model doesn't do: history, restore, search."""
        return self._source.memory

    def call(
        self, name: object, arguments: object, *, call_id: str | None = None
    ) -> FunctionAnswer:
        """The answer to a call of the model; raises nothing, whatever it sent.

        ``arguments`` are an object or the JSON text of one. ``call_id`` stands with the versions in
        the history.
        """
        return answer_of(self.execute(name, arguments, call_id=call_id))

    def execute(self, name: object, arguments: object, *, call_id: str | None = None) -> ToolResult:
        """``call``, answered as the memory does: text, or content blocks of Claude's API."""
        return execute(self._source, self._input(name, arguments), _trace_id(call_id))

    def close(self) -> None:
        """Let go of a memory that this opened; the next call opens it anew."""
        memory = self._source.release()
        if memory is not None:
            memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMemoryFunction(Declaration):
    """``MemoryFunction`` for event loops; may be used from several in turn.

    Takes what ``MemoryFunction`` takes, an ``AsyncMemory`` instead of a ``Memory``.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | AsyncMemory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        commands: Iterable[CommandName] = COMMANDS,
    ) -> None:
        super().__init__(commands)
        self._source = MemorySource(AsyncMemory, base_path, user, policy=policy, actor=actor)

    @property
    def memory(self) -> AsyncMemory:
        """The memory behind the tool, for what the model doesn't do: history, restore, search."""
        return self._source.memory

    async def call(
        self, name: object, arguments: object, *, call_id: str | None = None
    ) -> FunctionAnswer:
        """``MemoryFunction.call``, awaited."""
        return answer_of(await self.execute(name, arguments, call_id=call_id))

    async def execute(
        self, name: object, arguments: object, *, call_id: str | None = None
    ) -> ToolResult:
        """``MemoryFunction.execute``, awaited."""
        return await execute_async(self._source, self._input(name, arguments), _trace_id(call_id))

    async def close(self) -> None:
        """Let go of a memory that this opened; the next call opens it anew."""
        memory = self._source.release()
        if memory is not None:
            await memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def answer_of(result: ToolResult) -> FunctionAnswer:
    """A result as one text, pictures apart."""
    if isinstance(result.content, str):
        return FunctionAnswer(result.content, result.is_error)
    texts = [block["text"] for block in result.content if block["type"] == "text"]
    images = [block for block in result.content if block["type"] == "image"]
    return FunctionAnswer("\n".join(texts), result.is_error, tuple(images))


def _trace_id(call_id: object) -> str | None:
    # Providers' ids are texts; what else a broken server sends is no reason to fail a command.
    return call_id if isinstance(call_id, str) else None


def _decoded(arguments: object) -> object:
    """The object in a JSON text; what holds none goes on as it is, to be refused by the memory."""
    if not isinstance(arguments, (str, bytes, bytearray)):
        return arguments
    try:
        decoded: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return decoded


_GEMINIS_FIELDS: Final = ("type", "description", "enum", "items", "properties", "required")


def _in_geminis_dialect(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with types in capitals and without what that dialect doesn't have."""
    translated = {name: schema[name] for name in _GEMINIS_FIELDS if name in schema}
    translated["type"] = schema["type"].upper()
    if "items" in schema:
        translated["items"] = _in_geminis_dialect(schema["items"])
    if "properties" in schema:
        translated["properties"] = {
            name: _in_geminis_dialect(field) for name, field in schema["properties"].items()
        }
    return translated
