"""``memoranda delete``: a memory, or a directory with all that is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.claude import print_answer, run_command
from memoranda.cli.shared.confirm import confirm
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import counted, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.memory import Memory


def delete(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A memory or a directory.")],
    dry_run: DryRun = False,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Delete a memory or a directory.

    A directory goes with all that is in it. History stays: memoranda undo brings it back. Asks before a directory goes.

    Example: memoranda delete /memories/old --dry-run
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        beneath = memory.list(path)
        if dry_run:
            _say_what_would_go(memory, path, [str(entry.path) for entry in beneath], as_json)
            return
        if beneath:
            size = format_size(sum(entry.size_bytes for entry in beneath))
            number = counted(len(beneath), "memory", "memories")
            confirm(f"Delete {path} with {number} ({size})?", yes=yes)
        answer = run_command(memory, {"command": "delete", "path": path})
    print_answer(answer, as_json=as_json)


def _say_what_would_go(memory: Memory, path: str, beneath: list[str], as_json: bool) -> None:
    paths = beneath or [str(memory.read(path).path)]
    if as_json:
        print_json({"dry_run": True, "paths": paths})
        return
    say(f"Would delete {counted(len(paths), 'memory', 'memories')}:")
    for each in paths:
        say(f"  {each}")
