"""What a backend knows of its stores: names, users, archiving; and its own audit.

Two tables that lie wherever the backend keeps them: in the SQLite backend's one file, in the
folder's ``control.db``. Functions and not an object: the caller has the connection, holds the
transaction, and says what the time is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Misuse, UnknownId
from memoranda.stores.base import StoreInfo, StorePage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from memoranda.stores.base import Context
    from memoranda.stores.log.connection import Connection

TABLES: Final = """
CREATE TABLE control(
  id TEXT PRIMARY KEY,
  workspace TEXT NOT NULL,
  name TEXT NOT NULL,
  user TEXT,
  description TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  archived INTEGER
);
CREATE UNIQUE INDEX control_user ON control(workspace, user) WHERE user IS NOT NULL;
CREATE INDEX control_newest ON control(workspace, created, id);

CREATE TABLE control_audit(
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  command TEXT NOT NULL,
  trace TEXT,
  store TEXT NOT NULL,
  audit TEXT
);
"""
_COLUMNS: Final = "id, workspace, name, user, description, metadata, created, updated, archived"


def add(db: Connection, info: StoreInfo) -> None:
    """Keep a new store; its id is new, its user has none yet."""
    db.execute(
        f"INSERT INTO control({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*info[:5], _metadata_text(info.metadata), *info[6:]),
    )


def get(db: Connection, store_id: str, workspace: str) -> StoreInfo:
    """What is known of a store; raises ``UnknownId``, also for one of another workspace."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM control WHERE id = ? AND workspace = ?",
        (store_id, workspace),
    ).fetchone()
    if row is None:
        raise UnknownId("store")
    return _info(row)


def of_user(db: Connection, user: str, workspace: str) -> StoreInfo | None:
    """What is known of a user's store."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM control WHERE user = ? AND workspace = ?",
        (user, workspace),
    ).fetchone()
    return None if row is None else _info(row)


def is_taken(db: Connection, info: StoreInfo) -> bool:
    """Whether there is a store with this id, or of this user."""
    return bool(
        db.execute(
            "SELECT count(*) FROM control WHERE id = ?1 OR (workspace = ?2 AND user = ?3)",
            (info.id, info.workspace, info.user),
        ).get
    )


def workspaces(db: Connection) -> tuple[str, ...]:
    """The workspaces that have stores, sorted."""
    rows = db.execute("SELECT DISTINCT workspace FROM control ORDER BY workspace")
    return tuple([workspace for (workspace,) in rows])


def page(
    db: Connection, workspace: str, after: str | None, limit: int, *, include_archived: bool
) -> StorePage:
    """The stores of a workspace, newest first, then by id downwards; see ``Backend.list``."""
    created, store_id = _position(after)
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM control"
        " WHERE workspace = ? AND (created, id) < (?, ?) AND (? OR archived IS NULL)"
        " ORDER BY created DESC, id DESC LIMIT ?",
        (workspace, created, store_id, include_archived, limit + 1),
    ).fetchall()
    stores = tuple(_info(row) for row in rows[:limit])
    more = len(rows) > limit and bool(stores)
    return StorePage(stores, f"{stores[-1].created_at_ns}.{stores[-1].id}" if more else None)


def update(
    db: Connection,
    store_id: str,
    workspace: str,
    now_ns: int,
    *,
    name: str | None,
    description: str | None,
    metadata: Mapping[str, str] | None,
) -> StoreInfo:
    """Change what is given; the time only if anything changes."""
    before = get(db, store_id, workspace)
    after = before._replace(
        name=before.name if name is None else name,
        description=before.description if description is None else description,
        metadata=before.metadata if metadata is None else dict(metadata),
    )
    if after == before:
        return before
    after = after._replace(updated_at_ns=max(now_ns, before.updated_at_ns))
    db.execute(
        "UPDATE control SET name = ?, description = ?, metadata = ?, updated = ? WHERE id = ?",
        (after.name, after.description, _metadata_text(after.metadata), after.updated_at_ns,
         store_id),
    )  # fmt: skip
    return after


def archive(db: Connection, store_id: str, workspace: str, now_ns: int) -> StoreInfo:
    """Archive a store for good; again changes nothing."""
    info = get(db, store_id, workspace)
    if info.archived_at_ns is not None:
        return info
    now_ns = max(now_ns, info.updated_at_ns)
    db.execute(
        "UPDATE control SET archived = ?, updated = ? WHERE id = ?", (now_ns, now_ns, store_id)
    )
    return info._replace(archived_at_ns=now_ns, updated_at_ns=now_ns)


def remove(db: Connection, store_id: str) -> None:
    """Forget a store."""
    db.execute("DELETE FROM control WHERE id = ?", (store_id,))


def audit(db: Connection, store_id: str, context: Context, now_ns: int) -> None:
    """Note in the backend's own audit what was done to a store as a whole."""
    db.execute(
        "INSERT INTO control_audit(at, actor, command, trace, store, audit)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        (now_ns, context.actor, context.command, context.trace_id, store_id,
         _json().dumps(context.audit) if context.audit else None),
    )  # fmt: skip


def _info(row: tuple[Any, ...]) -> StoreInfo:
    return StoreInfo._make((*row[:5], _json().loads(row[5]), *row[6:]))


def _metadata_text(metadata: Mapping[str, str]) -> str:
    try:
        text: str = _json().dumps(dict(metadata), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise Misuse("Metadata are texts by name.") from error
    return text


def _position(after: str | None) -> tuple[int, str]:
    if after is None:
        return 2**63 - 1, ""
    created, dot, store_id = after.partition(".")
    is_time = created.isascii() and created.isdigit() and len(created) <= 19
    if not dot or not is_time or int(created) >= 2**63:
        raise Misuse("This is no position in a list of stores.")
    return int(created), store_id


def _json() -> ModuleType:
    # Two milliseconds; who only views a folder comes by here without asking anything.
    import json

    return json
