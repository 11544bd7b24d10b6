"""The programs in the guides of the SDK adapter and of the scripted API run as they stand."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memoranda.testing.messages_api import Received, ScriptedMessagesAPI, use_memory
from tests.house.repository import DOCS


def programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / "guide" / page).read_text(), re.S)


SDK = programs("claude-sdk.md")
SCRIPTED = programs("scripted-api.md")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")


def execute(program: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(program, "guide", "exec"), names)
    return names


def answer(received: Received) -> Any:
    if received.results:
        return f"I read: {received.result.text}"
    return use_memory("view", path="/memories")


def test_every_program_of_the_guides_is_tried() -> None:
    assert (len(SDK), len(SCRIPTED)) == (3, 1)


def test_the_first_program_gives_an_agent_a_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedMessagesAPI(answer) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        names = execute(SDK[0], {})
        names["client"].close()
    assert "I read: Here're the files" in capsys.readouterr().out


def test_its_asynchronous_twin_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedMessagesAPI(answer) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        message: Any = asyncio.run(execute(SDK[1], {})["ask"]("Well?"))
    assert message.content[0].text.startswith("I read: Here're the files")


def test_the_loop_without_the_runner_answers_every_call() -> None:
    call = SimpleNamespace(
        type="tool_use", id="toolu_1", input={"command": "view", "path": "/memories"}
    )
    message = SimpleNamespace(content=[SimpleNamespace(type="text", text="I look."), call])
    (result,) = execute(SDK[2], {"message": message})["results"]
    assert result["tool_use_id"] == "toolu_1"
    assert result["content"].endswith("\n0B\t/memories")


def test_the_scripted_api_plays_its_guides_script() -> None:
    program = SCRIPTED[0].replace("...  # run the agent", "run(client)")

    def run(client: Any) -> None:
        from memoranda.adapters.anthropic import MemoryTool

        with client, MemoryTool("memory:") as tool:
            message = client.beta.messages.tool_runner(
                model="claude-test",
                max_tokens=100,
                tools=[tool],
                messages=[{"role": "user", "content": "Look."}],
            ).until_done()
        assert message.content[0].text.startswith("I read: Here're the files")

    execute(program, {"run": run})
