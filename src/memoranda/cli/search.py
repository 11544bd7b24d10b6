"""``memoranda search``: which memories hold some words."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import note, one_line, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.path import ROOT_TEXT


def search(
    words: Annotated[
        str,
        typer.Argument(
            metavar="WORDS", help='All of them have to be there; "two words" in quotes are one.'
        ),
    ],
    path: Annotated[
        str, typer.Option("--in", metavar="PATH", help="Only in this directory.")
    ] = ROOT_TEXT,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="At most so many memories.")
    ] = 50,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Find memories by words in them.

    Upper and lower case are the same.

    Example: memoranda search "ship friday"
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        hits = memory.search(words, path, limit=limit)
    if as_json:
        print_json(
            {
                "hits": [
                    {
                        "path": str(hit.path),
                        "lines": [{"line": line, "text": text} for line, text in hit.lines],
                    }
                    for hit in hits
                ]
            }
        )
        return
    if not hits:
        note("No memory holds these words.")
    for hit in hits:
        for line, text in hit.lines:
            say(f"{hit.path}:{line}: {one_line(text)}")
