"""Claude's commands, typed by a person: the same way through every rule, errors as errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memoranda.cli.shared.output import print_json, show_line
from memoranda.errors import Unavailable

if TYPE_CHECKING:
    from memoranda.memory import Memory
    from memoranda.reply import Block


def run_command(memory: Memory, command: dict[str, Any]) -> str | list[Block]:
    """What Claude would be answered. Raises what the answer would only tell."""
    from memoranda.reply import Failure

    result = memory.execute(command)
    if isinstance(result, Failure):
        raise result.error or Unavailable("The storage failed in a way that nobody foresaw.")
    return result.content


def call_line(call: Block) -> str:
    """A call of the memory tool as a line: ``[rename /memories/a.md /memories/b.md]``."""
    given: dict[str, Any] = call["input"]
    words = [given.get("command"), given.get("path") or given.get("old_path")]
    words.append(given.get("new_path"))
    return "[" + " ".join(str(word) for word in words if word is not None) + "]"


def print_answer(answer: str | list[Block], *, as_json: bool) -> None:
    """Print it as Claude reads it."""
    if as_json:
        print_json({"content": answer})
        return
    if isinstance(answer, str):
        show_line(answer)
        return
    for block in answer:
        if block["type"] == "text":
            show_line(block["text"])
        else:
            media_type = block["source"]["media_type"]
            show_line(f"[{media_type}; --raw writes its bytes]")
