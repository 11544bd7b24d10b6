"""``memoranda demo``: two agent sessions that share nothing but a memory, without a key."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoranda.cli import demo_claude
from memoranda.errors import MemorandaError
from memoranda.escape import escape_for_display

if TYPE_CHECKING:
    from memoranda.adapters.anthropic import MemoryTool
    from memoranda.testing.messages_script import Received, Said

_INTRODUCTION: Final = """\
Two sessions of an agent that share nothing but a memory. The SDK, its tool runner and HTTP are real.
Claude is played by a server on this machine, which can quote only what the memory tells it."""

_NEXT: Final = """\
Edit the file and run the demo again: the next session reads your words.
In your own program:

    from memoranda.adapters.anthropic import MemoryTool
    client.beta.messages.tool_runner(..., tools=[MemoryTool("./memory", user="acme-corp")])"""

_LINE_CHARS: Final = 200
_MOST_LINES: Final = 20


def demo(
    store: Annotated[
        str, typer.Option(help="The folder, or the URL, to keep the memory in.", metavar="URL")
    ] = "./memory",
    user: Annotated[str, typer.Option(help="Whose memory it is.", metavar="NAME")] = "demo",
) -> None:
    """Play two agent sessions that share a memory.

    The second answers from what the first wrote. Needs no key and no network. May be run again and again.

    Example: memoranda demo --store ./memory
    """
    typer.echo(_INTRODUCTION)
    # The SDK takes a second and more to import.
    from memoranda.adapters.anthropic import MemoryTool

    sessions = (
        (demo_claude.FIRST_QUESTION, demo_claude.first_session),
        (demo_claude.SECOND_QUESTION, demo_claude.second_session),
    )
    fine, folder = True, None
    try:
        for number, (question, claude) in enumerate(sessions, 1):
            # Nothing is handed from one session to the next but the name of the memory.
            with MemoryTool(store, user=user) as tool:
                typer.echo()
                typer.secho(f"Session {number}", bold=True)
                fine = _play(tool, question, claude) and fine
                folder = tool.memory_root
    except MemorandaError as error:
        typer.echo(f"The memory can't be used: {error}", err=True)
        raise typer.Exit(error.exit_code) from error
    if not fine:
        raise typer.Exit(1)
    typer.echo()
    _say_where(folder, store)
    typer.echo()
    typer.echo(_NEXT)


def _play(tool: MemoryTool, question: str, claude: Callable[[Received], Said]) -> bool:
    """Play one session, with a client and a conversation of its own; whether Claude ended it well."""
    from anthropic import Anthropic

    from memoranda.testing.messages_api import ScriptedMessagesAPI

    _show("Ada", question)
    fine = True
    with ScriptedMessagesAPI(claude) as api, Anthropic(base_url=api.url, api_key="demo") as client:
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            max_iterations=10,
            tools=[tool],
            messages=[{"role": "user", "content": question}],
        )
        for message in runner:
            for words in [block.text for block in message.content if block.type == "text"]:
                _show("Claude", words)
                fine = not words.startswith((demo_claude.FORGOTTEN, demo_claude.REFUSED))
            for call in [block.input for block in message.content if block.type == "tool_use"]:
                _show("  asks", _command(call))
            # The runner keeps what it made here and sends it with its next request.
            for result in _results(runner.generate_tool_call_response()):
                _show("  fails" if result.get("is_error") else "  reads", str(result["content"]))
    return fine


def _results(message: Any) -> list[dict[str, Any]]:
    return [] if message is None else message["content"]


def _command(tool_input: dict[str, Any]) -> str:
    """A command as a line, and beneath it the text that it writes."""
    match tool_input:
        case {"command": "create", "path": path, "file_text": written}:
            return f"create {path}\n{written}"
        case {"command": "str_replace", "path": path, "old_str": old, "new_str": new}:
            return f"str_replace {path}\n- {old}\n+ {new}"
        case {"command": "insert", "path": path, "insert_line": line, "insert_text": written}:
            return f"insert {path}, after line {line}\n{written}"
        case _:
            return " ".join(str(value) for value in tool_input.values())


def _say_where(folder: Path | None, store: str) -> None:
    if folder is None:
        typer.echo(f"The memory is kept in {store}.")
        return
    file = os.path.relpath(folder / demo_claude.NOTES.removeprefix(f"{demo_claude.ROOT}/"))
    typer.echo(
        f"The memory lies in {os.path.relpath(folder)}/ as plain files, its history beside it:"
    )
    typer.echo()
    typer.echo(f"$ cat {shlex.quote(file)}")
    for line in _lines(Path(file).read_text(encoding="utf-8", errors="replace")):
        typer.echo(line)


def _show(who: str, what: str) -> None:
    first, *rest = _lines(what)
    typer.secho(f"{who:<9}", nl=False, bold=who[0] != " ", dim=who[0] == " ")
    typer.echo(first)
    for line in rest:
        typer.echo(f"{'':<9}{line}".rstrip())


def _lines(what: str) -> list[str]:
    """The lines of a text as a terminal may be shown them: no control characters, not too many."""
    lines = [
        escape_for_display(line.expandtabs(8), _LINE_CHARS)
        for line in what.removesuffix("\n").split("\n", _MOST_LINES)
    ]
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "..."]
