"""``memoranda import``: plain files, or the folder of another memory tool, become memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName
from memoranda.cli.shared.output import counted, note, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.progress import progress
from memoranda.errors import Refused
from memoranda.path import ROOT_TEXT

if TYPE_CHECKING:
    from memoranda.operations.import_folder import Imported


def import_folder(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="The folder; also one that the SDK's own memory tool filled."
        ),
    ],
    path: Annotated[
        str, typer.Option("--path", metavar="PATH", help="Below this directory.")
    ] = ROOT_TEXT,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace memories that have another content.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Take the folder as it is, whatever it looks like.")
    ] = False,
    dry_run: DryRun = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Take in the files of a folder.

    What stays outside is listed with the reason. Of a folder with a folder "memories" in it, as the SDK's own tool makes it, that one is taken.
    Ends with 2 if anything stayed outside. Importing again goes on where it stopped.

    Example: memoranda import ./old-memory --dry-run
    """
    with (
        find_place(store, user, quiet=as_json).open(expected=False) as memory,
        progress("Importing") as tell,
    ):
        done = memory.import_(
            folder,
            prefix=path,
            replace=replace,
            dry_run=dry_run,
            layout="plain" if plain else "auto",
            progress=tell,
        )
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "written": [str(each) for each in done.written],
                "unchanged": [str(each) for each in done.unchanged],
                "refused": [each._asdict() for each in done.refused],
                "masked": [
                    {"path": str(each.path), "whats": list(each.whats)} for each in done.masked
                ],
            }
        )
    else:
        _say(done, dry_run=dry_run)
    if done.refused:
        raise typer.Exit(Refused.exit_code)


def _say(done: Imported, *, dry_run: bool) -> None:
    verb = "Would import" if dry_run else "Imported"
    unchanged = f", {len(done.unchanged):,} had been there already" if done.unchanged else ""
    say(f"{verb} {counted(len(done.written), 'file', 'files')}{unchanged}.")
    if dry_run:
        for each in done.written:
            say(f"  {each}")
    for removal in done.masked:
        note(f"Masked in {removal.path}: {', '.join(removal.whats)}.")
    if done.refused:
        say(f"{len(done.refused):,} {'stay' if dry_run else 'stayed'} outside:")
        for name, reason in done.refused:
            say(f"  {name}: {reason}")
