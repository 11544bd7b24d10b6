"""``memoranda restore-backup``: stores out of a backup."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.backup_file import PIPE, reading
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl
from memoranda.cli.shared.output import counted, print_json, say
from memoranda.cli.shared.place import acting, find_place
from memoranda.cli.shared.progress import progress


def restore_backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The backup; - is standard input.")],
    identities: Annotated[
        list[str] | None,
        typer.Option(
            "--age-identity",
            metavar="FILE",
            help="Decrypt with the identity in this file; repeatable.",
        ),
    ] = None,
    dry_run: DryRun = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Bring back memories with their history from a backup.

    Never over a memory that is there: erase it first, or restore into another store. The whole file is checked before anything is restored (not from standard input, which can be read once), and each store is compared with it before the next one begins. --dry-run only checks.

    Example: memoranda restore-backup memory.backup --store ./restored
    """
    from memoranda.operations.backup.reading import check_backup
    from memoranda.operations.backup.restoring import restore_backup as restore

    total = 0
    if file != PIPE or dry_run:
        with reading(file, identities or ()) as source:
            total = check_backup(source.read)
    if dry_run:
        n_stores = None
    else:
        place = find_place(store, None, quiet=True)
        with (
            place.backend() as shared,
            progress("Restoring") as tell,
            reading(file, identities or ()) as source,
        ):
            work = restore(shared.backend, source.read, acting(), progress=tell, total=total)
            n_stores, total = shared.drive(work)
    versions = counted(total, "version", "versions")
    if as_json:
        print_json({"dry_run": dry_run, "stores": n_stores, "versions": total})
    elif n_stores is None:
        say(f"The backup is whole: {versions}.")
    else:
        say(f"Restored and compared {counted(n_stores, 'store', 'stores')}, {versions}.")
