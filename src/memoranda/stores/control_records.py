"""Records in a table of SQLite: of the SQLite backend's one file, of the folder's ``control.db``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Conflict
from memoranda.stores.records import ABSENT, CHANGED, Record, Records

if TYPE_CHECKING:
    from memoranda.stores.controlled import ControlledBackend
    from memoranda.stores.log.connection import Connection

# Made when it is first written to: databases of earlier releases lack it, and those go on reading
# a database that has it.
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS control_record(
  kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, revision INTEGER NOT NULL,
  PRIMARY KEY(kind, key)
) WITHOUT ROWID;
"""
_IS_THERE: Final = "SELECT 1 FROM sqlite_schema WHERE name = 'control_record'"


class SqlRecords(Records):
    """The records of one kind in the control table's database."""

    def __init__(self, backend: ControlledBackend, kind: str) -> None:
        self._backend = backend
        self._kind = kind

    async def get(self, key: str) -> Record | None:
        with self._backend.looking() as db:
            if db is None or not db.execute(_IS_THERE).get:
                return None
            return _get(db, self._kind, key)

    async def list(self, after: str = "", limit: int = 1000) -> tuple[Record, ...]:
        with self._backend.looking() as db:
            if db is None or not db.execute(_IS_THERE).get:
                return ()
            rows = db.execute(
                "SELECT key, value, revision FROM control_record WHERE kind = ? AND key > ?"
                " ORDER BY key LIMIT ?",
                (self._kind, after, limit),
            )
            return tuple(_record(*row) for row in rows)

    async def put(self, key: str, value: str, expect: str | None = None) -> Record:
        with self._backend.changing() as db:
            db.execute(_TABLE)
            found = _get(db, self._kind, key)
            if found is not None and found.value == value:
                return found
            there = ABSENT if found is None else found.revision
            if expect not in {None, there}:
                raise Conflict(CHANGED)
            revision = int(there or 0) + 1
            db.execute(
                "INSERT OR REPLACE INTO control_record(kind, key, value, revision)"
                " VALUES(?, ?, ?, ?)",
                (self._kind, key, value, revision),
            )
        return _record(key, value, revision)

    async def remove(self, key: str) -> bool:
        with self._backend.changing() as db:
            db.execute(_TABLE)
            there = _get(db, self._kind, key) is not None
            db.execute("DELETE FROM control_record WHERE kind = ? AND key = ?", (self._kind, key))
        return there


def _get(db: Connection, kind: str, key: str) -> Record | None:
    row = db.execute(
        "SELECT key, value, revision FROM control_record WHERE kind = ? AND key = ?", (kind, key)
    ).fetchone()
    return None if row is None else _record(*row)


def _record(key: str, value: str, revision: int) -> Record:
    return Record(key, value, str(revision))
