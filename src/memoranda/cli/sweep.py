"""``memoranda sweep``: remove the memories whose time is over."""

from __future__ import annotations

from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName
from memoranda.cli.shared.output import counted, note, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.progress import progress


def sweep(
    dry_run: DryRun = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Remove the memories whose time is over.

    Those that [[expiry]] in memoranda.toml is about; they can be restored while history is kept.
    What a hold covers stays.

    Example: memoranda sweep --dry-run
    """
    with (
        find_place(store, user, quiet=as_json).open() as memory,
        progress("Removing") as tell,
    ):
        swept = memory.sweep(dry_run=dry_run, progress=tell)
    removed, held = [str(path) for path in swept.removed], [str(path) for path in swept.held]
    if as_json:
        print_json({"dry_run": dry_run, "skipped": swept.skipped, "removed": removed, "held": held})
        return
    if swept.skipped:
        note("Nothing was done for 30 days, so the clock may be wrong: nothing expires this time.")
        return
    for path in removed:
        say(f"  {path}")
    memories = counted(len(removed), "memory", "memories")
    say(f"Would remove {memories}." if dry_run else f"Removed {memories}.")
    if held:
        note(f"A hold keeps {counted(len(held), 'memory', 'memories')} whose time is over.")
