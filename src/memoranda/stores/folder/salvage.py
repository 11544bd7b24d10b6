"""A damaged ``history.db``: what can still be read of it, if that makes sense as a whole."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import apsw

from memoranda.errors import MemorandaError, Misuse, Unavailable
from memoranda.stores.base import Context, Problem
from memoranda.stores.folder import meta
from memoranda.stores.log import bodies, check
from memoranda.stores.log.database import NONSENSE, as_ours, open_connection
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.log.transaction import Transaction
from memoranda.stores.log.turn import Turn
from memoranda.tenant import directory_of_store

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from memoranda.stores.base import Report
    from memoranda.stores.log.connection import Connection

_NOTES: Final = (meta.WHOSE, meta.ARCHIVED, meta.DAMAGED)
"""What is noted of a store and not of the place where it lies."""

_TABLES: Final = {
    "store": "number",
    "node": "id",
    "event": "seq",
    "piece": "seq, n",
    "redacted": "seq, node",
}
"""What makes a history, each with its key."""


def salvage(db: Connection, damaged: str) -> int | None:
    """Bring the rows of a damaged database into a new one; how many versions, None if they make
    no whole history.

    The store's id and what is noted of it (whose it is, whether it is archived) come over in any
    case, as far as they can be read. The damaged file stays where it is.
    """
    rows: dict[str, list[tuple[Any, ...]]] = {}
    notes: dict[str, Any] = {}
    with _as_far_as_it_goes():
        old = open_connection(damaged)
        try:
            for key in _NOTES:
                with _as_far_as_it_goes():
                    notes[key] = meta.get(old, key)
            for table, key in _TABLES.items():
                rows[table] = _rows(old, table, key)
        finally:
            old.close()
    stores = rows.get("store", [])
    versions = _take_over(db, rows) if len(stores) == 1 and len(rows) == len(_TABLES) else None
    with Transaction(db):
        if versions is None and len(stores) == 1 and _is_store_id(stores[0][1]):
            db.execute("UPDATE store SET id = ?", (stores[0][1],))
        for key, value in notes.items():
            if value is not None:
                meta.put(db, key, value)
    return versions


def _take_over(db: Connection, rows: dict[str, list[tuple[Any, ...]]]) -> int | None:
    """Put rows in; taken back, with None, where they make no whole history."""
    report: Report | None = None
    transaction = Transaction(db)
    with _as_far_as_it_goes(), transaction:
        for table, found in rows.items():
            db.execute(f"DELETE FROM {table}")
            if found:
                marks = ", ".join("?" * len(found[0]))
                db.executemany(f"INSERT INTO {table} VALUES({marks})", found)
        report = _checked(db)
        transaction.wanted = report is not None
    return report.versions if report is not None and transaction.is_done else None


@contextmanager
def _as_far_as_it_goes() -> Generator[None]:
    """Damage ends a step, no more; what may pass (a full disk, a disk that can't be read now) is
    raised, since a second try may save more."""
    try:
        yield
    except (apsw.Error, MemorandaError, *NONSENSE) as error:
        ours = error if isinstance(error, MemorandaError) else as_ours(error)
        if isinstance(ours, (Misuse, Unavailable)):
            raise


def _is_store_id(value: Any) -> bool:
    try:
        directory_of_store(value)
    except (MemorandaError, *NONSENSE):
        return False
    return True


def note_damage(
    db: Connection, now_ns: int, aside: str, versions: int | None
) -> tuple[Problem, ...]:
    """Write down that a database is set aside, for ``verify`` and the audit; what to say now."""
    log = StoreLog.open(db)
    assert log is not None  # just laid out
    with Transaction(db):
        before: list[Any] = meta.get(db, meta.DAMAGED) or []
        meta.put(db, meta.DAMAGED, [*before, [now_ns, aside, versions]])
        turn = Turn(log, SqlHeads(log), now_ns)
        audit = {"found": "damaged", "aside": aside, "versions": versions}
        turn.audit(Context("memoranda", "open", audit=audit), now_ns)
        turn.finish()
    notices = tuple(map(said_of_damage, [(now_ns, aside, versions)]))
    import logging

    for notice in notices:
        logging.getLogger("memoranda").warning("%s %s", notice.message, notice.remedy)
    return notices


def said_of_damage(damage: Sequence[Any]) -> Problem:
    """What a person has to know of a database that was set aside."""
    at_ns, aside, versions = damage
    when = datetime.fromtimestamp(at_ns // 1_000_000_000, UTC).isoformat(" ")
    if versions is None:
        saved = "Its history could not be read as a whole and begins anew; the files are all there."
    else:
        saved = f"All of its history could be read and was taken over ({versions} versions)."
    return Problem(
        "salvaged",
        f"The history's database was found damaged at {when} and set aside. {saved}",
        f"In the store's folder it is now {aside}: restore older versions from a backup if they are"
        " missed, and remove that file when nobody needs it any more.",
    )


def _checked(db: Connection) -> Report | None:
    log = StoreLog.open(db)
    if log is None:
        return None
    report = check.Check(log, lambda node: bodies.content(log, node.body)).run()
    return report if report.ok else None


def _rows(db: Connection, table: str, key: str) -> list[tuple[Any, ...]]:
    """The rows of a table that can be read: from the front, and from the back."""
    found: list[tuple[Any, ...]] = []
    backwards = ", ".join(f"{column} DESC" for column in key.split(", "))
    for order in (key, backwards):
        is_whole = False
        with _as_far_as_it_goes():
            found.extend(db.execute(f"SELECT * FROM {table} ORDER BY {order}"))
            is_whole = True
        if is_whole:
            break
    return list(dict.fromkeys(found))
