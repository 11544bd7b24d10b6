"""``memoranda erase``: a whole memory, history and all, for good."""

from __future__ import annotations

from memoranda.cli.shared.confirm import confirm_by_typing
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import counted, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.text.size import format_size


def erase(
    dry_run: DryRun = False,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Erase a user's memory, history and all.

    For good: nothing of it stays readable. Asks for the user's name before it does.

    Example: memoranda erase --user ada --dry-run
    """
    place = find_place(store, user, quiet=as_json)
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
