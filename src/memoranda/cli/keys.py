"""``memoranda keys create``, ``list``, ``revoke`` and ``rotate``."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast

import typer

from memoranda.cli.shared.confirm import confirm
from memoranda.cli.shared.options import AsJson, StoreUrl, Yes
from memoranda.cli.shared.output import note, print_json, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import json_time, shown_time, time_of_ns
from memoranda.errors import Misuse

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from memoranda.server.keys import Key, Keys, Role
    from memoranda.shared_backends import SharedBackend

T = TypeVar("T")

_SPAN: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

KeyId = Annotated[str, typer.Argument(metavar="KEY_ID", help="The key's id, apikey_...")]


class _Opened:
    """The keys of a store, for callers that don't await."""

    def __init__(self, shared: SharedBackend) -> None:
        from memoranda.server.keys import KIND, Keys

        self.keys: Keys = Keys(shared.backend.records(KIND))
        self._drive = shared.drive

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives."""
        return self._drive(work)


@contextmanager
def _opened(store: str | None) -> Generator[_Opened]:
    with find_place(store, None, quiet=True).backend() as shared:
        yield _Opened(shared)


def keys_create(
    name: Annotated[str, typer.Option("--name", help="What it is for; it is shown.")] = "",
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="read, write or admin.")
    ] = "write",
    workspace: Annotated[
        str | None,
        typer.Option("--workspace", help="The workspace it is for; else memoranda.toml, default."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ID", help="Only for this store; may be repeated."),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="After 12h, 90d, ...; else never."),
    ] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and show it, this once.

    With the role read it may look, with write also change, with admin also manage keys.

    Example: memoranda keys create --name "support bot" --expires 90d
    """
    place = find_place(store, None, quiet=True)
    seconds = None if expires is None else _seconds(expires)
    with _opened(store) as opened:
        made = opened.do(
            opened.keys.create(
                name=name,
                workspace=workspace or place.workspace,
                role=cast("Role", role),
                stores=tuple(only) if only else None,
                expires_in_seconds=seconds,
            )
        )
    _show(made.key.id, made.credential, as_json=as_json)


def keys_list(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the keys, oldest first; never their secrets.

    Each line: the id, the role, the workspace, since when, whether it counts, its name.

    Example: memoranda keys list
    """
    with _opened(store) as opened:
        keys = opened.do(opened.keys.list())
    if as_json:
        print_json({"keys": [key_shape(key) for key in keys]})
    elif keys:
        table([_row(key) for key in keys])
    else:
        note("There are no keys in this store yet.")


def keys_revoke(
    key_id: KeyId, yes: Yes = False, store: StoreUrl = None, as_json: AsJson = False
) -> None:
    """Have a key count no more, for good.

    Servers that run notice within a second.

    Example: memoranda keys revoke apikey_01ABC --yes
    """
    with _opened(store) as opened:
        key = opened.do(opened.keys.get(key_id))
        if key.revoked_at_ns is None:
            confirm(f"Revoke the key {key.id}?", yes=yes)
            key = opened.do(opened.keys.revoke(key_id))
    if as_json:
        print_json(key_shape(key))
    else:
        say(f"Revoked: {key.id}")


def keys_rotate(
    key_id: KeyId,
    grace: Annotated[
        str, typer.Option("--grace", metavar="TIME", help="How long the old secret still counts.")
    ] = "0s",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Give a key another secret and show it, this once.

    Id, role, workspace and stores stay. With --grace both secrets count for a while.

    Example: memoranda keys rotate apikey_01ABC --grace 1h
    """
    with _opened(store) as opened:
        made = opened.do(opened.keys.rotate(key_id, _seconds(grace)))
    _show(made.key.id, made.credential, as_json=as_json)


def key_shape(key: Key) -> dict[str, Any]:
    """A key as JSON, without anything secret."""
    return {
        "id": key.id,
        "name": key.name,
        "workspace": key.workspace,
        "role": key.role,
        "stores": None if key.stores is None else list(key.stores),
        "created_at": json_time(time_of_ns(key.created_at_ns)),
        "expires_at": _optional_time(key.expires_at_ns),
        "revoked_at": _optional_time(key.revoked_at_ns),
    }


def _optional_time(ns: int | None) -> str | None:
    return None if ns is None else json_time(time_of_ns(ns))


def _row(key: Key) -> list[str]:
    state = "active" if key.counts_at(time.time_ns()) else "expired"
    if key.revoked_at_ns is not None:
        state = "revoked"
    since = shown_time(time_of_ns(key.created_at_ns))
    return [key.id, key.role, key.workspace, since, state, key.name]


def _show(key_id: str, credential: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": key_id, "key": credential})
    else:
        say(credential)
        note(f"This is the key {key_id}. It is shown this once; keep it safe.")


def _seconds(text: str) -> int:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise Misuse("A span of time is a number and a unit: 30s, 10m, 12h, 90d, 4w.")
    return int(found[1]) * _UNITS[found[2]]
