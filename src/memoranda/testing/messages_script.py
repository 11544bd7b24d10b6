"""What a scripted Messages API says: replies, failures, and what a script may look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from memoranda.testing.messages_failures import Block, Failure

StopReason: TypeAlias = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]


def text(words: str) -> Block:
    """A block in which Claude says ``words``."""
    return {"type": "text", "text": words}


def tool_use(name: str, tool_input: Any, *, tool_use_id: str | None = None) -> Block:
    """A block in which Claude calls the tool ``name`` with ``tool_input``.

    The server gives it a fresh id unless one is given. ``tool_input`` is sent as it is, so that a
    script can also ask for what no model should (a wrong type, a missing field).
    """
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": tool_input}


def use_memory(command: str, /, **fields: Any) -> Block:
    """A block in which Claude sends a command to the memory tool:
    ``use_memory("view", path="/memories")``."""
    return tool_use("memory", {"command": command, **fields})


# ---------------------------------------------------------------- what is answered


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of Claude.

    ``content`` is a text or content blocks (``text``, ``tool_use``, ``use_memory``, or any block as
    a dict). ``stop_reason`` is ``tool_use`` where a tool is called and ``end_turn`` elsewhere,
    unless given. ``usage`` replaces or adds entries of the usage that the server counts.

    When streamed, the answer breaks off after ``break_after_events`` events (0-based count, pings
    left out): with the event ``error`` if ``break_with`` is given, else by a lost connection. A
    reply that is not streamed is lost before its first byte. A broken turn is not kept in its
    thread, and the next request gets the next turn of the script.
    """

    content: str | Sequence[Block]
    stop_reason: StopReason | None = None
    stop_sequence: str | None = None
    usage: Mapping[str, Any] | None = None
    break_after_events: int | None = None
    break_with: Failure | None = None


# ---------------------------------------------------------------- what a script sees


class Result(NamedTuple):
    """A tool result that the client sent."""

    tool_use_id: str
    content: str | list[Block]
    is_error: bool

    @property
    def text(self) -> str:
        """Its text; the texts of several blocks are joined by line ends."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came, and the conversation it belongs to.

    ``number`` counts requests from 1, refused ones too. Header names are lower case. ``body`` is
    what this request held; ``conversation``, ``tools`` and ``system`` are what a model would see,
    the part that the server kept for a thread included.
    """

    number: int
    path: str
    query: str
    headers: Mapping[str, str]
    body: Block
    conversation: tuple[Block, ...] = ()
    tools: tuple[Block, ...] = ()
    system: str | list[Block] | None = None

    @property
    def results(self) -> tuple[Result, ...]:
        """The tool results in the last message, in the order in which they came."""
        return tuple(
            Result(block["tool_use_id"], block.get("content", ""), block.get("is_error", False))
            for block in self._last_blocks()
            if block.get("type") == "tool_result"
        )

    @property
    def result(self) -> Result:
        """The only tool result in the last message; ``ValueError`` if there are none or more."""
        (only,) = self.results
        return only

    @property
    def text(self) -> str:
        """What the user says in the last message."""
        return "\n".join(
            block["text"] for block in self._last_blocks() if block.get("type") == "text"
        )

    def _last_blocks(self) -> list[Block]:
        return blocks_of(self.conversation[-1]) if self.conversation else []


def blocks_of(message: Block) -> list[Block]:
    """The content blocks of a message; a plain text counts as one."""
    content = message.get("content")
    if isinstance(content, str):
        return [text(content)]
    return cast("list[Block]", content)


Said: TypeAlias = str | Block | Sequence[Block] | Reply | Failure
"""What Claude says in a turn: a text, a block, blocks, a reply; or a failure instead."""

Step: TypeAlias = Said | Callable[[Received], Said]
"""A turn of a script: what is said, or a function that makes it from what the client sent."""

Script: TypeAlias = Sequence[Step] | Callable[[Received], Said]
"""The turns in order, or one function that makes every turn."""


def resolve(step: Step, received: Received) -> Reply | Failure:
    """What ``step`` says to ``received``."""
    said = step(received) if callable(step) else step
    if isinstance(said, Reply | Failure):
        return said
    if isinstance(said, dict):
        return Reply([said])
    return Reply(said)
