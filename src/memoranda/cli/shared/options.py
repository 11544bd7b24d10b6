"""Options that several commands have, each with one name, one meaning and one help text."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import typer

from memoranda.path import ROOT_TEXT

JSON_WANTED: Final = "memoranda.json"
"""Where a context's ``meta`` notes that the answer, or the error, is wanted as JSON."""


def _note_json(context: typer.Context, wanted: bool) -> bool:
    context.meta[JSON_WANTED] = wanted
    return wanted


StoreUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Where the memories are kept: a folder or a URL. Else MEMORANDA_STORE, "
        "memoranda.toml, ./memory.",
    ),
]
UserName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="NAME",
        help="Whose memory, or the id of a store. Else MEMORANDA_USER, memoranda.toml, default.",
    ),
]
UserOrAll: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--user", metavar="NAME", help="Only this user's, or the store with this id; else all."
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs.", callback=_note_json)
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask, do it.")]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
]
Workspace: TypeAlias = Annotated[
    str | None,
    typer.Option("--workspace", metavar="NAME", help="Only this workspace."),
]
File: TypeAlias = Annotated[
    str | None,
    typer.Option("--file", metavar="FILE", help="Take the text from a file; - is standard input."),
]
PathOrAll: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PATH", help=f"A memory or a directory; else {ROOT_TEXT}.", show_default=False
    ),
]
