"""``memoranda insert``: lines into a memory."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.claude import print_answer, run_command
from memoranda.cli.shared.given_text import given_text
from memoranda.cli.shared.options import AsJson, File, StoreUrl, UserName
from memoranda.cli.shared.place import find_place


def insert(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The memory.")],
    line: Annotated[int, typer.Argument(metavar="LINE", help="After which line; 0 is the top.")],
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT",
            help="The lines; - is standard input. After -- they may begin with a dash.",
        ),
    ] = None,
    file: File = None,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Insert lines into a memory.

    Example: memoranda insert /memories/notes.md 1 "Ada likes short answers."
    """
    command = {
        "command": "insert",
        "path": path,
        "insert_line": line,
        "insert_text": given_text(text, file),
    }
    with find_place(store, user, quiet=as_json).open() as memory:
        answer = run_command(memory, command)
    print_answer(answer, as_json=as_json)
