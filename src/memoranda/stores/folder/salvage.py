"""A damaged ``history.db``: what can still be read of it, if that makes sense as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import apsw

from memoranda.errors import MemorandaError
from memoranda.stores.log import bodies, check
from memoranda.stores.log.database import open_connection
from memoranda.stores.log.store_log import StoreLog

if TYPE_CHECKING:
    from memoranda.stores.log.connection import Connection

_TABLES: Final = {
    "store": "number",
    "node": "id",
    "event": "seq",
    "piece": "seq, n",
    "redacted": "seq, node",
}
"""What makes a history, each with its key. Our notes (``meta``) are made anew."""


def salvage(db: Connection, damaged: str, now_ns: int) -> bool:
    """Bring the rows of a damaged database into a new one; False if they make no whole history.

    The damaged files stay where they are.
    """
    try:
        old = open_connection(damaged)
        try:
            rows = {table: _rows(old, table, key) for table, key in _TABLES.items()}
        finally:
            old.close()
    except apsw.Error:
        return False
    if len(rows["store"]) != 1:
        return False
    db.execute("BEGIN IMMEDIATE")
    try:
        for table, found in rows.items():
            db.execute(f"DELETE FROM {table}")
            for row in found:
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {table} VALUES({marks})", row)
        is_whole = _makes_sense(db)
    except (apsw.Error, MemorandaError):
        is_whole = False
    db.execute("COMMIT" if is_whole else "ROLLBACK")
    return is_whole


def _makes_sense(db: Connection) -> bool:
    log = StoreLog.open(db)
    if log is None:
        return False
    return check.Check(log, lambda node: bodies.content(log, node.body)).run().ok


def _rows(db: Connection, table: str, key: str) -> list[tuple[Any, ...]]:
    """The rows of a table that can be read: from the front, and from the back."""
    found: list[tuple[Any, ...]] = []
    backwards = ", ".join(f"{column} DESC" for column in key.split(", "))
    for order in (key, backwards):
        try:
            found.extend(db.execute(f"SELECT * FROM {table} ORDER BY {order}"))
        except apsw.Error:
            continue
        break
    return list(dict.fromkeys(found))
