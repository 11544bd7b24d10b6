"""``memoranda hold``: keep paths from expiry, retention and erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.cli.shared.options import AsJson, PathOrAll, StoreUrl, UserName
from memoranda.cli.shared.output import note, print_json, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import json_time, shown_time, time_of_ns
from memoranda.path import ROOT_TEXT

if TYPE_CHECKING:
    from memoranda.stores.base import Hold


def hold_add(
    path: PathOrAll = ROOT_TEXT,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is shown and kept.")] = "",
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Hold a path, or the whole memory.

    Nothing of it expires, its history stays, and the memory can't be erased until it is lifted.

    Example: memoranda hold add /memories/case --reason "case 12"
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        hold = memory.hold(path, reason=reason)
    if as_json:
        print_json(_shape(hold))
    else:
        say(f"Held: {hold.path}")


def hold_list(store: StoreUrl = None, user: UserName = None, as_json: AsJson = False) -> None:
    """List what is held.

    Each line: since when, by whom, the path, why.

    Example: memoranda hold list
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        holds = memory.holds()
    if as_json:
        print_json({"holds": [_shape(hold) for hold in holds]})
    elif holds:
        table(
            [
                [shown_time(time_of_ns(hold.at_ns)), hold.actor, str(hold.path), hold.reason]
                for hold in holds
            ]
        )
    else:
        note("Nothing is held.")


def hold_lift(
    path: PathOrAll = ROOT_TEXT,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Lift the hold of a path.

    Of exactly this path; others stay.

    Example: memoranda hold lift /memories/case
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        lifted = memory.lift_hold(path)
    if as_json:
        print_json({"path": path, "lifted": lifted})
    else:
        say(f"Lifted: {path}" if lifted else f"Nothing held {path}.")


def _shape(hold: Hold) -> dict[str, Any]:
    return {
        "path": str(hold.path),
        "reason": hold.reason,
        "actor": hold.actor,
        "at": json_time(time_of_ns(hold.at_ns)),
    }
