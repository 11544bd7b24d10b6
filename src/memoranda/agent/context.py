"""Presets that keep a long conversation within the model's context window.

The server does the work: it clears old tool results and thinking, and sums up what came long before.
Here are the parameters for it, in the order that the API asks for, with the beta headers they need.
Sources: the Messages API's ``context_management`` (``clear_tool_uses_20250919``,
``clear_thinking_20251015``, ``compact_20260112``), as the official SDK types it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

from memoranda.errors import Misuse

EDITING_BETA: Final = "context-management-2025-06-27"
COMPACTION_BETA: Final = "compact-2026-01-12"

LEAST_COMPACTION_TOKENS: Final = 50_000
"""The API takes no lower trigger for a compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Which parts of a conversation the server lets go of, and when.

    ``clear_tools_at_tokens``: from so many input tokens on, older tool results are cleared, all but
    the newest ``keep_tool_uses`` and those of the tools in ``never_clear``: what Claude read from
    its memory stays. ``clear_at_least_tokens`` keeps the prompt cache from being broken for less.
    ``keep_thinking_turns``: thinking of older turns goes. ``compact_at_tokens`` (50,000 or more):
    the conversation is summed up; ``compact_instructions`` says how. None switches a part off.

    Raises ``Misuse`` for values that the API would refuse.
    """

    clear_tools_at_tokens: int | None = None
    keep_tool_uses: int = 3
    clear_at_least_tokens: int | None = None
    never_clear: tuple[str, ...] = ("memory",)
    keep_thinking_turns: int | None = None
    compact_at_tokens: int | None = None
    compact_instructions: str | None = None

    def __post_init__(self) -> None:
        for name in ("clear_tools_at_tokens", "clear_at_least_tokens", "keep_thinking_turns"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise Misuse(f"{name} has to be 1 or more, or None; it is {value}.")
        if self.keep_tool_uses < 0:
            raise Misuse(f"keep_tool_uses has to be 0 or more; it is {self.keep_tool_uses}.")
        at = self.compact_at_tokens
        if at is not None and at < LEAST_COMPACTION_TOKENS:
            raise Misuse(
                f"compact_at_tokens has to be {LEAST_COMPACTION_TOKENS} or more, or None; it is {at}."
            )

    @classmethod
    def tool_clearing(cls) -> Self:
        """For agents that read much and need little of it again: old tool results go."""
        return cls(clear_tools_at_tokens=100_000, keep_tool_uses=3, clear_at_least_tokens=10_000)

    @classmethod
    def compaction(cls) -> Self:
        """For conversations without end: what came long before is summed up."""
        return cls(compact_at_tokens=150_000)

    @classmethod
    def long_running(cls) -> Self:
        """Both, and thinking of older turns goes: for agents that work for hours."""
        return cls(
            clear_tools_at_tokens=80_000,
            keep_tool_uses=5,
            clear_at_least_tokens=10_000,
            keep_thinking_turns=2,
            compact_at_tokens=150_000,
        )

    @property
    def edits(self) -> list[dict[str, Any]]:
        """The entries of ``context_management.edits``; clearing of thinking has to come first."""
        edits: list[dict[str, Any]] = []
        if self.keep_thinking_turns is not None:
            keep = {"type": "thinking_turns", "value": self.keep_thinking_turns}
            edits.append({"type": "clear_thinking_20251015", "keep": keep})
        if self.clear_tools_at_tokens is not None:
            clear: dict[str, Any] = {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": self.clear_tools_at_tokens},
                "keep": {"type": "tool_uses", "value": self.keep_tool_uses},
                "exclude_tools": list(self.never_clear),
            }
            if self.clear_at_least_tokens is not None:
                at_least = {"type": "input_tokens", "value": self.clear_at_least_tokens}
                clear["clear_at_least"] = at_least
            edits.append(clear)
        if self.compact_at_tokens is not None:
            compact: dict[str, Any] = {
                "type": "compact_20260112",
                "trigger": {"type": "input_tokens", "value": self.compact_at_tokens},
            }
            if self.compact_instructions is not None:
                compact["instructions"] = self.compact_instructions
            edits.append(compact)
        return edits

    @property
    def betas(self) -> list[str]:
        """The beta headers that the edits need."""
        betas: list[str] = []
        if self.keep_thinking_turns is not None or self.clear_tools_at_tokens is not None:
            betas.append(EDITING_BETA)
        if self.compact_at_tokens is not None:
            betas.append(COMPACTION_BETA)
        return betas

    @property
    def params(self) -> dict[str, Any]:
        """Parameters for ``client.beta.messages.create`` and for the SDK's tool runner.

            client.beta.messages.tool_runner(..., **Context.tool_clearing().params)

        Without any edit there are none.
        """
        if not self.edits:
            return {}
        return {"context_management": {"edits": self.edits}, "betas": self.betas}
