"""``memoranda backup``: stores with their history in one file."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.backup_file import PIPE, writing
from memoranda.cli.shared.options import AsJson, StoreUrl, UserOrAll, Workspace
from memoranda.cli.shared.output import NO_STORES, counted, note, print_json, say
from memoranda.cli.shared.place import acting, find_place
from memoranda.cli.shared.progress import progress
from memoranda.errors import Misuse


def backup(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file to make; - is standard output.")
    ],
    recipients: Annotated[
        list[str] | None,
        typer.Option(
            "--age-recipient", metavar="AGE1…", help="Encrypt for this recipient; repeatable."
        ),
    ] = None,
    workspace: Workspace = None,
    store: StoreUrl = None,
    user: UserOrAll = None,
    as_json: AsJson = False,
) -> None:
    """Write memories with their history into one file.

    One user's (--user, also the id of a store), or all there are; each as of one moment, while others go on writing. The file is for its owner only. restore-backup brings it back, into any backend.

    Example: memoranda backup memory.backup
    """
    from memoranda.operations.backup.writing import write_backup
    from memoranda.operations.copying.stores import stores_of

    if as_json and file == PIPE:
        raise Misuse("The backup goes to standard output; --json would go there too.")
    place = find_place(store, None, quiet=True)
    with place.backend() as shared, progress("Backing up") as tell:
        infos = shared.drive(stores_of(shared.backend, user, workspace))
        if not infos:
            note(NO_STORES)
        with writing(file, recipients or ()) as out:
            done = shared.drive(
                write_backup(shared.backend, infos, out.write, acting(), progress=tell)
            )
    if as_json:
        print_json(done._asdict())
        return
    what = (
        f"Backed up {counted(done.stores, 'store', 'stores')}, "
        f"{counted(done.versions, 'version', 'versions')}."
    )
    if file == PIPE:
        note(what)
    else:
        say(what)
