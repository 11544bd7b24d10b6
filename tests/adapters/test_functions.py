"""A memory as a function: what providers are told, and what goes back to their models."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from google.genai import types as gemini
from openai import OpenAI
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from memoranda.adapters.functions import AsyncMemoryFunction, FunctionAnswer, MemoryFunction
from memoranda.async_memory import AsyncMemory
from memoranda.errors import Misuse
from memoranda.memory import Memory
from memoranda.policies.audit import Auditing
from memoranda.policies.policy import Policy
from memoranda.testing.conformance.malformed import FILE
from tests.adapters.hostile import NO_JSON, OBJECTS, as_the_memory_answers
from tests.adapters.other_models import OtherModels, Raw, Said, Seen

CREATE = {"command": "create", "path": FILE, "file_text": "a\nb\n"}
VIEW = {"command": "view", "path": FILE}
NO_COMMAND = (
    "Error: Missing required parameter `command`: "
    "one of view, create, str_replace, insert, delete, rename"
)


def answers(kind: Any, arguments: list[Any], **settings: Any) -> list[FunctionAnswer]:
    """What either colour answers to calls, one after the other, over an empty memory."""
    if kind is MemoryFunction:
        with MemoryFunction("memory:", **settings) as memory:
            return [memory.call("memory", one) for one in arguments]

    async def go() -> list[FunctionAnswer]:
        async with AsyncMemoryFunction("memory:", **settings) as memory:
            return [await memory.call("memory", one) for one in arguments]

    return asyncio.run(go())


@pytest.fixture(params=[MemoryFunction, AsyncMemoryFunction], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


# ---------------------------------------------------------------- what providers are told


def test_openais_types_take_the_tools() -> None:
    with MemoryFunction("memory:") as memory:
        for strict in (True, False):
            responses, chat = (
                memory.openai_tool(strict=strict),
                memory.openai_chat_tool(strict=strict),
            )
            assert TypeAdapter(FunctionToolParam).validate_python(responses) == responses
            assert TypeAdapter(ChatCompletionFunctionToolParam).validate_python(chat) == chat
            schema = memory.strict_schema if strict else memory.input_schema
            assert responses["parameters"] == chat["function"]["parameters"] == schema


def test_geminis_types_take_the_declaration_in_its_dialect() -> None:
    with MemoryFunction("memory:") as memory:
        declared = gemini.FunctionDeclaration.model_validate(memory.gemini_declaration())
    assert declared.parameters is not None
    assert declared.parameters.properties is not None
    assert declared.parameters.required == ["command"]
    assert set(declared.parameters.properties) == set(memory.input_schema["properties"])
    ranges = declared.parameters.properties["view_range"]
    assert ranges.type is gemini.Type.ARRAY
    assert ranges.items is not None
    assert ranges.items.type is gemini.Type.INTEGER
    # What is no field of the dialect would be refused by the API.
    assert "additionalProperties" not in json.dumps(memory.gemini_declaration())


def test_claudes_api_takes_the_custom_tool() -> None:
    from memoranda.testing.messages_checks import check_tools

    with MemoryFunction("memory:", commands=["view"]) as memory:
        tool = memory.anthropic_tool()
    check_tools([tool], {"type": "tool", "name": "memory"})
    assert tool["input_schema"]["properties"].keys() == {"command", "path", "view_range"}


# ---------------------------------------------------------------- what goes back


def test_arguments_may_be_an_object_its_json_or_a_mapping(kind: Any) -> None:
    made, text, read, mapped = answers(
        kind,
        [CREATE, json.dumps(VIEW), json.dumps(VIEW).encode(), MappingProxyType(VIEW)],
    )
    assert made == FunctionAnswer(f"File created successfully at: {FILE}")
    assert text.text.endswith("     1\ta\n     2\tb")
    assert text == read == mapped


def test_nulls_of_strict_mode_count_as_left_out(kind: Any) -> None:
    names = MemoryFunction("memory:").strict_schema["required"]
    inputs = [{**dict.fromkeys(names), **raw} for raw in (CREATE, VIEW)]
    made, seen = answers(kind, inputs)
    assert not made.is_error
    assert seen.text.endswith("     1\ta\n     2\tb")


def test_whatever_a_model_sends_is_answered_as_the_memory_answers_it(kind: Any) -> None:
    inputs = [CREATE, *OBJECTS, *NO_JSON, None, 7, [VIEW]]
    said = answers(kind, inputs)
    assert [(one.text, one.is_error) for one in said[1:]] == as_the_memory_answers(inputs[1:])


def test_broken_json_changes_nothing_and_says_what_is_missing() -> None:
    _, broken, seen = answers(MemoryFunction, [CREATE, json.dumps(VIEW)[:-1], VIEW])
    assert broken == FunctionAnswer(NO_COMMAND, True)
    assert not seen.is_error


@pytest.mark.parametrize("name", ["Memory", "", None, 5, "memory "])
def test_another_functions_name_is_refused_and_nothing_done(name: Any) -> None:
    with MemoryFunction("memory:") as memory:
        answer = memory.call(name, CREATE)
        assert answer.is_error
        assert answer.text.startswith("Error: unknown command")
        assert memory.memory.list() == ()


def test_a_command_that_is_not_offered_is_unknown_and_the_refusal_is_audited() -> None:
    with Memory.open("memory:offered", policy=Policy(audit=Auditing(reads="strict"))) as memory:
        memory.write(FILE, "a\n")
        function = MemoryFunction(memory, commands=["view"])
        answer = function.call("memory", {"command": "delete", "path": FILE})
        assert answer == FunctionAnswer("Error: unknown command delete", True)
        assert not function.call("memory", VIEW).is_error
        assert memory.read(FILE).content == b"a\n"
        assert [entry.outcome for entry in memory.audit()] == ["ok", "unknown_command", "ok", "ok"]


def test_a_picture_comes_apart_from_the_text() -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(16)
    with Memory.open("memory:") as memory:
        memory.write("/memories/p.png", png)
        function = MemoryFunction(memory)
        answer = function.call("memory", {"command": "view", "path": "/memories/p.png"})
    assert answer.text == "Here's the image /memories/p.png:"
    (image,) = answer.images
    assert base64.b64decode(image["source"]["data"]) == png


def test_the_id_of_a_call_stands_in_the_history() -> None:
    with MemoryFunction("memory:") as memory:
        memory.call("memory", CREATE, call_id="call_7")
        memory.call("memory", VIEW, call_id=7)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        assert [version.trace_id for version in memory.memory.history()] == ["call_7"]


def test_a_memory_that_the_program_closed_is_an_answer(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def close() -> FunctionAnswer:
        memory = AsyncMemory.open("memory:")
        await memory.close()
        return await AsyncMemoryFunction(memory).call("memory", VIEW)

    with caplog.at_level(logging.CRITICAL):
        if kind is MemoryFunction:
            memory = Memory.open("memory:")
            memory.close()
            answer = MemoryFunction(memory).call("memory", VIEW)
        else:
            answer = asyncio.run(close())
    assert answer == FunctionAnswer(
        "Error: The memory is unavailable right now. Try again later.", True
    )


def test_a_closed_function_opens_its_memory_anew(tmp_path: Path) -> None:
    memory = MemoryFunction(tmp_path / "m")
    memory.call("memory", CREATE)
    memory.close()
    memory.close()
    assert not memory.call("memory", VIEW).is_error
    memory.close()
    other = AsyncMemoryFunction(tmp_path / "m")

    async def again() -> bool:
        seen = await other.call("memory", VIEW)
        await other.close()
        await other.close()
        return seen.is_error

    assert asyncio.run(again()) is False
    assert isinstance(other.memory, AsyncMemory)
    asyncio.run(other.close())


def test_settings_belong_to_a_memory_that_is_opened_here() -> None:
    with Memory.open("memory:") as memory, pytest.raises(Misuse, match="has its own user"):
        MemoryFunction(memory, user="ada")
    with pytest.raises(Misuse, match="one or more of"):
        MemoryFunction("memory:", commands=["sing"])  # type: ignore[list-item] # pyright: ignore[reportArgumentType]


# ---------------------------------------------------------------- through a real client


def test_a_failed_command_reaches_a_model_as_an_error_and_it_goes_on() -> None:
    def script(seen: Seen) -> Said:
        match len(models.seen):
            case 1:
                return Raw('{"command": "view"')
            case 2:
                return {"command": "str_replace", "path": FILE, "old_str": "x", "new_str": None}
            case 3:
                return Raw("{}", name="remember")
            case _:
                return f"It said: {seen.result}"

    with (
        OtherModels(script) as models,
        MemoryFunction("memory:") as memory,
        OpenAI(base_url=models.openai_url, api_key="any") as client,
    ):
        items: list[Any] = [{"role": "user", "content": "Go."}]
        while True:
            response = client.responses.create(
                model="gpt-test",
                instructions=memory.prompt,
                input=items,
                tools=[memory.openai_tool()],  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
            )
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            for call in calls:
                answer = memory.call(call.name, call.arguments, call_id=call.call_id)
                output = {"call_id": call.call_id, "output": answer.text}
                items += [call, {"type": "function_call_output", **output}]
        assert response.output_text == "It said: Error: unknown command remember"
        assert [seen.result for seen in models.seen[1:3]] == [
            NO_COMMAND,
            f"Error: The path {FILE} does not exist. Please provide a valid path.",
        ]
        assert models.seen[0].body["instructions"] == memory.prompt
