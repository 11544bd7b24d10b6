"""What a request says about the tool: as little as the API asks for."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import Anthropic

from memoranda.adapters.anthropic import MemoryTool
from memoranda.testing.messages_api import Received, ScriptedMessagesAPI, use_memory

ENTRY = {"type": "memory_20250818", "name": "memory"}

OPTIONAL: list[dict[str, Any]] = [
    {},
    {"cache_control": {"type": "ephemeral"}},
    {"strict": True},
    {"defer_loading": False},
    {"allowed_callers": ["direct"]},
    {"input_examples": [{"command": "view", "path": "/memories"}]},
]


@pytest.mark.spec("TOOL-01", "TOOL-02", "TOOL-03", "TOOL-04")
@pytest.mark.parametrize("fields", OPTIONAL, ids=lambda fields: next(iter(fields), "none"))
def test_a_request_holds_the_entry_and_nothing_else_of_ours(fields: dict[str, Any]) -> None:
    def look(received: Received) -> str:
        assert received.tools == ({**ENTRY, **fields},)
        assert received.system is None
        assert "memory" not in received.headers.get("anthropic-beta", "")
        assert "context-management" not in received.headers.get("anthropic-beta", "")
        assert received.conversation[0] == {"role": "user", "content": "Go on."}
        return received.result.text

    with (
        ScriptedMessagesAPI([use_memory("view", path="/memories"), look]) as api,
        MemoryTool("memory:", **fields) as tool,
        Anthropic(api_key="test", base_url=api.url) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="claude-test",
            max_tokens=500,
            tools=[tool],
            messages=[{"role": "user", "content": "Go on."}],
        )
        said: Any = runner.until_done().content[-1]
    assert said.text.endswith(":\n0B\t/memories")
