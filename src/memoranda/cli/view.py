"""``memoranda view``: a memory or a directory, as Claude sees it."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from memoranda.cli.shared.claude import print_answer, run_command
from memoranda.cli.shared.json_shapes import content_shape
from memoranda.cli.shared.options import AsJson, PathOrAll, StoreUrl, UserName
from memoranda.cli.shared.output import print_json, show
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import json_time
from memoranda.path import ROOT_TEXT

_LINES: Final = re.compile(r"([0-9]{1,18})(?:(-)([0-9]{1,18})?)?")


def view(
    path: PathOrAll = ROOT_TEXT,
    lines: Annotated[
        str | None,
        typer.Option("--lines", metavar="A-B", help="Only lines A to B; A- is from A to the end."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="The exact content of a memory, without line numbers.")
    ] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show a memory or list a directory, as Claude sees it.

    Example: memoranda view /memories/notes.md --lines 1-20
    """
    if raw and lines is not None:
        raise typer.BadParameter("--raw gives the whole content; leave out --lines.")
    command: dict[str, object] = {"command": "view", "path": path}
    if lines is not None:
        command["view_range"] = _line_range(lines)
    with find_place(store, user, quiet=as_json).open() as memory:
        if not raw:
            print_answer(run_command(memory, command), as_json=as_json)
            return
        stored = memory.read(path)
    if not as_json:
        show(stored.content)
        return
    print_json(
        {
            "path": str(stored.path),
            **content_shape(stored.content),
            "memory_id": stored.memory_id,
            "version_id": stored.version_id,
            "size_bytes": stored.size_bytes,
            "sha256": stored.sha256,
            "created_at": json_time(stored.created_at),
            "updated_at": json_time(stored.updated_at),
        }
    )


def _line_range(given: str) -> list[int]:
    match = _LINES.fullmatch(given)
    if match is None:
        raise typer.BadParameter("Write A-B, A- or A, for example 10-20.", param_hint="--lines")
    first, dash, last = match.groups()
    if not dash:
        return [int(first), int(first)]
    return [int(first), -1 if last is None else int(last)]
