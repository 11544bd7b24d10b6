"""``memoranda create``: a new memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.given_text import given_bytes
from memoranda.cli.shared.json_shapes import version_shape
from memoranda.cli.shared.options import AsJson, File, StoreUrl, UserName
from memoranda.cli.shared.output import note, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.stores.base import Removal


def create(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Where, for example /memories/notes.md.")
    ],
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT",
            help="The content; - is standard input. After -- it may begin with a dash.",
        ),
    ] = None,
    file: File = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace what is there; the old text stays in history."),
    ] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Make a memory.

    The content may be anything; it is kept byte for byte.

    Example: memoranda create /memories/notes.md "We ship on Fridays."
    """
    content = given_bytes(text, file)
    place = find_place(store, user, quiet=as_json)
    if_absent = not overwrite and place.policy.on_exists == "error"
    masked: list[Removal] = []
    with place.open(expected=False) as memory:
        version = memory.write(path, content, if_absent=if_absent, notice=masked.append)
    whats = [what for removal in masked for what in removal.whats]
    if as_json:
        print_json({**version_shape(version), "masked": whats})
    else:
        if whats:
            note(f"Masked before saving: {', '.join(whats)}.")
        say(f"Wrote {version.path} ({format_size(len(content))}).")
