"""``memoranda chat``: an agent with a memory to talk to, which shows what it does with it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoranda.cli.shared.claude import call_line, print_answer
from memoranda.cli.shared.claude_api import (
    DEFAULT_MODEL,
    ApiUrl,
    Model,
    anthropic_client,
    api_errors,
    why_it_failed,
)
from memoranda.cli.shared.options import StoreUrl, UserName
from memoranda.cli.shared.output import harmless, note, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_changes, print_versions
from memoranda.errors import MemorandaError
from memoranda.path import ROOT_TEXT
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.agent import Agent
    from memoranda.memory import Memory

_MAX_TOKENS: Final = 8192
_SYSTEM: Final = """\
You talk with one person, and remember them between conversations through /memories. Look at your \
memory before your first answer. Note what will matter again, correct what has changed, and say \
plainly when you don't know."""

_HELP: Final = [
    ["/memory [PATH]", "what Claude reads there"],
    ["/history [PATH]", "the newest versions"],
    ["/undo [PATH]", "take back the last change"],
    ["/usage", "how much is kept, and the tokens of this conversation"],
    ["/help", "these lines"],
    ["/quit", "end; so do Ctrl-D and Ctrl-C"],
]
_SHOWN_VERSIONS: Final = 10


def chat(
    model: Model = DEFAULT_MODEL,
    base_url: ApiUrl = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="TEXT", help="Another system prompt.")
    ] = None,
    store: StoreUrl = None,
    user: UserName = None,
) -> None:
    """Talk with an agent that has this memory.

    Replies arrive as they are made, and what Claude does with its memory is shown as it happens. Lines that begin with / are for you: /help lists them. Needs ANTHROPIC_API_KEY.

    Example: memoranda chat --user ada
    """
    client = anthropic_client(base_url)
    from memoranda.agent import Agent, Hooks
    from memoranda.opening import DEFAULT_ACTOR

    place = find_place(store, user, quiet=True)
    theirs = place._replace(actor=DEFAULT_ACTOR)
    with client, place.open(expected=False) as memory, theirs.open(expected=False) as its_memory:
        agent = Agent(
            client,
            its_memory,
            model=model,
            max_tokens=_MAX_TOKENS,
            system=_SYSTEM if system is None else system,
            stream=True,
            hooks=Hooks(
                on_text=_show_text,
                on_restart=_show_restart,
                on_call=_show_call,
                on_result=_show_result,
            ),
        )
        if sys.stdin.isatty():
            note("Say something. /help lists what else you can do; Ctrl-D ends.")
        _Chat(memory, agent).run()


class _Chat:
    """One conversation at the terminal."""

    def __init__(self, memory: Memory, agent: Agent) -> None:
        self._memory = memory
        self._agent = agent
        self._input_tokens = self._output_tokens = 0
        self._failed = False

    def run(self) -> None:
        """Answer line by line, until the lines end."""
        while (line := _read_line()) is not None:
            if line.startswith("/"):
                word, _, rest = line.partition(" ")
                if word in {"/quit", "/exit"}:
                    return
                self._do(word, rest.strip() or None)
            elif line or self._failed:
                self._ask(line or None)

    def _ask(self, line: str | None) -> None:
        self._failed = True
        try:
            outcome = self._agent.run(line)
        except api_errors() as error:
            _write("\n")
            note(f"{why_it_failed(error)} An empty line tries again.")
            return
        except KeyboardInterrupt:
            _write("\n")
            note("Stopped. What was begun is told to Claude; go on, or end with Ctrl-D.")
            return
        self._failed = False
        _write("\n")
        self._input_tokens += outcome.usage.input_tokens
        self._output_tokens += outcome.usage.output_tokens
        if outcome.stop == "max_tokens":
            note("The reply was cut off; say: go on.")
        elif outcome.stop == "refusal":
            note("Claude won't answer that.")
        elif outcome.stop == "max_turns":
            note(f"Claude has called its memory {outcome.turns} times; say: go on.")
        elif outcome.stop == "model_context_window_exceeded":
            note("This conversation has grown too long; begin a new one. The memory stays.")

    def _do(self, word: str, path: str | None) -> None:
        where = path or ROOT_TEXT
        try:
            if word == "/memory":
                answer = self._memory.execute({"command": "view", "path": where})
                print_answer(answer.content, as_json=False)
            elif word == "/history":
                print_versions(self._memory.history(where, limit=_SHOWN_VERSIONS))
            elif word == "/undo":
                changes = self._memory.undo(where)
                print_changes(changes) if changes else note("There is nothing to undo.")
            elif word == "/usage":
                self._show_usage()
            elif word == "/help":
                table(_HELP)
            else:
                note(f"There is no {word}; /help lists what there is.")
        except MemorandaError as error:
            note(f"Error: {error}")

    def _show_usage(self) -> None:
        used = self._memory.usage()
        table(
            [
                ["memories", f"{used.files:,}", format_size(used.size_bytes)],
                ["history", f"{used.versions:,}", format_size(used.history_bytes)],
                ["tokens in", f"{self._input_tokens:,}", ""],
                ["tokens out", f"{self._output_tokens:,}", ""],
            ]
        )


def _read_line() -> str | None:
    """What the person typed; None at the end."""
    if sys.stdin.isatty():
        _write("> ")
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        _write("\n")
        return None
    return line.strip() if line else None


def _show_text(text: str) -> None:
    _write(harmless(text))


def _show_restart() -> None:
    _write("\n")
    note("The connection was lost; Claude begins this reply again.")


def _show_call(call: dict[str, Any]) -> None:
    _write("\n")
    say(f"  {call_line(call)}")


def _show_result(call: dict[str, Any], result: dict[str, Any]) -> None:
    if result["is_error"]:
        say(f"  [failed: {result['content']}]")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
