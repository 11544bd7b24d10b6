"""``memoranda status``: how work that goes over many sessions stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import counted, print_json, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import json_time, shown_time

if TYPE_CHECKING:
    from memoranda.agent.sessions import Status

_BAR_CELLS: Final = 30
_MOST_OPEN: Final = 10


def status(
    check: Annotated[
        bool, typer.Option("--check", help="End with 1 if there is a warning.")
    ] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Say how work that goes over many sessions stands.

    Shows features done and verified, the newest entry of the progress log, and warns when a session ended without updating it or a feature was marked as done without verification.

    Example: memoranda status --user ada
    """
    from memoranda.agent.sessions import Sessions

    with find_place(store, user, quiet=as_json).open() as memory:
        found = Sessions(memory).status()
    if as_json:
        print_json(_shape(found))
    else:
        _print(found)
    if check and found.warnings:
        raise typer.Exit(1)


def _print(found: Status) -> None:
    if found.template is None and not found.features:
        say(
            "This memory has no layout for sessions. memoranda init --template coding-agent makes one."
        )
        return
    began = "" if found.began_at is None else f", the last began {shown_time(found.began_at)}"
    is_open = " and is open" if found.is_open else ""
    logged = "never" if found.logged_at is None else shown_time(found.logged_at)
    total = len(found.features)
    table(
        [
            ["template", found.template or "none"],
            ["sessions", f"{found.sessions:,}{began}{is_open}"],
            ["log updated", logged],
            [
                "features",
                f"{counted(found.done, 'done', 'done')} of {total:,}, {found.verified:,} verified",
            ],
        ]
    )
    if total:
        verified = _BAR_CELLS * found.verified // total
        done = _BAR_CELLS * found.done // total
        bar = "#" * verified + "+" * (done - verified) + "." * (_BAR_CELLS - done)
        say(f"[{bar}]  # verified  + done  . open")
    waiting = [one.text for one in found.features if one.state == "open"]
    if waiting:
        say()
        say("Next:")
        for text in waiting[:_MOST_OPEN]:
            say(f"  {text}")
        if len(waiting) > _MOST_OPEN:
            say(f"  and {len(waiting) - _MOST_OPEN:,} more")
    if found.newest_entry:
        say()
        say(found.newest_entry)
    if found.warnings:
        say()
        for warning in found.warnings:
            say(f"Warning: {warning}")


def _shape(found: Status) -> dict[str, object]:
    return {
        "template": found.template,
        "sessions": found.sessions,
        "is_open": found.is_open,
        "began_at": None if found.began_at is None else json_time(found.began_at),
        "logged_at": None if found.logged_at is None else json_time(found.logged_at),
        "features": [one._asdict() for one in found.features],
        "done": found.done,
        "verified": found.verified,
        "newest_entry": found.newest_entry,
        "warnings": list(found.warnings),
    }
