"""``memoranda replace``: one text in a memory by another."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.claude import print_answer, run_command
from memoranda.cli.shared.given_text import given_text
from memoranda.cli.shared.options import AsJson, File, StoreUrl, UserName
from memoranda.cli.shared.place import find_place


def replace(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The memory.")],
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="The text to replace; it has to be there just once."),
    ],
    new: Annotated[
        str | None,
        typer.Argument(
            metavar="NEW", help='The text instead; - is standard input, "" deletes the old one.'
        ),
    ] = None,
    file: File = None,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Replace a text in a memory.

    Texts that begin with a dash come after --.

    Example: memoranda replace /memories/notes.md Fridays Tuesdays
    """
    command = {
        "command": "str_replace",
        "path": path,
        "old_str": old,
        "new_str": given_text(new, file),
    }
    with find_place(store, user, quiet=as_json).open() as memory:
        answer = run_command(memory, command)
    print_answer(answer, as_json=as_json)
