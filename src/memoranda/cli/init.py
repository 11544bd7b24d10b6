"""``memoranda init``: a memory begins with a layout and what its agent is to be told."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import print_json, say, table
from memoranda.cli.shared.place import find_place


def init(
    template: Annotated[
        str | None,
        typer.Option(
            "--template", metavar="NAME", help="Which layout; without it, say which there are."
        ),
    ] = None,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Begin a memory with a layout.

    Writes the files of a template, and prints what to put into the agent's system prompt. What is there already stays as it is.

    Example: memoranda init --template coding-agent
    """
    from memoranda.agent.sessions import Sessions
    from memoranda.agent.templates import NAMES
    from memoranda.agent.templates import template as find_template

    if template is None:
        rows = [[name, find_template(name).summary] for name in NAMES]
        if as_json:
            print_json({"templates": [{"name": name, "summary": text} for name, text in rows]})
        else:
            table(rows)
            say("memoranda init --template NAME begins a memory with one.")
        return
    chosen = find_template(template)
    with find_place(store, user, quiet=as_json).open(expected=False) as memory:
        seeded = Sessions(memory).seed(template)
    if as_json:
        print_json(
            {
                "template": template,
                "written": list(seeded.written),
                "kept": list(seeded.kept),
                "guidance": chosen.guidance,
            }
        )
        return
    table([["written", path] for path in seeded.written] + [["kept", path] for path in seeded.kept])
    say()
    say("Put this into the system prompt of the agent:")
    say()
    say(chosen.guidance.rstrip())
