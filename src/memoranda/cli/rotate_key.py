"""``memoranda rotate-key``: sealed stores change their keys."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Annotated, Final

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl
from memoranda.cli.shared.output import counted, note, print_json, say
from memoranda.cli.shared.place import acting, find_place
from memoranda.cli.shared.progress import progress
from memoranda.errors import Unsupported

_DAY_NS: Final = 86_400 * 1_000_000_000


def rotate_key(
    data_keys: Annotated[
        bool,
        typer.Option(
            "--data-keys",
            help="Also a new data key for each store, for what is written from now on.",
        ),
    ] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Wrap the keys of sealed stores with the present key.

    MEMORANDA_SEALED_KEY (or _FILE) is the new key, MEMORANDA_SEALED_FORMER_KEY (or _FILE) the one before. Online, and repeatable after a kill at any step: once nothing is wrapped anew, the former key is not needed any more. Also erases keys of stores that are gone.

    Example: memoranda rotate-key --store sealed:./memory
    """
    from memoranda.stores.base import Context
    from memoranda.stores.sealed.backend import SealedBackend

    place = find_place(store, None, quiet=as_json)
    n_orphans: int | None = None
    with place.backend() as shared, progress("Rotating") as tell:
        backend = shared.backend
        if not isinstance(backend, SealedBackend):
            raise Unsupported("keys: it is not sealed (a sealed store's URL begins with sealed:)")
        n_wrapped = shared.drive(backend.rewrap_keys(data_keys=data_keys, progress=tell))
        with suppress(Unsupported):
            by = Context(acting(), "rotate-key")
            n_orphans = shared.drive(backend.erase_orphans(by, time.time_ns() - _DAY_NS))
    if as_json:
        print_json({"stores": n_wrapped, "orphans": n_orphans, "data_keys": data_keys})
        return
    what = "Gave new data keys to" if data_keys else "Wrapped the keys anew of"
    say(f"{what} {counted(n_wrapped, 'store', 'stores')}.")
    if n_orphans:
        say(f"Erased the keys of {counted(n_orphans, 'store', 'stores')} that are gone.")
    if n_orphans is None:
        note(
            "Note: this backend can't list its workspaces, so keys of erased stores were not looked for."
        )
