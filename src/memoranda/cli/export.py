"""``memoranda export``: the memories as plain files."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import counted, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.progress import progress
from memoranda.path import ROOT_TEXT
from memoranda.text.size import format_size


def export(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where to; made if it is missing.")
    ],
    path: Annotated[
        str, typer.Option("--path", metavar="PATH", help="Only this memory or directory.")
    ] = ROOT_TEXT,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Use a folder that isn't empty, and replace files of the same names in it.",
        ),
    ] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Write the memories to a folder as plain files.

    All as they are at one moment.

    Example: memoranda export ./backup
    """
    with find_place(store, user, quiet=as_json).open() as memory, progress("Exporting") as tell:
        done = memory.export(folder, prefix=path, replace=replace, progress=tell)
    if as_json:
        print_json(done._asdict())
    else:
        number = counted(done.files, "memory", "memories")
        say(f"Wrote {number} ({format_size(done.size_bytes)}) to {folder}.")
