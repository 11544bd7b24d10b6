"""A memory for agents of Pydantic AI, with Claude's native memory tool where the model has it.

    agent = Agent("anthropic:claude-sonnet-5-5", capabilities=[MemoryCapability("./memory", user="acme-corp")])

``MemoryToolset`` is the same as a plain function tool, for every model.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from memoranda.adapters.functions import AsyncMemoryFunction, FunctionAnswer
from memoranda.async_memory import AsyncMemory
from memoranda.protocol import COMMANDS, CommandName

try:
    from pydantic_ai import BinaryContent, RunContext, ToolDefinition
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.models import Model
    from pydantic_ai.native_tools import MemoryTool
    from pydantic_ai.tools import AgentNativeTool
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.pydantic_ai needs Pydantic AI, version 2.68 or later: "
        "install memoranda[pydantic-ai]."
    ) from error

if TYPE_CHECKING:
    from memoranda.policies.policy import Policy


class MemoryToolset(AbstractToolset[Any]):
    """One user's memory as a toolset of one function tool, ``memory``, for any model.

    ``base_path`` is a folder, any URL that ``AsyncMemory.open`` takes, or an ``AsyncMemory`` that
    the application opened and keeps; ``user``, ``policy`` and ``actor`` as there. ``commands`` are
    the ones that the model is offered. ``instructions=False`` leaves out the prompt that says when
    to use a memory. A failed command is a failed result, which uses up no retries. May be shared by
    agents, runs and event loops.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | AsyncMemory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        commands: Iterable[CommandName] = COMMANDS,
        instructions: bool = True,
        id: str | None = "memory",  # noqa: A002 # the framework's name
    ) -> None:
        self._function = AsyncMemoryFunction(
            base_path, user=user, policy=policy, actor=actor, commands=commands
        )
        self._instructions = self._function.prompt if instructions else None
        self._id = id

    @property
    def id(self) -> str | None:
        """What tells this toolset from others of an agent."""
        return self._id

    @property
    def prompt(self) -> str:
        """When to use the memory."""
        return self._function.prompt

    @property
    def memory(self) -> AsyncMemory:
        """The memory behind the tool, for what the model doesn't do: history, restore, search."""
        return self._function.memory

    async def close(self) -> None:
        """Let go of a memory that the toolset opened; the next call opens it anew."""
        await self._function.close()

    async def get_instructions(self, ctx: RunContext[Any]) -> str | None:
        """The prompt, unless it was left out."""
        return self._instructions

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tool. Commands of one turn are done one after the other, in their order."""
        definition = ToolDefinition(
            name=self._function.name,
            description=self._function.description,
            parameters_json_schema=self._function.input_schema,
            sequential=True,
        )
        tool = ToolsetTool[Any](
            toolset=self, tool_def=definition, max_retries=1, args_validator=_ANY_ARGUMENTS
        )
        return {definition.name: tool}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run a command; a failed one raises the framework's ``ToolFailed`` with the answer."""
        # A toolset around this one may call the tool another name; here there is only this one.
        answer = await self._function.call(self._function.name, tool_args, call_id=ctx.tool_call_id)
        if answer.is_error:
            raise ToolFailed(answer.text)
        return _returned(answer)


class MemoryCapability(AbstractCapability[Any]):
    """One user's memory for an agent: Claude's native memory tool where the model has it, else the
    function tool with the prompt.

    Takes what ``MemoryToolset`` takes.
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
        self.toolset: Final = MemoryToolset(
            base_path, user=user, policy=policy, actor=actor, commands=commands, instructions=False
        )

    @property
    def memory(self) -> AsyncMemory:
        """The memory behind the tool, for what the model doesn't do: history, restore, search."""
        return self.toolset.memory

    async def close(self) -> None:
        """Let go of a memory that the capability opened; the next call opens it anew."""
        await self.toolset.close()

    def get_toolset(self) -> AbstractToolset[Any]:
        """The function tool, which also answers the native one."""
        return self.toolset

    def get_native_tools(self) -> Sequence[AgentNativeTool[Any]]:
        """Claude's own declaration of the tool, for models that know it."""
        return [lambda ctx: MemoryTool() if _knows_the_tool(ctx) else None]

    def get_instructions(self) -> Callable[[RunContext[Any]], str | None]:
        """The prompt, for models whose API doesn't send one of its own."""

        def told(ctx: RunContext[Any]) -> str | None:
            return None if _knows_the_tool(ctx) else self.toolset.prompt

        return told


class _AnyArguments:
    """Takes what the model sent as it is. The memory says what is wrong with it, so that neither
    retries are used up nor the run ends."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> Any:  # noqa: A002
        """The object in a JSON text; none for what holds none."""
        try:
            decoded: object = json.loads(input)
        except (ValueError, RecursionError):
            return {}
        return self.validate_python(decoded)

    def validate_python(self, input: Any, **_: Any) -> Any:  # noqa: A002
        """The object itself."""
        return cast("dict[str, Any]", input) if isinstance(input, dict) else {}


_ANY_ARGUMENTS: Final = _AnyArguments()


def _knows_the_tool(ctx: RunContext[Any]) -> bool:
    model = ctx.model
    if not isinstance(model, Model):
        return False
    return MemoryTool in model.profile.get("supported_native_tools", frozenset())


def _returned(answer: FunctionAnswer) -> str | list[str | BinaryContent]:
    if not answer.images:
        return answer.text
    pictures = [
        BinaryContent(data=base64.b64decode(source["data"]), media_type=source["media_type"])
        for source in (image["source"] for image in answer.images)
    ]
    return [answer.text, *pictures]
