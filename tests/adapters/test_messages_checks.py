"""What the scripted API refuses, as the real one would, and that it says why."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from memoranda.testing.messages_api import ScriptedMessagesAPI
from tests.adapters.raw_http import (
    CREATE,
    MEMORY,
    THREADS,
    assistant,
    call,
    request_body,
    result,
    send,
    user,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 16).decode()
SEARCH = {"name": "search", "input_schema": {"type": "object"}}


@pytest.fixture
def url() -> Iterator[str]:
    with ScriptedMessagesAPI(lambda received: f"Answer {received.number}.") as api:
        yield api.url


def image(data: Any = PNG, media_type: str = "image/png", **source: Any) -> dict[str, Any]:
    fields = {"type": "base64", "media_type": media_type, "data": data, **source}
    return {"type": "image", "source": fields}


ASKED = [user("Hello"), assistant([call("a"), call("b")])]

ACCEPTED = {
    "a plain text": request_body(),
    "no tools": request_body(tools=None),
    "a system prompt": request_body(system="Be short."),
    "a system prompt of blocks": request_body(system=[{"type": "text", "text": "Be short."}]),
    "results in another order": request_body(*ASKED, user([result("b"), result("a")])),
    "words after the results": request_body(
        *ASKED, user([result("a"), result("b"), {"type": "text", "text": "Go on."}])
    ),
    "a result without content": request_body(
        *ASKED, user([{"type": "tool_result", "tool_use_id": "a"}, result("b")])
    ),
    "an empty result": request_body(*ASKED, user([result("a", ""), result("b")])),
    "an image in a result": request_body(*ASKED, user([result("a", [image()]), result("b")])),
    "an image by address": request_body(user([{"type": "image", "source": {"type": "url"}}])),
    "an error of text blocks": request_body(
        *ASKED, user([result("a", [{"type": "text", "text": "No."}], is_error=True), result("b")])
    ),
    "a thinking block": request_body(
        user("Hello"),
        assistant([{"type": "thinking", "thinking": "", "signature": "x"}]),
        user("?"),
    ),
    "the whole memory tool": request_body(
        tools=[
            {
                **MEMORY,
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
                "defer_loading": True,
                "strict": False,
                "allowed_callers": ["direct", "code_execution_20260120"],
                "input_examples": [{"command": "view", "path": "/memories"}],
            }
        ]
    ),
    "another tool": request_body(tools=[MEMORY, SEARCH], tool_choice={"type": "any"}),
    "a chosen tool": request_body(tool_choice={"type": "tool", "name": "memory"}),
    "a server tool": request_body(tools=[{"type": "web_search_20260318", "name": "web_search"}]),
    "a toolset": request_body(tools=[{"type": "browser_toolset_20260801"}]),
}

REFUSED: dict[str, tuple[Any, str]] = {
    "body": ([], "should be an object"),
    "model": (request_body(model=None), "model: Field required."),
    "empty model": (request_body(model=""), "model: Input should be a non-empty string."),
    "max_tokens": (request_body(max_tokens=None), "max_tokens: Field required."),
    "max_tokens -1": (request_body(max_tokens=-1), "max_tokens: Input should be an integer"),
    "max_tokens true": (request_body(max_tokens=True), "max_tokens: Input should be an integer"),
    "no messages": ({"model": "m", "max_tokens": 1}, "messages: Field required."),
    "messages text": (request_body(messages="Hi"), "messages: Input should be a list."),
    "empty messages": (request_body(messages=[]), "messages: At least one message is required."),
    "stream": (request_body(stream="yes"), "stream: Input should be true or false."),
    "unknown field": (request_body(colour="red"), "colour: Extra inputs are not permitted."),
    "thread without beta": (request_body(thread=CREATE), "thread: Extra inputs are not permitted."),
    "system block": (
        request_body(system=[image()]),
        "system.0.type: This kind of block is not taken here.",
    ),
    "message": (request_body(messages=["Hi"]), "messages.0: Input should be an object."),
    "role": (
        request_body({"role": "tool", "content": "Hi"}),
        "messages.0.role: Input should be one of user, assistant.",
    ),
    "message field": (
        request_body({**user("Hi"), "name": "Bo"}),
        "messages.0.name: Extra inputs are not permitted.",
    ),
    "empty text": (request_body(user("")), "messages.0.content: The text must not be empty."),
    "empty content": (request_body(user([])), "messages.0.content: The content must not be empty."),
    "content": (request_body(user(7)), "messages.0.content: Input should be a text or a list"),
    "block": (request_body(user(["Hi"])), "messages.0.content.0: Input should be an object."),
    "empty block": (
        request_body(user([{"type": "text", "text": ""}])),
        "messages.0.content.0.text.text: The text must not be empty.",
    ),
    "kind of block": (
        request_body(user([call("a")])),
        "messages.0.content.0.type: This kind of block is not taken here.",
    ),
    "assistant first": (request_body(assistant("Hi")), "messages.0: The first message must be"),
    "assistant last": (
        request_body(user("Hi"), assistant("I say")),
        "messages: The conversation must end with a user message.",
    ),
    "two of the user": (
        request_body(user("Hi"), user("Ho")),
        "messages.1: Roles must alternate, but two user messages meet here.",
    ),
    "two of the assistant": (
        request_body(user("Hi"), assistant("Ho"), assistant("Hu"), user("?")),
        "messages.2: Roles must alternate, but two assistant messages meet here.",
    ),
    "no result": (
        request_body(*ASKED, user("Well?")),
        "messages.2: `tool_use` blocks without a `tool_result` in the next message: a, b.",
    ),
    "one result of two": (
        request_body(*ASKED, user([result("b")])),
        "messages.2: `tool_use` blocks without a `tool_result` in the next message: a.",
    ),
    "a stray result": (
        request_body(*ASKED, user([result("a"), result("b"), result("c")])),
        "messages.2: The `tool_result` for 'c' answers no `tool_use` block",
    ),
    "a late result": (
        request_body(
            *ASKED, user([result("a"), result("b")]), assistant("So."), user([result("a")])
        ),
        "messages.4: The `tool_result` for 'a' answers no `tool_use` block",
    ),
    "a double result": (
        request_body(*ASKED, user([result("a"), result("b"), result("a")])),
        "messages.2: A `tool_use` block must have one `tool_result` only.",
    ),
    "words before the results": (
        request_body(*ASKED, user([{"type": "text", "text": "Here."}, result("a"), result("b")])),
        "messages.2: `tool_result` blocks must come first in a message.",
    ),
    "a double call": (
        request_body(user("Hi"), assistant([call("a"), call("a")]), user([result("a")])),
        "messages.1: The ids of `tool_use` blocks must be unique.",
    ),
    "a repeated call": (
        request_body(
            user("Hi"),
            assistant([call("a")]),
            user([result("a")]),
            assistant([call("a")]),
            user([result("a")]),
        ),
        "messages.3: The ids of `tool_use` blocks must be unique.",
    ),
    "call without id": (
        request_body(user("Hi"), assistant([{**call("a"), "id": ""}])),
        "messages.1.content.0.tool_use.id: Input should be a non-empty string.",
    ),
    "call with a list": (
        request_body(user("Hi"), assistant([{**call("a"), "input": []}])),
        "messages.1.content.0.tool_use.input: Input should be an object.",
    ),
    "result without id": (
        request_body(*ASKED, user([{"type": "tool_result", "content": "Hi"}])),
        "messages.2.content.0.tool_result.tool_use_id: Field required.",
    ),
    "is_error": (
        request_body(*ASKED, user([result("a", is_error=1)])),
        "messages.2.content.0.tool_result.is_error: Input should be true or false.",
    ),
    "result field": (
        request_body(*ASKED, user([result("a", name="memory")])),
        "messages.2.content.0.tool_result.name: Extra inputs are not permitted.",
    ),
    "null result": (
        request_body(*ASKED, user([result("a", None)])),
        "messages.2.content.0.tool_result.content: Input should be a text or a list",
    ),
    "an image in an error": (
        request_body(*ASKED, user([result("a", [image()], is_error=True)])),
        "messages.2.content.0.tool_result.content.0.type: This kind of block is not taken here.",
    ),
    "image source": (
        request_body(user([{"type": "image", "source": "x"}])),
        "messages.0.content.0.image.source: Input should be an object.",
    ),
    "image kind": (
        request_body(user([image(media_type="image/bmp")])),
        "messages.0.content.0.image.source.media_type: Input should be one of",
    ),
    "image data": (
        request_body(user([image(data="%%%%")])),
        "messages.0.content.0.image.source.data: Input should be base64.",
    ),
    "image number": (
        request_body(user([image(data=5)])),
        "messages.0.content.0.image.source.data: Input should be a string.",
    ),
    "other image": (
        request_body(user([image(media_type="image/jpeg")])),
        "messages.0.content.0.image.source: The data is not an image of the given media type.",
    ),
    "large image": (
        request_body(user([image(data=PNG + "A" * (5 * 1024 * 1024))])),
        "messages.0.content.0.image.source.base64: The image has 5242912 bytes, more than 5242880.",
    ),
    "tools": (request_body(tools={}), "tools: Input should be a list."),
    "tool": (request_body(tools=["memory"]), "tools.0: Input should be an object."),
    "tool type": (request_body(tools=[{"type": 1}]), "tools.0.type: Input should be a string."),
    "tool name": (
        request_body(tools=[{**SEARCH, "name": "a b"}]),
        "tools.0.name: Input should be 1 to 128 letters, digits, '_' or '-'.",
    ),
    "tool schema": (
        request_body(tools=[{"name": "search"}]),
        "tools.0.input_schema: Input should be a JSON schema of an object.",
    ),
    "two memories": (request_body(tools=[MEMORY, MEMORY]), "tools: Tool names must be unique."),
    "chosen tool": (
        request_body(tool_choice={"type": "tool", "name": "search"}),
        "tool_choice.name: No tool has this name.",
    ),
    "memory version": (
        request_body(tools=[{**MEMORY, "type": "memory_20240101"}]),
        "tools.0.type: Input should be 'memory_20250818'.",
    ),
    "memory name": (
        request_body(tools=[{**MEMORY, "name": "notes"}]),
        "tools.0.name: Input should be 'memory'.",
    ),
    "memory field": (
        request_body(tools=[{**MEMORY, "description": "Notes"}]),
        "tools.0.description: Extra inputs are not permitted.",
    ),
    "memory strict": (
        request_body(tools=[{**MEMORY, "strict": "yes"}]),
        "tools.0.strict: Input should be true or false.",
    ),
    "memory cache_control": (
        request_body(tools=[{**MEMORY, "cache_control": {"type": "forever"}}]),
        'tools.0.cache_control: Input should be {"type": "ephemeral", ...}.',
    ),
    "memory callers": (
        request_body(tools=[{**MEMORY, "allowed_callers": ["anyone"]}]),
        "tools.0.allowed_callers: Input should be a list of callers.",
    ),
    "memory examples": (
        request_body(tools=[{**MEMORY, "input_examples": ["view"]}]),
        "tools.0.input_examples: Input should be a list of objects.",
    ),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_good_request_is_answered(url: str, body: dict[str, Any]) -> None:
    answer = send(url, body)
    assert (answer.status, answer.body["content"][0]["text"]) == (200, "Answer 1.")


@pytest.mark.parametrize(("body", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_a_bad_request_is_refused_with_the_reason(url: str, body: dict[str, Any], why: str) -> None:
    answer = send(url, body)
    assert answer.status == 400
    assert answer.body["type"] == "error"
    assert answer.body["error"]["type"] == "invalid_request_error"
    assert why in answer.error


@pytest.mark.parametrize(
    "thread",
    [
        "create",
        {"type": "create", "id": "x"},
        {"type": "continue"},
        {"type": "continue", "previous_message_id": 1},
        {"type": "continue", "previous_message_id": "msg_1", "more": 1},
    ],
)
def test_a_thread_of_another_shape_is_refused(url: str, thread: Any) -> None:
    answer = send(url, request_body(thread=thread), THREADS)
    assert answer.status == 400
    assert answer.error.startswith("thread: Input should be")


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"\xff",
        b'{"model": NaN}',
        b'{"model": "\\ud800"}',
        b"[" * 100_000,
    ],
)
def test_a_body_that_is_no_json_is_refused(url: str, raw: bytes) -> None:
    answer = send(url, raw)
    assert (answer.status, answer.error) == (400, "The request body is not valid JSON.")


def test_neighbours_of_one_role_are_joined_where_the_api_is_asked_to_do_so() -> None:
    body = request_body(*ASKED, user([result("a")]), user([result("b")]))
    with ScriptedMessagesAPI(lambda received: "Fine.", alternate_roles=False) as api:
        assert send(api.url, body).status == 200


def test_system_messages_are_taken_with_their_beta_only() -> None:
    removal = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "memory"}}
    body = request_body(user("Hi"), {"role": "system", "content": [removal]})
    with ScriptedMessagesAPI(lambda received: "Fine.") as api:
        assert send(api.url, body).status == 400
        with_beta = {"anthropic-beta": "other-beta, inline-tools-2026-09-15"}
        assert send(api.url, body, with_beta).status == 200
