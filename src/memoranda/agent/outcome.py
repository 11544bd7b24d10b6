"""What a run of the loop ends with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Block: TypeAlias = dict[str, Any]

Stop: TypeAlias = Literal[
    "end_turn",
    "stop_sequence",
    "tool_use",
    "max_tokens",
    "max_turns",
    "refusal",
    "model_context_window_exceeded",
]
"""Why a run ended.

``end_turn`` and ``stop_sequence``: Claude has said what it had to say. ``tool_use``: calls wait for
the application (``Outcome.pending``). ``max_tokens``: the reply was cut off, more often than may be
mended. ``max_turns``: the run's bound was reached. ``refusal``: Claude won't go on; the refused
reply is in no transcript. ``model_context_window_exceeded``: the conversation has grown too long.
"""


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Tokens that a run used, summed over its requests, those that a compaction made included."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def plus(self, usage: object) -> UsageTotals:
        """These and the ``usage`` of one more reply, an object of the SDK.

        What a compaction used is not in the usage's own counts, only among its iterations.
        """
        iterations: list[object] = list(getattr(usage, "iterations", None) or ())
        compactions = [one for one in iterations if getattr(one, "type", None) == "compaction"]
        parts = [usage, *compactions]

        def total(name: str) -> int:
            return sum(int(getattr(part, name, None) or 0) for part in parts)

        return UsageTotals(
            self.requests + 1,
            self.input_tokens + total("input_tokens"),
            self.output_tokens + total("output_tokens"),
            self.cache_creation_input_tokens + total("cache_creation_input_tokens"),
            self.cache_read_input_tokens + total("cache_read_input_tokens"),
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    ``message`` is the last reply, an object of the SDK. ``pending`` are the ``tool_use`` blocks
    that wait for the application: answer them with ``run(results=[...])``. ``turns`` counts the
    replies of this run.
    """

    stop: Stop
    message: Any
    turns: int
    usage: UsageTotals
    pending: tuple[Block, ...] = field(default=())

    @property
    def text(self) -> str:
        """What Claude said in its last reply; texts of several blocks are joined by line ends."""
        return "\n".join(block.text for block in self.message.content if block.type == "text")
