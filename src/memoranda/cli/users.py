"""``memoranda users``: whose memories a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl
from memoranda.cli.shared.output import note, print_json, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import json_time, shown_time, time_of_ns
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.cli.shared.place import Place
    from memoranda.stores.base import StoreInfo, Usage


def users(
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Also how much each holds; opens every memory.")
    ] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """List whose memories there are, newest first.

    Stores without a user too. Each line: the user, since when, the store's id, the store's name if it has no user.

    Example: memoranda users --sizes
    """
    place = find_place(store, None, quiet=as_json)
    stores = _all_stores(place)
    used = [_usage(place, info) if sizes else None for info in stores]
    if as_json:
        shapes = [_shape(info, each) for info, each in zip(stores, used, strict=True)]
        print_json({"stores": shapes})
    elif stores:
        table([_row(info, each) for info, each in zip(stores, used, strict=True)])
    else:
        note("There are no memories in this store yet.")


def _all_stores(place: Place) -> list[StoreInfo]:
    found: list[StoreInfo] = []
    with place.backend() as shared:
        after: str | None = None
        while True:
            page = shared.drive(shared.backend.list(place.workspace, after=after))
            found += page.stores
            after = page.after
            if after is None:
                return found


def _usage(place: Place, info: StoreInfo) -> Usage:
    whose = place._replace(user=info.id if info.user is None else info.user)
    with whose.open(expected=False) as memory:
        return memory.usage()


def _row(info: StoreInfo, used: Usage | None) -> list[str]:
    row = [
        "-" if info.user is None else info.user,
        shown_time(time_of_ns(info.created_at_ns)),
        info.id,
    ]
    if used is not None:
        row += [f"{used.files:,}", format_size(used.size_bytes)]
    name = info.name if info.user is None else ""
    return [*row, f"{name} (archived)".lstrip() if info.archived_at_ns is not None else name]


def _shape(info: StoreInfo, used: Usage | None) -> dict[str, Any]:
    archived = info.archived_at_ns
    shape: dict[str, Any] = {
        "id": info.id,
        "user": info.user,
        "name": info.name,
        "created_at": json_time(time_of_ns(info.created_at_ns)),
        "archived_at": None if archived is None else json_time(time_of_ns(archived)),
    }
    return shape if used is None else {**shape, **used._asdict()}
