"""The folder's own notes in a store's database, beside the log's tables.

instance   this copy of the store
place      inodes of history.db and memories/: where this copy lies
durable    the tree is on disk up to this event
host       what the disk can do
whose      workspace, user (or null) and name
archived   when the store was archived
lagging    places that do not follow the log yet
damaged    databases that were set aside, with what was saved of each
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.stores.log.connection import Connection

INSTANCE: Final = "folder.instance"
PLACE: Final = "folder.place"
DURABLE: Final = "folder.durable"
HOST: Final = "folder.host"
WHOSE: Final = "folder.whose"
ARCHIVED: Final = "folder.archived"
LAGGING: Final = "folder.lagging"
DAMAGED: Final = "folder.damaged"


def _holds(*kinds: type | tuple[type, ...]) -> Callable[[Any], bool]:
    """Whether a value is a list with these kinds of items."""

    def check(value: Any) -> bool:
        items = _items(value)
        return (
            items is not None
            and len(items) == len(kinds)
            and all(isinstance(each, kind) for each, kind in zip(items, kinds, strict=True))
        )

    return check


def _items(value: Any) -> list[Any] | None:
    return [*value] if type(value) is list else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_lag(value: Any) -> bool:
    return _holds(int, (list, type(None)))(value) and all(map(_is_text, _items(value[1]) or ()))


def _each(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a list of items that each pass."""

    def checks(value: Any) -> bool:
        items = _items(value)
        return items is not None and all(map(check, items))

    return checks


_SHAPES: Final[dict[str, Callable[[Any], bool]]] = {
    INSTANCE: _is_text,
    PLACE: _holds(int, int),
    DURABLE: _is_number,
    HOST: _holds(bool, bool),
    WHOSE: _holds(str, (str, type(None)), str),
    ARCHIVED: _is_number,
    LAGGING: _each(_is_lag),
    DAMAGED: _each(_holds(int, str, (int, type(None)))),
}
"""What each note is where nobody damaged it."""


def get(db: Connection, key: str) -> Any:
    """A note, or None. Raises ``Corrupt`` for one that is not what it should be."""
    row = db.execute("SELECT v FROM meta WHERE k = ?", (key,)).fetchone()
    return None if row is None else _read(key, row[0])


def all_of(db: Connection) -> dict[str, Any]:
    """Every note that there is; raises as ``get`` does."""
    rows = db.execute("SELECT k, v FROM meta WHERE k >= 'folder.' AND k < 'folder/'")
    return {key: _read(key, text) for key, text in rows if key in _SHAPES}


def _read(key: str, text: Any) -> Any:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        value = None
    if not _SHAPES[key](value):
        raise Corrupt("A note of the folder in the database is damaged.")
    return value


def put(db: Connection, key: str, value: Any) -> None:
    """Change a note, inside the caller's transaction."""
    text = json.dumps(value, separators=(",", ":"))
    db.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = ?2", (key, text))
