"""The folder's own notes in a store's database, beside the log's tables.

instance   this copy of the store
place      inodes of history.db and memories/: where this copy lies
durable    the tree is on disk up to this event
host       what the disk can do
whose      workspace, user (or null) and name
archived   when the store was archived
lagging    places that do not follow the log yet
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from memoranda.stores.log.connection import Connection

INSTANCE: Final = "folder.instance"
PLACE: Final = "folder.place"
DURABLE: Final = "folder.durable"
HOST: Final = "folder.host"
WHOSE: Final = "folder.whose"
ARCHIVED: Final = "folder.archived"
LAGGING: Final = "folder.lagging"


def get(db: Connection, key: str) -> Any:
    """A note, or None."""
    row = db.execute("SELECT v FROM meta WHERE k = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])


def put(db: Connection, key: str, value: Any) -> None:
    """Change a note, inside the caller's transaction."""
    text = json.dumps(value, separators=(",", ":"))
    db.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = ?2", (key, text))
