"""A memory for agents of LangChain, with Claude's native memory tool where the model is Claude.

    agent = create_agent("anthropic:claude-sonnet-5-5", middleware=[MemoryMiddleware("./memory", user="acme-corp")])

For deepagents there is ``memoranda.adapters.deepagents`` too.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from memoranda import protocol
from memoranda.adapters.functions import FunctionAnswer, MemoryFunction
from memoranda.drive import run_in_thread
from memoranda.memory import Memory
from memoranda.protocol import COMMANDS, CommandName

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import SystemMessage, ToolMessage
    from langchain_core.tools import StructuredTool
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.langchain needs LangChain, version 1.5 or later: "
        "install memoranda[langchain]."
    ) from error

if TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest
    from langchain.tools.tool_node import ToolCallRequest

    from memoranda.policies.policy import Policy

_CLAUDE: Final = "anthropic-chat"
"""What ``ChatAnthropic`` says it is."""

_NATIVE: Final = {"type": "memory_20250818", "name": protocol.NAME}


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """One user's memory for ``create_agent``: Claude's native memory tool for ``ChatAnthropic``, a
    function tool and a prompt for every other model.

    ``base_path`` is a folder, any URL that ``Memory.open`` takes, or a ``Memory`` that the
    application opened and keeps; ``user``, ``policy`` and ``actor`` as there. ``commands`` are the
    ones that are offered. ``native`` says whether models know Claude's tool, for classes other than
    ``ChatAnthropic`` that do. Works in ``invoke`` and in ``ainvoke``, where each command takes a
    thread of the running loop's executor. May be shared by agents and threads.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | Memory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        commands: Iterable[CommandName] = COMMANDS,
        native: bool | None = None,
    ) -> None:
        super().__init__()
        self._function = MemoryFunction(
            base_path, user=user, policy=policy, actor=actor, commands=commands
        )
        self._native = native
        # What the model is told; calls are answered in wrap_tool_call, before any check of theirs.
        self.tools = [
            StructuredTool(
                name=self._function.name,
                description=self._function.description,
                args_schema=self._function.input_schema,
                func=self._run,
            )
        ]

    @property
    def memory(self) -> Memory:
        """The memory behind the tool, for what the model doesn't do: history, restore, search."""
        return self._function.memory

    def close(self) -> None:
        """Let go of a memory that the middleware opened; the next call opens it anew."""
        self._function.close()

    # ---- what the model is told

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Any:
        """Ask the model, with the tool in the form that it knows."""
        return handler(self._told(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """``wrap_model_call``, awaited."""
        return await handler(self._told(request))

    def _told(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        native = self._native
        if native is None:
            # A private name, but LangChain's own way to tell models apart.
            native = request.model._llm_type == _CLAUDE  # pyright: ignore[reportPrivateUsage]
        if native:
            others = [
                tool for tool in request.tools if getattr(tool, "name", None) != protocol.NAME
            ]
            return request.override(tools=[*others, dict(_NATIVE)])
        before: list[Any] = []
        if request.system_message is not None:
            before = [*request.system_message.content_blocks]
        prompt = {"type": "text", "text": self._function.prompt}
        return request.override(system_message=SystemMessage(content=[*before, prompt]))

    # ---- what the model does

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        """Answer a call of the memory; other tools are passed on."""
        call = request.tool_call
        if call["name"] != protocol.NAME:
            return handler(request)
        return _message(self._answer(call), call)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """``wrap_tool_call``, awaited."""
        call = request.tool_call
        if call["name"] != protocol.NAME:
            return await handler(request)

        async def answer() -> FunctionAnswer:
            return self._answer(call)

        return _message(await run_in_thread(answer()), call)

    def _answer(self, call: Any) -> FunctionAnswer:
        return self._function.call(protocol.NAME, call.get("args"), call_id=call.get("id"))

    def _run(self, **arguments: Any) -> str:
        """The tool itself, where somebody runs it without the middleware."""
        return self._function.call(protocol.NAME, arguments).text


def _message(answer: FunctionAnswer, call: Any) -> ToolMessage:
    content: str | list[Any] = answer.text
    if answer.images:
        pictures = [
            {"type": "image", "base64": source["data"], "mime_type": source["media_type"]}
            for source in (image["source"] for image in answer.images)
        ]
        content = [{"type": "text", "text": answer.text}, *pictures]
    return ToolMessage(
        content=content,
        name=protocol.NAME,
        tool_call_id=call["id"] or "",
        status="error" if answer.is_error else "success",
    )
