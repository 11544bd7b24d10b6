"""``memoranda diff``: what changed between two versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import note, print_json, show
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import VERSION_PREFIX

if TYPE_CHECKING:
    from memoranda.memory import Memory


def diff(
    a: Annotated[
        str,
        typer.Argument(
            metavar="OLDER|PATH", help="The older version; or a memory: its last change."
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(metavar="NEWER", help="The newer version; else what is there now."),
    ] = None,
    context_lines: Annotated[
        int, typer.Option("--context", min=0, help="How many unchanged lines to show around.")
    ] = 3,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions.

    Example: memoranda diff /memories/notes.md
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        if not a.startswith(VERSION_PREFIX):
            if b is not None:
                raise typer.BadParameter("Two versions are compared, or one memory; not a mixture.")
            before = _version_before(memory, a)
            if before is None:
                _say(as_json, "", "This memory has one version: nothing to compare with.")
                return
            a = before
        changes = memory.diff(a, b, context_lines=context_lines)
    _say(as_json, changes, "There is no difference.")


def _version_before(memory: Memory, path: str) -> str | None:
    """The version before the present one of the memory at a path."""
    from memoranda.stores.base import VersionFilter

    stored = memory.read(path)
    page = memory.versions(VersionFilter(memory_id=stored.memory_id), limit=100)
    older = [
        one.id for one in page.versions if one.id != stored.version_id and one.path and not one.late
    ]
    return older[0] if older else None


def _say(as_json: bool, changes: str, nothing: str) -> None:
    if as_json:
        print_json({"diff": changes})
    elif changes:
        show(changes)
    else:
        note(nothing)
