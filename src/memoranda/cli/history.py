"""``memoranda history``: who changed what, and when."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.json_shapes import versions_shape
from memoranda.cli.shared.options import AsJson, PathOrAll, StoreUrl, UserName
from memoranda.cli.shared.output import note, print_json
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_versions
from memoranda.path import ROOT_TEXT


def history(
    path: PathOrAll = ROOT_TEXT,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="At most so many versions, the newest.")
    ] = 20,
    all_of_them: Annotated[bool, typer.Option("--all", help="All versions.")] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """List versions: who changed what, and when.

    Those of everything that ever was at a path, newest first. Each line: when, what, size, by whom, the version's id, the path, and marks of text that instructs the agent.

    Example: memoranda history /memories/notes.md
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        versions = memory.history(path, limit=None if all_of_them else limit + 1)
        more = not all_of_them and len(versions) > limit
        versions = versions[:limit] if more else versions
        marks = memory.marks(versions)
    if as_json:
        print_json({**versions_shape(versions), "more": more, "marks": marks})
        return
    if not versions:
        note("There is no history here.")
        return
    print_versions(versions, marks)
    if more:
        note(f"These are the newest {limit}; --all shows every one.")
