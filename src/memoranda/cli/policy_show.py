"""``memoranda policy show``: the rules that hold for a memory, and where each was set."""

from __future__ import annotations

from typing import Any, cast

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import print_json, table
from memoranda.cli.shared.place import find_place


def policy_show(
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show the rules that hold for a memory.

    Each value, and where it was set: memoranda.toml, a rule in it, the environment, or built in.

    Example: memoranda policy show --user ada
    """
    from memoranda.config import load_settings

    place = find_place(store, user, quiet=True)
    settings = load_settings().explain(
        place.url,
        None if place.is_store else place.user,
        place.user if place.is_store else None,
    )
    if as_json:
        print_json(
            {
                "user": place.user,
                "settings": {
                    key: {"value": _plain(each.value), "origin": each.origin}
                    for key, each in settings.items()
                },
            }
        )
        return
    table([[key, _shown(each.value), each.origin] for key, each in settings.items()])


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_row(each) for each in cast("tuple[object, ...]", value)]
    return value


def _row(value: object) -> dict[str, Any]:
    from dataclasses import fields

    shown = {each.name: getattr(value, each.name) for each in fields(cast("Any", value))}
    shown.pop("policy", None)  # a mounted store's: shown when it is asked about itself
    if shown.get("url") is not None:
        scheme, colon, _ = shown["url"].partition(":")
        shown["url"] = f"{scheme}:..." if colon else shown["url"]  # there may be a password
    return shown


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "; ".join(str(_row(each)) for each in cast("tuple[object, ...]", value)) or "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
