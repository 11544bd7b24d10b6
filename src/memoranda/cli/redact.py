"""``memoranda redact``: a version's content blanked for good."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.confirm import confirm
from memoranda.cli.shared.json_shapes import version_shape
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_versions


def redact(
    version_id: Annotated[
        str, typer.Argument(metavar="VERSION", help="A version's id: memver_...")
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Blank an old version for good.

    Its content, path, size and hash go. That it was there, when and by whom, stays in history. The present version of a memory can't
    be redacted: write a newer one or delete the memory first.

    Example: memoranda redact memver_0123456789abcdefghijklmn --dry-run
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        version = memory.version(version_id)
        if not dry_run:
            where = f"of {version.path} " if version.path else ""
            confirm(f"Blank {version.id} {where}for good?", yes=yes)
            version = memory.redact(version_id)
    if as_json:
        print_json({**version_shape(version), "dry_run": dry_run})
        return
    say("Would blank:" if dry_run else "Blanked:")
    print_versions([version])
