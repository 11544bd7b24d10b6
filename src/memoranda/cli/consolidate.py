"""``memoranda consolidate``: an agent tidies a copy, and a person or rules accept what it did."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.claude import call_line
from memoranda.cli.shared.claude_api import (
    DEFAULT_MODEL,
    ApiUrl,
    Model,
    anthropic_client,
    api_errors,
    why_it_failed,
)
from memoranda.cli.shared.confirm import NotConfirmed, ask
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName
from memoranda.cli.shared.output import counted, note, print_json, say, show, table
from memoranda.cli.shared.place import find_place
from memoranda.errors import Unavailable
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.agent.consolidate import Applied, Change, Consolidation
    from memoranda.agent.hooks import Hooks


def consolidate(
    model: Model = DEFAULT_MODEL,
    base_url: ApiUrl = None,
    target: Annotated[
        int | None,
        typer.Option("--target", metavar="BYTES", min=1, help="How small it should become."),
    ] = None,
    budget: Annotated[
        int,
        typer.Option("--budget", metavar="TOKENS", min=1, help="Stop after so many tokens."),
    ] = 500_000,
    protect: Annotated[
        list[str] | None,
        typer.Option("--protect", metavar="GLOB", help="Paths that may not change; repeatable."),
    ] = None,
    most_removed: Annotated[
        float,
        typer.Option(
            "--most-removed", metavar="SHARE", min=0, max=1, help="Largest share that may go."
        ),
    ] = 0.5,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Accept all if no rule is broken, for scheduled jobs."),
    ] = False,
    dry_run: DryRun = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Have an agent tidy this memory.

    It works on a copy: merges, shortens, drops what is over, keeps an index. Then you see the diff and accept all, some or nothing of it. Nothing is lost; memoranda undo and restore go back. Needs ANTHROPIC_API_KEY.

    Example: memoranda consolidate --protect '/memories/legal/*'
    """
    client = anthropic_client(base_url)
    from memoranda.agent.consolidate import Rules
    from memoranda.agent.consolidate import consolidate as run

    rules = Rules(protect=tuple(protect or ()), most_removed=most_removed)
    with client, find_place(store, user, quiet=as_json).open() as memory:
        if not as_json:
            note("Claude reads the memory and tidies a copy of it; this takes a while.")
        try:
            found = run(
                client,
                memory,
                model=model,
                rules=rules,
                budget_tokens=budget,
                target_bytes=target,
                hooks=None if as_json else _hooks(),
            )
        except api_errors() as error:
            raise Unavailable(why_it_failed(error)) from error
        if not as_json:
            _show(found)
        paths: list[str] = []
        if found.changes and not dry_run:
            paths = _accepted(found, yes=yes)
        applied = found.apply(memory, paths)
    if as_json:
        print_json(_shape(found, applied, dry_run=dry_run))
    elif paths:
        say(
            f"Done: {counted(len(applied.changed), 'change', 'changes')}. memoranda undo goes back."
        )
        for path, reason in applied.left:
            note(f"Left alone: {path}: {reason}.")


def _accepted(found: Consolidation, *, yes: bool) -> list[str]:
    """The paths of the changes that were accepted. Raises ``NotConfirmed``."""
    everything = [one.path for one in found.changes]
    if yes and found.is_acceptable:
        return everything
    if yes or not sys.stdin.isatty():
        why = " ".join(found.complaints) or f"The agent came to no end ({found.stop})."
        if not yes:
            why = "Nobody is here to accept the changes; --yes accepts them if no rule is broken."
        raise NotConfirmed(f"{why} Nothing was changed.")
    answer = ask("Accept all, some or nothing?", " [a/s/N] ")
    if answer in {"a", "all"}:
        return everything
    if answer in {"s", "some"}:
        return [one.path for one in found.changes if _is_accepted(one)]
    raise NotConfirmed("Nothing was accepted, so nothing was changed.")


def _is_accepted(change: Change) -> bool:
    show(change.diff)
    return ask(f"{change.path} would be {change.kind}.", " Accept? [y/N] ") in {"y", "yes"}


def _hooks() -> Hooks:
    from memoranda.agent.hooks import Hooks

    return Hooks(on_call=lambda call: note(f"  {call_line(call)}"))


def _show(found: Consolidation) -> None:
    if found.said:
        say(found.said)
        say()
    if not found.changes:
        say("There is nothing to change.")
        return
    show(found.diff)
    say()
    rows = [["", "memories", "size", "tokens, about"]]
    for name, size in (("before", found.before), ("after", found.after)):
        rows.append([name, f"{size.files:,}", format_size(size.bytes), f"{size.tokens:,}"])
    table(rows)
    table([[one.kind, one.path] for one in found.changes])
    used = found.usage
    say(f"It took {used.input_tokens:,} tokens in and {used.output_tokens:,} out.")
    if found.stop != "done":
        say(f"Warning: the agent came to no end ({found.stop}).")
    for complaint in found.complaints:
        say(f"Warning: {complaint}")


def _shape(found: Consolidation, applied: Applied, *, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "stop": found.stop,
        "said": found.said,
        "before": found.before._asdict(),
        "after": found.after._asdict(),
        "changes": [
            {"path": one.path, "kind": one.kind, "diff": one.diff} for one in found.changes
        ],
        "complaints": list(found.complaints),
        "input_tokens": found.usage.input_tokens,
        "output_tokens": found.usage.output_tokens,
        "changed": list(applied.changed),
        "left": [{"path": path, "reason": reason} for path, reason in applied.left],
    }
