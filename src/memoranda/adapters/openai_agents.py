"""A memory as a function tool of the OpenAI Agents SDK.

memory = MemoryTool("./memory", user="acme-corp")
agent = Agent(name="Assistant", instructions=memory.prompt, tools=[memory])
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from memoranda.adapters.functions import AsyncMemoryFunction, FunctionAnswer
from memoranda.async_memory import AsyncMemory
from memoranda.protocol import COMMANDS, CommandName

try:
    from agents import FunctionTool, ToolOutputImage, ToolOutputText
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.openai_agents needs the OpenAI Agents SDK, version 0.24 or later: "
        "install memoranda[openai-agents]."
    ) from error

if TYPE_CHECKING:
    from memoranda.policies.policy import Policy


class MemoryTool(FunctionTool):
    """One user's memory for the agents of the OpenAI Agents SDK: a strict function tool.

    ``base_path`` is a folder, any URL that ``AsyncMemory.open`` takes, or an ``AsyncMemory`` that
    the application opened and keeps; ``user``, ``policy`` and ``actor`` as there. ``commands`` are
    the ones that the model is offered. May be shared by agents, runs and event loops. A failed
    command is an answer like any other: function outputs of that API have no mark for errors.
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
        function = AsyncMemoryFunction(
            base_path, user=user, policy=policy, actor=actor, commands=commands
        )

        async def invoke(context: ToolContext[Any], arguments: str) -> Any:
            called = await function.call(
                function.name, arguments, call_id=getattr(context, "tool_call_id", None)
            )
            return _output(called)

        super().__init__(
            name=function.name,
            description=function.description,
            params_json_schema=function.strict_schema,
            on_invoke_tool=invoke,
        )
        self._function = function

    @property
    def prompt(self) -> str:
        """When to use the memory: a part of an agent's ``instructions``."""
        return self._function.prompt

    @property
    def memory(self) -> AsyncMemory:
        """The memory behind the tool, for what the model doesn't do: history, restore, search."""
        return self._function.memory

    async def close(self) -> None:
        """Let go of a memory that the tool opened; the next call opens it anew."""
        await self._function.close()


def _output(answer: FunctionAnswer) -> str | list[ToolOutputText | ToolOutputImage]:
    if not answer.images:
        return answer.text
    images = [
        ToolOutputImage(image_url=f"data:{source['media_type']};base64,{source['data']}")
        for source in (image["source"] for image in answer.images)
    ]
    return [ToolOutputText(text=answer.text), *images]
