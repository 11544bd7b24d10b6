"""``memoranda report``: a page with pictures about one memory or all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import print_json, say, show
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.progress import progress
from memoranda.errors import Misuse

if TYPE_CHECKING:
    from memoranda.cli.shared.place import Place
    from memoranda.report import Facts

_USUAL: Final = "memoranda-report.html"
_STANDARD_OUTPUT: Final = "-"


def report(
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="The page; - is standard output."),
    ] = _USUAL,
    everybody: Annotated[
        bool, typer.Option("--all", help="About every memory in the store.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Make a page with pictures about a memory.

    Growth, activity, sizes, quota and flags in one HTML file that needs nothing else and shows no contents. It is readable by you alone.

    Example: memoranda report --all -o report.html
    """
    from memoranda.report import facts_of, page

    place = find_place(store, user, quiet=as_json)
    places = _places(place) if everybody else [(place.user, place)]
    facts: list[Facts] = []
    with progress("Looking") as tell:
        for number, (name, each) in enumerate(places):
            if tell is not None:
                tell(number, len(places))
            with each.open(expected=not everybody) as memory:
                facts.append(facts_of(memory, name, each.policy.limits))
    title = "Memories" if everybody else f"The memory of {place.user}"
    html = page(facts, title)
    if output == _STANDARD_OUTPUT:
        show(html)
        return
    _write(output, html, force=force)
    if as_json:
        print_json({"file": output, "memories": len(facts), "size_bytes": len(html.encode())})
    else:
        say(f"{output}: open it in a browser.")


def _places(place: Place) -> list[tuple[str, Place]]:
    """Every memory of the store with its name, under its own rules."""
    from memoranda.config import load_settings

    settings = load_settings()
    found: list[tuple[str, Place]] = []
    with place.backend() as shared:
        after: str | None = None
        while True:
            page = shared.drive(shared.backend.list(place.workspace, after=after))
            for info in page.stores:
                policy = settings.policy_for(
                    place.url, info.user, None if info.user is not None else info.id
                )
                its_place = place._replace(user=info.user or info.id, policy=policy)
                found.append((info.user or info.name, its_place))
            after = page.after
            if after is None:
                return sorted(found, key=lambda one: one[0])


def _write(file: str, html: str, *, force: bool) -> None:
    how = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
    try:
        descriptor = os.open(file, how, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as page:
            page.write(html)
    except FileExistsError as error:
        raise Misuse(f"{file} is there already: --force replaces it.") from error
    except OSError as error:
        raise Misuse(f"{file} can't be written: {error.strerror}.") from error
