"""``memoranda undo``: the last change taken back."""

from __future__ import annotations

from memoranda.cli.shared.json_shapes import versions_shape
from memoranda.cli.shared.options import AsJson, PathOrAll, StoreUrl, UserName
from memoranda.cli.shared.output import note, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_changes
from memoranda.path import ROOT_TEXT


def undo(
    path: PathOrAll = ROOT_TEXT,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Take back the last change at a path.

    What else it changed at once is taken back with it. Undoing again brings back what was
    undone. memoranda restore goes further back.

    Example: memoranda undo /memories/notes.md
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        versions = memory.undo(path)
    if as_json:
        print_json(versions_shape(versions))
    elif versions:
        say("Took back the last change:")
        print_changes(versions)
    else:
        note("There is nothing to undo.")
