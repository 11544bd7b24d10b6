"""The scripted API: plays, fails, streams and remembers, for the real SDK over real HTTP."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from anthropic import (
    Anthropic,
    APIConnectionError,
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    RateLimitError,
    beta_tool,
)

from memoranda.testing.messages_api import (
    Failure,
    Received,
    Reply,
    ScriptedMessagesAPI,
    Step,
    overloaded,
    rate_limited,
    server_error,
    text,
    tool_use,
)
from tests.adapters.raw_http import HEADERS, assistant, call, request_body, result, send, user


@beta_tool
def echo(words: str) -> str:
    """Say it back."""
    return f"Echo: {words}"


def ask(api: ScriptedMessagesAPI, **options: Any) -> str:
    """What Claude says to a hello, asked through the SDK without tools."""
    with Anthropic(base_url=api.url, api_key="test", **options) as client:
        message = client.messages.create(
            model="claude-test", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
        )
    (block,) = message.content
    assert block.type == "text"
    return block.text


def run(api: ScriptedMessagesAPI, **options: Any) -> Any:
    """The last message of the SDK's tool runner with the tool ``echo``."""
    with Anthropic(base_url=api.url, api_key="test") as client:
        make_runner: Any = client.beta.messages.tool_runner
        return make_runner(
            model="claude-test",
            max_tokens=100,
            tools=[echo],
            messages=[{"role": "user", "content": "Hello"}],
            **options,
        ).until_done()


# ---------------------------------------------------------------- playing


def test_every_kind_of_step_makes_a_turn() -> None:
    steps: list[Step] = [
        "a text",
        text("a block"),
        [text("blocks")],
        Reply("a reply"),
        lambda received: f"request {received.number}",
    ]
    with ScriptedMessagesAPI(steps) as api:
        said = [ask(api) for _ in steps]
        assert api.finished
    assert said == ["a text", "a block", "blocks", "a reply", "request 5"]


def test_a_function_makes_every_turn() -> None:
    with ScriptedMessagesAPI(lambda received: received.text.upper()) as api:
        assert [ask(api), ask(api)] == ["HELLO", "HELLO"]
        assert not api.finished


def test_a_request_beyond_the_script_is_refused() -> None:
    with ScriptedMessagesAPI(["Only this."]) as api:
        ask(api)
        with pytest.raises(BadRequestError, match=r"The script is over: it has 1 turns\."):
            ask(api)


def test_what_a_script_raises_comes_out_of_the_with_block() -> None:
    def wrong(received: Received) -> str:
        raise AssertionError(f"did not expect {received.text}")

    with (
        pytest.raises(AssertionError, match="did not expect Hello"),
        ScriptedMessagesAPI([wrong]) as api,
        pytest.raises(InternalServerError),
    ):
        ask(api)
    assert len(api.requests) == 1, "the SDK does not try again"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("thread", [{}, {"thread": False}])
def test_the_tool_runner_plays_the_script_to_its_end(stream: bool, thread: dict[str, Any]) -> None:
    words = 'é 😀 "quoted" \\ \n' * 40
    calls = [text("I call."), tool_use("echo", {"words": words}), tool_use("echo", {"words": "b"})]

    def answer(received: Received) -> str:
        return "|".join(result.text for result in received.results)

    with ScriptedMessagesAPI([calls, answer]) as api:
        message = run(api, stream=stream, **thread)
    assert message.content[0].text == f"Echo: {words}|Echo: b"
    assert message.stop_reason == "end_turn"
    assert api.finished
    second = api.requests[1]
    assert len(second.conversation) == 3
    assert len(second.body["messages"]) == (3 if thread else 1)
    assert len({result.tool_use_id for result in second.results}) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_a_paused_turn_is_resumed_by_the_tool_runner(stream: bool) -> None:
    script: list[Step] = [Reply("Let me", "pause_turn"), tool_use("echo", {"words": "x"}), "Done."]
    for thread in ({}, {"thread": False}):
        with ScriptedMessagesAPI(script) as api:
            message = run(api, stream=stream, **thread)
            assert api.finished
        assert message.content[0].text == "Done."


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "reason", ["max_tokens", "refusal", "stop_sequence", "model_context_window_exceeded"]
)
def test_a_stop_reason_ends_the_run_without_running_tools(reason: Any, stream: bool) -> None:
    reply = Reply([text("x"), tool_use("echo", {"words": "x"})], reason, stop_sequence="END")
    with ScriptedMessagesAPI([reply]) as api:
        message = run(api, stream=stream)
    assert message.stop_reason == reason
    assert message.stop_sequence == "END"
    assert (message.stop_details is not None) == (reason == "refusal")


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_counted_and_can_be_set(stream: bool) -> None:
    with ScriptedMessagesAPI(["x" * 400, Reply("y", usage={"output_tokens": 7})]) as api:
        counted, given = run(api, stream=stream).usage, run(api, stream=stream).usage
    assert counted.output_tokens > 100
    assert given.output_tokens == 7
    assert given.input_tokens == counted.input_tokens > 10


def test_blocks_of_other_kinds_and_empty_inputs_survive_the_stream() -> None:
    thinking = {"type": "thinking", "thinking": "Well, " * 30, "signature": "signed"}
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    reply = Reply([thinking, redacted, tool_use("echo", {})], "max_tokens")
    with ScriptedMessagesAPI([reply]) as api:
        content = run(api, stream=True).content
    assert content[0].to_dict() == thinking
    assert content[1].to_dict() == redacted
    assert content[2].input == {}


def test_the_stream_has_the_events_of_the_api() -> None:
    with ScriptedMessagesAPI(["Hi"]) as api:
        answer = send(api.url, request_body(stream=True))
    names = [line[7:] for line in answer.body.decode().splitlines() if line.startswith("event: ")]
    assert answer.headers["content-type"] == "text/event-stream"
    assert names == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_a_script_reads_the_text_of_plain_and_of_block_results() -> None:
    def answer(received: Received) -> str:
        return f"{received.result.text} {received.text}"

    said = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    asked = [user("Hi"), assistant([call("a")])]
    with ScriptedMessagesAPI(answer) as api:
        for content, expected in [(said, "one\ntwo Go."), ("three", "three Go.")]:
            last = user([result("a", content), text("Go.")])
            answered = send(api.url, request_body(*asked, last))
            assert answered.body["content"][0]["text"] == expected


def test_tokens_are_counted() -> None:
    with (
        ScriptedMessagesAPI([]) as api,
        Anthropic(base_url=api.url, api_key="test") as client,
    ):
        counted = client.messages.count_tokens(
            model="claude-test", messages=[{"role": "user", "content": "Hello"}]
        )
    assert counted.input_tokens > 1


# ---------------------------------------------------------------- failing


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (overloaded(), APIStatusError),
        (rate_limited(), RateLimitError),
        (server_error(), InternalServerError),
    ],
)
def test_the_nth_request_fails_and_the_sdk_tries_again(failure: Failure, error: Any) -> None:
    with ScriptedMessagesAPI(["Hi"], failures={1: failure, 2: failure}) as api:
        assert ask(api) == "Hi"
        assert api.answers[:2] == [failure, failure]
    with ScriptedMessagesAPI(["Hi"], failures={1: failure}) as api:
        with pytest.raises(error) as caught:
            ask(api, max_retries=0)
        assert caught.value.status_code == failure.status


def test_a_failure_says_when_to_try_again() -> None:
    with ScriptedMessagesAPI([rate_limited(30), server_error(None)]) as api:
        answer = send(api.url, request_body())
        assert (answer.status, answer.headers["retry-after"]) == (429, "30")
        assert answer.body["request_id"] == answer.headers["request-id"]
        assert "retry-after" not in send(api.url, request_body()).headers


def test_a_failure_says_whether_to_try_again() -> None:
    with ScriptedMessagesAPI([Failure(409, "conflict_error", "No.", retry=False), "Hi"]) as api:
        with pytest.raises(APIStatusError):
            ask(api)
        assert len(api.requests) == 1
    with ScriptedMessagesAPI(
        [Failure(402, "billing_error", "No.", 0.001, retry=True), "Hi"]
    ) as api:
        assert ask(api) == "Hi"


def test_a_wrong_key_is_unauthorized() -> None:
    with ScriptedMessagesAPI(["Hi"], api_key="right") as api:
        with pytest.raises(AuthenticationError):
            ask(api)
        assert send(api.url, request_body(), {"authorization": ""}).status == 401
        assert send(api.url, request_body(), {"x-api-key": "right"}).status == 200


def test_a_request_without_a_version_is_refused() -> None:
    with ScriptedMessagesAPI(["Hi"]) as api:
        answer = send(api.url, request_body(), {"anthropic-version": ""})
    assert (answer.status, answer.error) == (400, "anthropic-version: This header is required.")


def test_another_address_is_not_found() -> None:
    with ScriptedMessagesAPI([]) as api:
        assert send(api.url, request_body(), path="/v1/complete").status == 404
        assert send(api.url, request_body(), path="/v1/messages?beta=true").status == 400
    assert [received.query for received in api.requests] == ["beta=true"]


def test_a_stream_breaks_off_with_an_error_event() -> None:
    broken = Reply("Hello there, all of you", break_after_events=3, break_with=overloaded())
    with ScriptedMessagesAPI([broken]) as api, pytest.raises(APIStatusError, match="overloaded"):
        run(api, stream=True)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_lost_with_its_connection(stream: bool) -> None:
    lost = Reply("Hello there", break_after_events=0)
    with (
        ScriptedMessagesAPI([lost]) as api,
        Anthropic(base_url=api.url, api_key="test", max_retries=0) as client,
    ):
        # A stream that begins and ends at once is read as one that never began.
        expected: Any = Exception if stream else APIConnectionError
        with pytest.raises(expected):
            client.beta.messages.tool_runner(
                model="claude-test",
                max_tokens=100,
                tools=[echo],
                stream=stream,
                messages=[{"role": "user", "content": "Hello"}],
            ).until_done()


# ---------------------------------------------------------------- HTTP


def test_a_body_without_a_length_or_with_too_much_of_it_is_not_read() -> None:
    with ScriptedMessagesAPI([]) as api:
        for length, status in [("", 411), ("-1", 411), ("9" * 13, 411), (str(2**26), 413)]:
            connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=30)
            connection.putrequest("POST", "/v1/messages")
            if length:
                connection.putheader("content-length", length)
            connection.endheaders()
            assert connection.getresponse().status == status
            connection.close()
    assert api.requests == []


def test_it_stops_while_clients_hold_connections() -> None:
    before = threading.active_count()
    with ScriptedMessagesAPI(["Hi"]) as api:
        host, port = urlsplit(api.url).netloc.split(":")
        idle = socket.create_connection((host, int(port)))
        held = http.client.HTTPConnection(host, int(port))
        held.request("POST", "/v1/messages", b"{}", HEADERS)
        held.getresponse().read()
    assert threading.active_count() == before
    idle.close()
    held.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)))


def test_a_client_may_leave_before_its_answer() -> None:
    inside, leave = threading.Event(), threading.Event()

    def slow(received: Received) -> str:
        inside.set()
        assert leave.wait(30)
        return "words " * 10_000

    with ScriptedMessagesAPI([slow]) as api:
        connection = http.client.HTTPConnection(urlsplit(api.url).netloc)
        connection.request("POST", "/v1/messages", json.dumps(request_body(stream=True)), HEADERS)
        assert inside.wait(30)
        # No lingering: the server's next bytes meet a closed door.
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        leave.set()
    assert api.finished


def test_a_reply_that_is_no_json_comes_out_of_the_with_block() -> None:
    reply = Reply("Hi", usage={"output_tokens": object()})
    with (
        pytest.raises(TypeError, match="not JSON serializable"),
        ScriptedMessagesAPI([reply]) as api,
        pytest.raises(http.client.RemoteDisconnected),
    ):
        send(api.url, request_body())


def test_many_clients_share_one_server() -> None:
    def echo_back(received: Received) -> str:
        return received.text

    said: dict[int, str] = {}
    with ScriptedMessagesAPI(echo_back) as api:

        def client(number: int) -> None:
            answer = send(api.url, request_body(user(f"I am {number}")))
            said[number] = answer.body["content"][0]["text"]

        threads = [threading.Thread(target=client, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert said == {number: f"I am {number}" for number in range(20)}
    assert [received.number for received in api.requests] == list(range(1, 21))
    answers = cast("list[dict[str, Any]]", api.answers)
    for received, message in zip(api.requests, answers, strict=True):
        assert message["content"][0]["text"] == received.text
    assert len({message["id"] for message in answers}) == 20


def test_its_address_is_known_only_while_it_runs() -> None:
    api = ScriptedMessagesAPI([])
    with pytest.raises(AssertionError, match="runs inside its with block"):
        _ = api.url
