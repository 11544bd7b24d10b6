"""Transcripts stay whole, whatever is done with them."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types.beta import BetaMessageParam
from pydantic import TypeAdapter

from memoranda import Misuse
from memoranda.agent import Conversation


def call(key: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": "memory", "input": {}}


def result(key: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": "fine", "is_error": False}


def test_results_wait_until_all_calls_are_answered_and_keep_the_calls_order() -> None:
    talk = Conversation()
    talk.ask("Go.")
    talk.add_reply({"content": [call("a"), call("b")]})
    talk.answer(result("b"))
    assert [one["id"] for one in talk.open_calls] == ["a"]
    assert len(talk.messages) == 2
    talk.answer(result("a"))
    assert [one["tool_use_id"] for one in talk.messages[-1]["content"]] == ["a", "b"]
    for message in talk.messages:
        TypeAdapter(BetaMessageParam).validate_python(message)


@pytest.mark.parametrize("key", ["c", "a"], ids=["unknown", "twice"])
def test_an_answer_to_no_open_call_is_refused(key: str) -> None:
    talk = Conversation()
    talk.ask("Go.")
    talk.add_reply({"content": [call("a"), call("b")]})
    talk.answer(result("a"))
    with pytest.raises(Misuse, match="no call that is open"):
        talk.answer(result(key))


def test_an_earlier_transcript_with_open_calls_is_taken_up() -> None:
    talk = Conversation(
        [{"role": "user", "content": "Go."}, {"role": "assistant", "content": [call("a")]}]
    )
    talk.ask("And?")
    kinds = [block["type"] for block in talk.messages[-1]["content"]]
    assert kinds == ["tool_result", "text"]


def test_questions_without_a_reply_between_become_one_message() -> None:
    talk = Conversation([{"role": "user", "content": "One."}])
    talk.ask("Two.")
    assert [block["text"] for block in talk.messages[0]["content"]] == ["One.", "Two."]
    assert len(talk.messages) == 1


@pytest.mark.parametrize("content", ["", []], ids=["text", "blocks"])
def test_an_empty_question_is_refused(content: Any) -> None:
    with pytest.raises(Misuse, match="can't be empty"):
        Conversation().ask(content)


@pytest.mark.parametrize(
    "message", [{"role": "system", "content": "x"}, {"role": "user", "content": ""}, {}]
)
def test_messages_that_are_none_are_refused(message: dict[str, Any]) -> None:
    with pytest.raises(Misuse, match="A message has a role"):
        Conversation([message])


def test_what_the_api_says_but_does_not_take_is_left_out() -> None:
    talk = Conversation([{"role": "user", "content": "Go."}])
    cut = {"type": "tool_use", "id": "a", "name": "memory", "input": '{"comm'}
    talk.add_reply({"content": [{"type": "text", "text": ""}, cut]})
    assert talk.messages[-1]["content"] == [call("a")]
    talk.add_reply({"content": ""})
    assert len(talk.messages) == 2
