"""The presets for context editing are what the SDK's types and the API ask for."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from anthropic.types import AnthropicBetaParam
from anthropic.types.beta import BetaContextManagementConfigParam
from pydantic import TypeAdapter

from memoranda import Misuse
from memoranda.agent import Context

CONFIG: TypeAdapter[Any] = TypeAdapter(BetaContextManagementConfigParam)
PRESETS = [Context.tool_clearing(), Context.compaction(), Context.long_running()]


@pytest.mark.parametrize("preset", PRESETS, ids=["tool_clearing", "compaction", "long_running"])
def test_a_preset_is_what_the_sdk_types(preset: Context) -> None:
    params = preset.params
    CONFIG.validate_python(params["context_management"])
    known = {name for part in get_args(AnthropicBetaParam) for name in get_args(part)}
    assert set(params["betas"]) <= known


def test_what_claude_read_from_its_memory_is_never_cleared() -> None:
    (edit,) = Context.tool_clearing().edits
    assert edit["exclude_tools"] == ["memory"]
    assert edit["keep"] == {"type": "tool_uses", "value": 3}


def test_thinking_is_cleared_first_and_each_part_brings_its_beta() -> None:
    context = Context.long_running()
    kinds = [edit["type"] for edit in context.edits]
    assert kinds == ["clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"]
    assert context.betas == ["context-management-2025-06-27", "compact-2026-01-12"]
    assert Context(compact_at_tokens=60_000, compact_instructions="Keep names.").edits == [
        {
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": 60_000},
            "instructions": "Keep names.",
        }
    ]


def test_nothing_is_sent_unless_something_is_asked_for() -> None:
    assert Context().params == {}


@pytest.mark.parametrize(
    "values",
    [
        {"clear_tools_at_tokens": 0},
        {"clear_at_least_tokens": -1},
        {"keep_thinking_turns": 0},
        {"keep_tool_uses": -1},
        {"compact_at_tokens": 49_999},
    ],
)
def test_values_that_the_api_would_refuse_are_refused_here(values: dict[str, int]) -> None:
    (name,) = values
    with pytest.raises(Misuse, match=name):
        Context(**values)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
