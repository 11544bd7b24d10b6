"""Where a store lies, whose it is, and what lies in its directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memoranda.light_named_tuples import NamedTuple

if TYPE_CHECKING:
    from memoranda.stores.folder.clock import Clock
    from memoranda.stores.folder.descriptor import Descriptor
    from memoranda.stores.folder.file_port import Files

HISTORY: Final = "history.db"
WAL: Final = "history.db-wal"
SHM: Final = "history.db-shm"
LOCK: Final = "lock"
STORES: Final = "stores"
MEMORIES: Final = "memories"
INCOMING: Final = "incoming"
TRASH: Final = "trash"
RECOVERED: Final = "recovered"

ERASED: Final = ".erased-"
"""How a store's directory is called while it is removed: no store's begins with a dot."""


class Home(NamedTuple):
    """Where a store lies: ``name`` in the directory ``stores``, whose path on the host is
    ``path``. ``vfs`` is a SQLite VFS for tests."""

    files: Files
    clock: Clock
    stores: Descriptor
    path: str
    name: str
    vfs: str | None = None

    @property
    def directory(self) -> str:
        """The path of the store's directory on the host."""
        return os.path.join(self.path, self.name)


class Whose(NamedTuple):
    """Whose a store is: a user's in a workspace, or (``user`` None) one made through the API."""

    workspace: str
    user: str | None
    name: str
