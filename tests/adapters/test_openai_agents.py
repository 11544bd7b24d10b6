"""The OpenAI Agents SDK with our tool, and a scripted model behind its own client."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, OpenAIProvider, RunConfig, Runner
from agents.tool_context import ToolContext
from openai import AsyncOpenAI

from memoranda.adapters.openai_agents import MemoryTool
from memoranda.async_memory import AsyncMemory
from memoranda.testing.conformance.malformed import FILE
from tests.adapters.hostile import NO_JSON, OBJECTS, as_the_memory_answers
from tests.adapters.other_models import OtherModels, Raw, Said, Script, Seen

ANSWERED = [None, {"command": "view"}, {"command": "view", "path": "/memories/none"}]
CREATE = {"command": "create", "path": FILE, "file_text": "a\nb\n"}


def run(tool: MemoryTool, script: Script, *, chat: bool = False) -> tuple[str, list[Seen]]:
    """What the agent says in the end, and what its model saw."""

    async def go(url: str) -> str:
        # The provider's own client would be shared by event loops of which all but one are closed.
        async with AsyncOpenAI(base_url=url, api_key="any") as client:
            provider = OpenAIProvider(openai_client=client, use_responses=not chat)
            settings = RunConfig(model_provider=provider, tracing_disabled=True)
            agent = Agent(name="A", instructions=tool.prompt, tools=[tool], model="gpt-test")
            result = await Runner.run(agent, "Go.", run_config=settings, max_turns=500)
            return str(result.final_output)

    with OtherModels(script) as models:
        return asyncio.run(go(models.openai_url)), models.seen


def in_turn(*turns: Any) -> Script:
    """Says these one after the other, at last what it saw last."""
    left: list[Said] = list(turns)
    return lambda seen: left.pop(0) if left else f"Seen: {seen.result}"


@pytest.mark.parametrize("chat", [False, True], ids=["responses", "chat"])
def test_what_one_run_noted_the_next_one_reads(tmp_path: Path, chat: bool) -> None:
    first, second = MemoryTool(tmp_path, user="ada"), MemoryTool(tmp_path, user="ada")
    run(first, in_turn(CREATE), chat=chat)
    asyncio.run(first.close())
    said, seen = run(second, in_turn({"command": "view", "path": FILE}), chat=chat)
    assert said.endswith("     1\ta\n     2\tb")
    asyncio.run(second.close())
    instructions = seen[0].body["messages"][0]["content"] if chat else seen[0].body["instructions"]
    assert "outlasts this conversation" in instructions
    (tool,) = seen[0].body["tools"]
    assert (tool["function"] if chat else tool)["strict"] is True


def invoke(tool: MemoryTool, *calls: str) -> list[Any]:
    """What the tool gives back to the SDK for these calls."""

    async def go() -> list[Any]:
        outputs: list[Any] = []
        for arguments in calls:
            context = ToolContext[None](
                context=None, tool_name="memory", tool_call_id="call_1", tool_arguments=arguments
            )
            outputs.append(await tool.on_invoke_tool(context, arguments))
        return outputs

    return asyncio.run(go())


def test_whatever_a_model_sends_is_answered_as_the_memory_answers_it() -> None:
    inputs: list[Any] = [*OBJECTS, *NO_JSON]
    calls = [json.dumps(one) if isinstance(one, dict) else one for one in inputs]
    outputs = invoke(MemoryTool("memory:"), json.dumps(CREATE), *calls)
    assert outputs[1:] == [text for text, _ in as_the_memory_answers(inputs)]


def test_wrong_calls_reach_a_model_as_answers_and_the_run_goes_on() -> None:
    wrong = [
        Raw(""),
        Raw("{"),
        Raw("[]"),
        {"command": "view"},
        {"command": "view", "path": "/memories/none"},
    ]
    said, seen = run(MemoryTool("memory:"), in_turn(*wrong))
    no_command, no_path, missing = (text for text, _ in as_the_memory_answers(ANSWERED))
    assert [one.result for one in seen[1:]] == [no_command] * 3 + [no_path, missing]
    assert said == f"Seen: {missing}"


def test_a_picture_is_an_image_of_the_output() -> None:
    memory = AsyncMemory.open("memory:")
    asyncio.run(memory.write("/memories/p.png", b"\x89PNG\r\n\x1a\n" + bytes(8)))
    tool = MemoryTool(memory)
    assert tool.memory is memory
    (shown,) = invoke(tool, '{"command": "view", "path": "/memories/p.png"}')
    text, image = shown
    assert text.text == "Here's the image /memories/p.png:"
    assert image.image_url.startswith("data:image/png;base64,iVBOR")


def test_a_copy_has_the_same_memory_and_a_call_its_id_in_the_history() -> None:
    tool = MemoryTool("memory:")
    said, _ = run(copy.copy(tool), in_turn(CREATE))
    assert said == f"Seen: File created successfully at: {FILE}"
    history = asyncio.run(tool.memory.history())
    assert [version.trace_id for version in history] == ["call_1"]
