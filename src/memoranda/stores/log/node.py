"""A row of the table ``node``: one file or directory, live or gone."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from memoranda.light_dataclasses import dataclass, field_names


@dataclass(slots=True, eq=False)
class Node:
    """A file or a directory of a store.

    ``files`` is None for a file. A directory's ``name`` ends with a slash, so that names sort as
    printed paths do. ``gone`` is the event by which the node went; it stays at its last place
    (``parent``, ``name``). A directory without files counts as not there.
    """

    id: int
    parent: int | None
    """None of the root."""
    name: str | None
    """None of a removed file whose versions were redacted."""
    gone: int | None = None
    created: int = 0
    updated: int = 0
    used: int | None = None
    head: int = 0
    """The event of the present version (of the last one, once gone); a directory's newest event."""
    last: int = 0
    """The newest event; later than ``head`` only where a late version came in. 0: none."""
    events: int = 0
    size: int = 0
    sha: bytes | None = None
    body: int = 0
    """The event that holds the present content; moves do not change it."""
    depth: int = 0
    """How many deltas lie between ``body`` and a full body."""
    spent: int = 0
    """How many bytes those deltas take."""
    first: int = 0
    """The full body at which the history that is kept begins."""
    full: int = 0
    """The newest full body."""
    disk: str | None = None
    ino: int | None = None
    mtime: int | None = None
    files: int | None = None
    total: int = 0
    """Bytes beneath a directory, hidden names too."""
    shown: int = 0
    """Bytes beneath a directory without hidden names."""
    children: int = 0
    """Visible direct children."""
    grandchildren: int = 0
    """Visible children of visible child directories."""
    deep: int = 0
    """At most so many names lie one below the other beneath a directory."""
    long: int = 0
    """At most so many bytes of path lie beneath a directory."""
    versions: int = 0
    """Only of the root, as those below: how many versions the history holds."""
    history: int = 0
    """How many bytes they take."""
    horizon: int = 0
    """States before this event are not whole any more."""
    swept: int = 0
    """Retention has looked at everything up to this event."""

    @property
    def is_directory(self) -> bool:
        """Whether this is a directory's row."""
        return self.files is not None

    @property
    def plain_name(self) -> str:
        """The name without a directory's slash."""
        return (self.name or "").removesuffix("/")


FIELDS: Final = field_names(Node)
COLUMNS: Final = ", ".join(FIELDS)
values_of: Final[Callable[[Node], tuple[Any, ...]]] = attrgetter(*FIELDS)
"""The row of a node, in the order of ``COLUMNS``."""


def is_hidden(name: str) -> bool:
    """Whether listings for Claude leave the name out; a directory's has its slash."""
    return name.startswith(".") or name in {"node_modules", "node_modules/"}
