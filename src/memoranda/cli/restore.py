"""``memoranda restore``: a memory, a directory or all as it was."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.confirm import confirm
from memoranda.cli.shared.json_shapes import versions_shape
from memoranda.cli.shared.options import AsJson, DryRun, PathOrAll, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import note, print_json, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_changes
from memoranda.cli.shared.when import parse_when, shown_time
from memoranda.path import ROOT_TEXT, parse_path

if TYPE_CHECKING:
    from memoranda.operations.restore import RestorePreview


def restore(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="VERSION|TIME",
            help="A version's id; 2026-12-31T18:00; or how long ago: 10m, 2h, 3d.",
        ),
    ],
    path: PathOrAll = ROOT_TEXT,
    dry_run: DryRun = False,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Bring back an earlier state, of all or of a path.

    What came since is removed, what was removed comes back; history only grows, so memoranda undo
    takes a restore back. Asks before all is restored.

    Example: memoranda restore /memories/notes.md --to 1h
    """
    where, when = parse_path(path), parse_when(to)
    with find_place(store, user, quiet=as_json).open() as memory:
        if dry_run:
            _say_what_would_change(memory.preview_restore(path, to=when), as_json)
            return
        if where.is_root:
            moment = shown_time(when) if isinstance(when, datetime) else when
            confirm(f"Make the whole memory what it was at {moment}?", yes=yes)
        done = memory.restore(path, to=when)
    if as_json:
        kept = [str(each) for each in done.kept]
        print_json({**versions_shape(done.versions), "kept": kept})
        return
    if done.versions:
        say("Restored:")
        print_changes(done.versions)
    else:
        note("All is as it was then: nothing was changed.")
    for each in done.kept:
        note(f"{each} stays as it is: what it held then was redacted.")


def _say_what_would_change(preview: RestorePreview, as_json: bool) -> None:
    changes = preview.changes
    if as_json:
        shapes = [{"change": change, "path": str(path)} for change, path in changes]
        kept = [str(each) for each in preview.kept]
        print_json({"dry_run": True, "changes": shapes, "kept": kept})
        return
    if changes:
        say("Would:")
        table([[f"  {change}", str(path)] for change, path in changes])
    else:
        note("All is as it was then: nothing would change.")
    for each in preview.kept:
        note(f"{each} would stay as it is: what it held then was redacted.")
