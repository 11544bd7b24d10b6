"""The tables of the log, and the version of their format (``docs/formats/log.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt, Unavailable

if TYPE_CHECKING:
    from memoranda.stores.log.connection import Connection

APPLICATION_ID: Final = 0x4D656D6F  # "Memo"; file(1) and we ourselves know our databases by it
FORMAT: Final = 1

WENT_AWAY: Final = "oparent IS NOT NULL AND (oparent <> parent OR oname <> name)"
"""Which events moved a node to another place: those of the index ``event_left``."""

TABLES: Final = f"""
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE store(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  secret BLOB NOT NULL,
  created INTEGER NOT NULL
);

CREATE TABLE node(
  id INTEGER PRIMARY KEY,
  parent INTEGER, name TEXT, gone INTEGER,
  created INTEGER, updated INTEGER, used INTEGER,
  head INTEGER, last INTEGER, events INTEGER,
  size INTEGER, sha BLOB,
  body INTEGER, depth INTEGER, spent INTEGER, first INTEGER, full INTEGER,
  disk TEXT, ino INTEGER, mtime INTEGER,
  files INTEGER, total INTEGER, shown INTEGER, children INTEGER, grandchildren INTEGER,
  deep INTEGER, long INTEGER,
  versions INTEGER, history INTEGER, horizon INTEGER, swept INTEGER
);
CREATE UNIQUE INDEX node_here ON node(parent, name) WHERE gone IS NULL;
CREATE INDEX node_gone ON node(parent, name) WHERE gone IS NOT NULL;

CREATE TABLE event(
  seq INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL, node INTEGER, prev INTEGER, op INTEGER, late INTEGER,
  at INTEGER NOT NULL, actor TEXT NOT NULL, command TEXT NOT NULL, trace TEXT,
  oparent INTEGER, oname TEXT, parent INTEGER, name TEXT,
  size INTEGER, sha BLOB,
  ino INTEGER, mtime INTEGER,
  chain BLOB NOT NULL, link BLOB, digest BLOB, redacted_at INTEGER, redacted_by TEXT,
  audit TEXT,
  base INTEGER, pre INTEGER, suf INTEGER, next INTEGER, pieces INTEGER, body BLOB
);
CREATE INDEX event_left ON event(oparent, oname) WHERE {WENT_AWAY};

CREATE TABLE piece(seq INTEGER, n INTEGER, data BLOB NOT NULL, PRIMARY KEY(seq, n)) WITHOUT ROWID;

CREATE TABLE head(node INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE head_piece(node INTEGER, n INTEGER, data BLOB NOT NULL, PRIMARY KEY(node, n))
  WITHOUT ROWID;

CREATE TABLE redacted(seq INTEGER, node INTEGER, at INTEGER NOT NULL, by TEXT NOT NULL,
  PRIMARY KEY(seq, node)) WITHOUT ROWID;
"""


def create(db: Connection) -> None:
    """Make the tables in an empty database, inside the caller's transaction."""
    db.execute(TABLES)
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={FORMAT}")


def check_format(db: Connection) -> bool:
    """Whether the database holds our tables; False for an empty one.

    Raises ``Corrupt`` for a database of another program and ``Unavailable`` for a format that
    another version of Memoranda made.
    """
    if db.in_transaction:
        return _is_ours(db)
    db.execute("BEGIN")  # all is asked of one moment: somebody may be making the tables
    try:
        return _is_ours(db)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _is_ours(db: Connection) -> bool:
    application = db.pragma("application_id")
    version = db.pragma("user_version")
    if application == APPLICATION_ID:
        _check_version(version)
        return True
    if application or version or db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get:
        raise Corrupt("The file is a database, but not one of Memoranda's.")
    return False


def check_still_ours(db: Connection) -> None:
    """See, within a transaction (2 us), that nobody brought an open database to another format:
    a newer Memoranda, while this one had it open. Raises ``Unavailable``."""
    _check_version(db.execute("PRAGMA user_version").get)


def _check_version(version: int) -> None:
    if version != FORMAT:
        raise Unavailable(
            f"The database has format {version}; this version of Memoranda reads format "
            f"{FORMAT}. Use the version that made it, or one that migrates it."
        )
