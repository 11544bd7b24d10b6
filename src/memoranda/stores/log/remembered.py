"""What a connection remembers of a store from one transaction to the next.

A lone writer asks the database for nothing that it has just written. SQLite itself tells whether
that still holds: its data version changes with every commit to the file but the one after which
it was noted, whoever makes it and whatever it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.tree import Tree


class Remembered(NamedTuple):
    """Nodes and places, and number, time and chain of the newest event, after a commit."""

    tree: Tree
    last: tuple[int, int, bytes]
    data_version: int

    def holds(self, log: StoreLog) -> bool:
        """Whether nobody, this connection neither, committed anything since. In a transaction."""
        return self.tree.log is log and log.db.data_version() == self.data_version
