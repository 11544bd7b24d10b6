"""``memoranda rename``: another path for a memory or a directory."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.claude import print_answer, run_command
from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.place import find_place


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The memory or directory.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new path, which has to be free.")],
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Rename or move a memory or a directory.

    Its history goes with it.

    Example: memoranda rename /memories/notes.md /memories/archive/notes.md
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        answer = run_command(memory, {"command": "rename", "old_path": old, "new_path": new})
    print_answer(answer, as_json=as_json)
