"""Blocks of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace

import pytest

from memoranda.errors import Misuse
from memoranda.reply import ToolResult
from memoranda.tool_block import ToolUse, kept_trace_id, read_tool_use, tool_result

INPUT = {"command": "view", "path": "/memories"}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": INPUT},
        MappingProxyType({"id": "toolu_1", "input": INPUT}),
        SimpleNamespace(type="tool_use", id="toolu_1", name="memory", input=INPUT),
    ],
    ids=["a dict", "another mapping", "an object"],
)
def test_a_block_is_a_mapping_or_an_object_of_an_sdk(block: object) -> None:
    assert read_tool_use(block) == ToolUse("toolu_1", INPUT)


@pytest.mark.parametrize("block", [{"id": "toolu_1"}, SimpleNamespace(id="toolu_1")])
def test_a_block_without_input_is_still_one_that_can_be_answered(block: object) -> None:
    assert read_tool_use(block) == ToolUse("toolu_1", None)


@pytest.mark.parametrize("block", [{}, {"id": None}, {"id": ""}, {"id": 7}, None, "toolu_1", 5])
def test_a_block_without_an_id_is_the_programs_fault(block: object) -> None:
    with pytest.raises(Misuse, match="id"):
        read_tool_use(block)


def test_a_result_names_the_call_that_it_answers() -> None:
    assert tool_result("toolu_1", ToolResult("text")) == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "text",
        "is_error": False,
    }
    blocks = [{"type": "text", "text": "x"}]
    block: Mapping[str, object] = tool_result("toolu_2", ToolResult(blocks, is_error=True))
    assert (block["content"], block["is_error"]) == (blocks, True)


def test_history_keeps_a_short_and_harmless_id() -> None:
    assert kept_trace_id("toolu_01AbC") == "toolu_01AbC"
    assert kept_trace_id("a\n\ud800" + "x" * 500) == "a\\n\\ud800" + "x" * 119
