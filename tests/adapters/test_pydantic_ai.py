"""Pydantic AI with our toolset and capability: Claude's native tool, and functions elsewhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from pydantic_ai import (
    Agent,
    BinaryContent,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UsageLimits,
)
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from memoranda.adapters.pydantic_ai import MemoryCapability, MemoryToolset
from memoranda.testing.conformance.malformed import FILE
from memoranda.testing.messages_api import ScriptedMessagesAPI, Step, use_memory
from tests.adapters.hostile import NO_JSON, OBJECTS, as_the_memory_answers, through_json

CREATE = {"command": "create", "path": FILE, "file_text": "a\nb\n"}
VIEW = {"command": "view", "path": FILE}


def in_turn(turns: list[Any], seen: list[AgentInfo] | None = None) -> FunctionModel:
    """A model of another provider that makes these calls, one a turn, and then stops."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if seen is not None:
            seen.append(info)
        done = sum(isinstance(message, ModelResponse) for message in messages)
        if done == len(turns):
            return ModelResponse([TextPart("Done.")])
        return ModelResponse([ToolCallPart("memory", turns[done], tool_call_id=f"call_{done}")])

    return FunctionModel(reply, profile={"supported_native_tools": frozenset()})


def with_claude(agent: Agent, api: ScriptedMessagesAPI) -> str:
    """What the agent says in the end, with Claude as its model."""

    async def go() -> str:
        async with AsyncAnthropic(base_url=api.url, api_key="any") as client:
            provider = AnthropicProvider(anthropic_client=client)
            model = AnthropicModel("claude-sonnet-5-5", provider=provider)
            return (await agent.run("Go.", model=model)).output

    return asyncio.run(go())


def results(agent: Agent, model: FunctionModel) -> list[Any]:
    """The results of the tool, as the framework keeps them."""
    limits = UsageLimits(request_limit=None)
    run = asyncio.run(agent.run("Go.", model=model, usage_limits=limits))
    parts = [part for message in run.all_messages() for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


def test_claude_gets_its_native_tool_and_no_prompt_of_ours(tmp_path: Path) -> None:
    memory = MemoryCapability(tmp_path, user="ada")
    agent = Agent(capabilities=[memory])
    script: list[Step] = [use_memory("create", path=FILE, file_text="a\n"), "Noted."]
    with ScriptedMessagesAPI(script) as api:
        assert with_claude(agent, api) == "Noted."
        assert api.requests[0].tools == ({"type": "memory_20250818", "name": "memory"},)
        assert api.requests[0].system is None
    asyncio.run(memory.close())
    script = [use_memory("view", path=FILE), lambda received: received.result.text]
    with ScriptedMessagesAPI(script) as api:
        again = Agent(capabilities=[MemoryCapability(tmp_path, user="ada")])
        assert with_claude(again, api).endswith("     1\ta")


def test_a_failed_command_reaches_claude_as_an_error(tmp_path: Path) -> None:
    agent = Agent(capabilities=[MemoryCapability(tmp_path)])
    script: list[Step] = [[use_memory("delete", path=FILE), use_memory("view")], "I see."]
    with ScriptedMessagesAPI(script) as api:
        with_claude(agent, api)
        failed, wrong = api.requests[1].results
    assert failed.is_error
    assert wrong.is_error
    assert f"Error: The path {FILE} does not exist" in failed.text
    assert "Missing required parameter `path`" in wrong.text


@pytest.mark.parametrize(
    "extras",
    [
        lambda: {"capabilities": [MemoryCapability("memory:")]},
        lambda: {"toolsets": [MemoryToolset("memory:")]},
    ],
    ids=["capability", "toolset"],
)
def test_other_models_get_a_function_and_the_prompt(extras: Callable[[], Any]) -> None:
    seen: list[AgentInfo] = []
    made, shown = results(Agent(**extras()), in_turn([CREATE, VIEW], seen))
    assert made.content == f"File created successfully at: {FILE}"
    assert shown.content.endswith("     1\ta\n     2\tb")
    (tool,) = seen[0].function_tools
    assert tool.name == "memory"
    assert "str_replace" in tool.parameters_json_schema["properties"]["command"]["enum"]
    assert seen[0].instructions is not None
    assert "outlasts this conversation" in seen[0].instructions


def test_the_prompt_can_be_left_out() -> None:
    seen: list[AgentInfo] = []
    results(Agent(toolsets=[MemoryToolset("memory:", instructions=False)]), in_turn([], seen))
    assert seen[0].instructions is None


def test_whatever_a_model_sends_is_answered_as_the_memory_answers_it() -> None:
    # Each turn sends all turns before it again: a part of them is enough.
    inputs = [*map(through_json, OBJECTS[::4]), *NO_JSON[:-1]]
    turns = [json.dumps(one) if isinstance(one, dict) else one for one in inputs]
    agent = Agent(toolsets=[MemoryToolset("memory:")])
    found = results(agent, in_turn([CREATE, *turns]))[1:]
    expected = as_the_memory_answers(inputs)
    assert [(part.content, part.outcome == "failed") for part in found] == expected


def test_a_picture_is_binary_content() -> None:
    toolset = MemoryToolset("memory:", id="pictures")
    assert toolset.id == "pictures"
    asyncio.run(toolset.memory.write("/memories/p.png", b"\x89PNG\r\n\x1a\n" + bytes(8)))
    view = {"command": "view", "path": "/memories/p.png"}
    (shown,) = results(Agent(toolsets=[toolset]), in_turn([json.dumps(view)]))
    text, picture = shown.content
    assert text == "Here's the image /memories/p.png:"
    assert isinstance(picture, BinaryContent)
    assert picture.media_type == "image/png"


def test_calls_leave_their_ids_in_the_history() -> None:
    toolset = MemoryToolset("memory:")
    (made,) = results(Agent(toolsets=[toolset]), in_turn([CREATE]))
    assert made.outcome == "success"
    history = asyncio.run(toolset.memory.history())
    assert [version.trace_id for version in history] == ["call_0"]
