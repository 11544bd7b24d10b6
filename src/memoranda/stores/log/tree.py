"""Names, places and counters of a store, inside one transaction."""

from __future__ import annotations


class Node:
    """A row of the table ``node``: a file or a directory, live or gone.

    ``files`` is None for a file. A directory's ``name`` ends with a slash, so that names sort as
    printed paths do. ``gone`` is the event by which the node went; it stays at its last place
    (``parent``, ``name``). A directory without files counts as not there.
    """

    __slots__ = (
        "body",
        "bytes",
        "children",
        "created",
        "deep",
        "depth",
        "disk",
        "events",
        "files",
        "first",
        "gone",
        "grandchildren",
        "head",
        "id",
        "ino",
        "last",
        "long",
        "mtime",
        "name",
        "parent",
        "sha",
        "shown",
        "size",
        "spent",
        "updated",
        "used",
    )
