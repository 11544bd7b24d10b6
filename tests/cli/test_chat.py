"""``memoranda chat``, against the scripted Messages API."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.testing.messages_api import (
    Received,
    Reply,
    ScriptedMessagesAPI,
    text,
    use_memory,
)
from memoranda.testing.messages_failures import Failure
from tests.cli.command_line import json_of, refused, run


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")


def quote(received: Received) -> str:
    return f"I read: {received.result.text.splitlines()[-1]}"


def chat(script: Any, *lines: str, failures: Any = None) -> tuple[str, str]:
    """What stands on standard output and on standard error at the end of a conversation."""
    with ScriptedMessagesAPI(script, failures=failures) as api:
        result = run("chat", "--base-url", api.url, stdin="".join(f"{line}\n" for line in lines))
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


CREATE = use_memory("create", path="/memories/a.md", file_text="tea\n")


def test_claude_answers_and_its_work_on_the_memory_is_shown() -> None:
    script = [
        [text("Let me note that."), CREATE],
        quote,
        use_memory("view", path="/memories/no"),
        quote,
    ]
    shown, said = chat(script, "I like tea.", "And now?")
    assert shown.startswith("Let me note that.\n  [create /memories/a.md]\nI read: File created")
    assert "  [view /memories/no]\n  [failed: The path /memories/no does not exist." in shown
    assert said == ""
    (version,) = json_of("history")["versions"]
    assert version["actor"] == "agent"


def test_the_conversation_goes_on_and_the_memory_outlives_it() -> None:
    def count(received: Received) -> str:
        return f"{len(received.conversation)} messages"

    shown, _ = chat([count, count], "One.", "Two.")
    assert shown.split("\n")[:2] == ["1 messages", "3 messages"]


def test_lines_with_a_slash_are_for_the_person() -> None:
    lines = (
        "Hello.",
        "/memory",
        "/memory /memories/a.md",
        "/history",
        "/usage",
        "/undo",
        "/undo /x",
        "/help",
        "/no",
        "/quit",
        "never",
    )
    shown, said = chat([CREATE, "Done."], *lines)
    assert "4B\t/memories/a.md" in shown
    assert "     1\ttea" in shown
    assert "tokens in" in shown
    assert "deleted  /memories/a.md" in shown
    assert "/history [PATH]" in shown
    assert "There is no /no; /help lists what there is." in said
    assert "Error: " in said  # /x is no path of a memory


def test_what_could_command_a_terminal_is_shown_escaped() -> None:
    shown, _ = chat(["Red: \x1b[31mred"], "Hello.")
    assert "\x1b" not in shown
    assert "\\u001b[31mred" in shown


@pytest.mark.parametrize(
    ("stop", "hint"),
    [
        ("max_tokens", "cut off"),
        ("refusal", "won't answer"),
        ("model_context_window_exceeded", "grown too long"),
    ],
)
def test_replies_that_end_early_say_so(stop: Any, hint: str) -> None:
    _, said = chat([Reply("So far", stop)], "Hello.")
    assert hint in said


def test_a_memory_that_is_called_without_end_is_stopped() -> None:
    def again(received: Received) -> Any:
        return use_memory("view", path="/memories")

    _, said = chat(again, "Hello.")
    assert "has called its memory 50 times" in said


def failing(status: int, kind: str) -> Failure:
    return Failure(status, kind, "no", retry=False)


@pytest.mark.parametrize(
    ("failure", "hint"),
    [
        (failing(401, "authentication_error"), "The key was refused"),
        (failing(403, "permission_error"), "The key may not do this."),
        (failing(404, "not_found_error"), "no such model"),
        (failing(429, "rate_limit_error"), "Too many requests"),
        (failing(529, "overloaded_error"), "failed with status 529"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_after_a_failure_an_empty_line_tries_again(failure: Failure, hint: str) -> None:
    shown, said = chat(["Here I am."], "Hello.", "", failures={1: failure})
    assert hint in said
    assert "An empty line tries again." in said
    assert "Here I am." in shown


def test_an_api_that_is_not_there_is_said_to_be() -> None:
    result = run("chat", "--base-url", "http://127.0.0.1:1", stdin="Hello.\n")
    assert "can't be reached" in result.stderr


def test_without_a_key_it_says_where_to_put_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    code, said = refused("chat")
    assert code == 9
    assert "set ANTHROPIC_API_KEY" in said
    assert "memoranda demo" in said
