"""``memoranda erase``: a whole memory, history and all, for good."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.confirm import confirm_by_typing
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import counted, print_json, say
from memoranda.cli.shared.place import Place, find_place
from memoranda.text.size import format_size


def erase(
    path: Annotated[
        str | None,
        typer.Option("--path", metavar="PATH", help="Only what is and ever was at this path."),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Erase a user's memory, history and all.

    For good: nothing of it stays readable. Asks for the user's name before it does. With --path only what is and ever was there; asks for the path.

    Example: memoranda erase --user ada --dry-run
    """
    place = find_place(store, user, quiet=as_json)
    if path is not None:
        _erase_path(place, path, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    with place.open() as memory:
        used = memory.usage()
        memories = counted(used.files, "memory", "memories")
        versions = counted(used.versions, "version", "versions")
        what = f"all of {place.user}: {memories} ({format_size(used.size_bytes)}), {versions}"
        if not dry_run:
            confirm_by_typing(f"This erases {what}; for good.", place.user, yes=yes)
            memory.erase(confirm=place.user)
    if as_json:
        print_json({"user": place.user, "dry_run": dry_run, **used._asdict()})
    else:
        say(f"Would erase {what}." if dry_run else f"Erased {what}.")


def _erase_path(place: Place, path: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    with place.open() as memory:
        count = sum(1 for version in memory.history(path, limit=None) if version.path is not None)
        if not dry_run:
            confirm_by_typing(f"This erases {path} with its history; for good.", path, yes=yes)
            count = memory.erase_path(path)
    if as_json:
        print_json({"path": path, "dry_run": dry_run, "versions": count})
    else:
        what = f"{path}: {counted(count, 'version', 'versions')}"
        say(f"Would erase {what}." if dry_run else f"Erased {what}.")
