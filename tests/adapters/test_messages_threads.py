"""Message threads of the scripted API: only new messages travel, and only along the thread."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from memoranda.testing.messages_api import (
    Received,
    Reply,
    ScriptedMessagesAPI,
    overloaded,
    use_memory,
)
from tests.adapters.raw_http import (
    CREATE,
    MEMORY,
    THREADS,
    Answer,
    request_body,
    result,
    send,
    user,
)


def create(api: ScriptedMessagesAPI, **fields: Any) -> Answer:
    return send(api.url, request_body(thread=CREATE, **fields), THREADS)


def go_on(api: ScriptedMessagesAPI, previous: str, *messages: Any, **fields: Any) -> Answer:
    thread = {"type": "continue", "previous_message_id": previous}
    body = request_body(thread=thread, **{"tools": None, "messages": list(messages), **fields})
    return send(api.url, body, THREADS)


def test_a_continued_thread_shows_the_script_the_whole_conversation() -> None:
    with ScriptedMessagesAPI([use_memory("view", path="/memories"), "Read.", "Bye."]) as api:
        first = create(api, system="Be short.").body
        call = first["content"][0]
        second = go_on(api, first["id"], user([result(call["id"], "Nothing.")])).body
        third = go_on(api, second["id"], user("Thanks.")).body
    last = api.requests[2]
    assert [message["role"] for message in last.conversation] == ["user", "assistant"] * 2 + [
        "user"
    ]
    assert last.conversation[1]["content"] == [call]
    assert last.system == "Be short."
    assert list(last.tools) == [MEMORY]
    assert last.body["messages"] == [user("Thanks.")]
    assert api.requests[1].result.text == "Nothing."
    assert third["content"][0]["text"] == "Bye."
    assert len({first["id"], second["id"], third["id"]}) == 3


def test_an_unknown_thread_is_not_found() -> None:
    with ScriptedMessagesAPI(["Hello."]) as api:
        answer = go_on(api, "msg_unknown", user("Hi"))
    assert answer.status == 404
    assert answer.body["error"]["type"] == "not_found_error"
    assert answer.body["error"]["details"] == {"error_code": "thread_not_found"}


def test_a_reply_outside_a_thread_is_no_thread() -> None:
    with ScriptedMessagesAPI(["Hello.", "Never said."]) as api:
        reply = send(api.url, request_body()).body
        assert go_on(api, reply["id"], user("Hi")).status == 404


def test_a_reply_is_continued_only_once() -> None:
    with ScriptedMessagesAPI(["One.", "Two.", "Never said."]) as api:
        first = create(api).body["id"]
        assert go_on(api, first, user("Hi")).status == 200
        answer = go_on(api, first, user("Again"))
    assert answer.status == 400
    assert answer.body["error"]["details"] == {"error_code": "thread_already_continued"}


def test_a_failed_turn_can_be_sent_again() -> None:
    with ScriptedMessagesAPI(["One.", overloaded(), "Two."]) as api:
        first = create(api).body["id"]
        assert go_on(api, first, user("Hi")).status == 529
        assert go_on(api, first, user("Hi")).status == 200


def test_two_requests_cannot_continue_one_reply_at_once() -> None:
    inside, leave = threading.Event(), threading.Event()
    answers: list[Answer] = []

    def slow(received: Received) -> str:
        inside.set()
        assert leave.wait(30)
        return "Two."

    with ScriptedMessagesAPI(["One.", slow]) as api:
        first = create(api).body["id"]
        other = threading.Thread(target=lambda: answers.append(go_on(api, first, user("Hi"))))
        other.start()
        assert inside.wait(30)
        refused = go_on(api, first, user("Me too"))
        leave.set()
        other.join()
    assert refused.status == 400
    assert refused.body["error"]["details"] == {"error_code": "thread_continue_in_flight"}
    assert [answer.status for answer in answers] == [200]


@pytest.mark.parametrize("field", [{"tools": [MEMORY]}, {"system": "Be short."}])
def test_a_continued_thread_takes_no_new_tools_and_no_new_system_prompt(
    field: dict[str, Any],
) -> None:
    with ScriptedMessagesAPI(["One.", "Never said."]) as api:
        first = create(api).body["id"]
        answer = go_on(api, first, user("Hi"), **field)
    assert answer.status == 400
    assert answer.error == f"{next(iter(field))}: A thread keeps the one that it was created with."


def test_calls_of_the_kept_reply_have_to_be_answered() -> None:
    with ScriptedMessagesAPI([use_memory("view", path="/memories"), "Never said."]) as api:
        first = create(api).body["id"]
        answer = go_on(api, first, user("Never mind."))
    assert answer.error.startswith("messages.0: `tool_use` blocks without a `tool_result`")


def test_a_paused_turn_is_resumed_with_no_messages() -> None:
    with ScriptedMessagesAPI([Reply("Let me", "pause_turn"), "see."]) as api:
        first = create(api).body["id"]
        assert go_on(api, first).body["content"][0]["text"] == "see."


def test_a_finished_turn_is_not_resumed() -> None:
    with ScriptedMessagesAPI(["One.", "Never said."]) as api:
        first = create(api).body["id"]
        answer = go_on(api, first)
    assert answer.error == "messages: The conversation must end with a user message."


@pytest.mark.parametrize(
    "reply", [Reply("No.", "refusal"), Reply("Half", break_after_events=2, break_with=overloaded())]
)
def test_a_refused_or_broken_turn_is_not_kept(reply: Reply) -> None:
    with ScriptedMessagesAPI([reply, "Never said."]) as api:
        create(api, stream=True)
        answered = api.answers[0]
        assert isinstance(answered, dict)
        assert go_on(api, answered["id"], user("Hi")).status == 404
