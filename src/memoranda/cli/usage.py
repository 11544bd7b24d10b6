"""``memoranda usage``: how much there is, and how much there may be."""

from __future__ import annotations

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import print_json, table
from memoranda.cli.shared.place import find_place
from memoranda.text.size import format_size


def usage(store: StoreUrl = None, user: UserName = None, as_json: AsJson = False) -> None:
    """Say how much is kept, and what the limits are.

    Example: memoranda usage --user ada
    """
    place = find_place(store, user, quiet=as_json)
    with place.open() as memory:
        used = memory.usage()
    limits = place.policy.limits
    if as_json:
        print_json(
            {
                **used._asdict(),
                "limits": {"files": limits.files, "store_bytes": limits.store_bytes},
            }
        )
        return
    files = "no limit" if limits.files is None else f"of {limits.files:,}"
    size = "no limit" if limits.store_bytes is None else f"of {format_size(limits.store_bytes)}"
    table(
        [
            ["memories", f"{used.files:,}", files],
            ["size", format_size(used.size_bytes), size],
            ["versions", f"{used.versions:,}", ""],
            ["history", format_size(used.history_bytes), "on storage"],
        ]
    )
