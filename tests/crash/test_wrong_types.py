"""A value of the wrong type in any column is damage, whoever meets it: never a ``TypeError``.

SQLite keeps whatever was written into a column, so that a damaged row, or one that another program
changed, may hold a text where a number was.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from memoranda.drive import run_now
from memoranda.errors import Conflict, Corrupt, Refused, Unavailable
from memoranda.path import ROOT
from memoranda.stores.base import Context, Edit, Put, Store
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.log.database import open_connection
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.promises.steps import append, p, tree
from memoranda.text.splice import Splice
from tests.stores.folder_rig import HandClock

AGENT = Context(actor="agent", command="test")
COLUMNS = {
    "store": ("id", "secret", "created"),
    "node": (
        "parent", "name", "gone", "created", "updated", "used", "head", "last", "events", "size",
        "sha", "body", "depth", "spent", "first", "full", "ino", "mtime", "files", "total", "shown",
        "children", "grandchildren", "deep", "long", "versions", "history", "horizon", "swept",
    ),
    "event": (
        "batch", "node", "prev", "op", "late", "at", "actor", "command", "trace", "oparent",
        "oname", "parent", "name", "size", "sha", "ino", "mtime", "chain", "link", "digest",
        "audit", "base", "pre", "suf", "next", "pieces", "body",
    ),
    "piece": ("data",),
    "meta": ("v",),
}  # fmt: skip
EVERY_COLUMN = [(table, column) for table, columns in COLUMNS.items() for column in columns]
WRONG = ["'x'", "x'ff'", "CAST(x'ff' AS TEXT)", "1.5"]

Opened: TypeAlias = "tuple[SqliteBackend | FolderBackend, Store, Path]"


def filled(home: Path, kind: str) -> Opened:
    """A store with something in it, open."""
    backend: SqliteBackend | FolderBackend
    if kind == "sqlite":
        backend, database = SqliteBackend(home / "f.db"), home / "f.db"
    else:
        backend = FolderBackend(home, clock=HandClock())
        database = home / "stores/acme/history.db"
    store = run_now(backend.for_user("acme"))
    for change in (
        Put(p("/a.md"), b"one\n" * 300),
        Edit(p("/a.md"), append(b"two\n")),
        Put(p("/d/large.md"), bytes(100_000)),
        Put(p("/d/b.md"), b"b\n"),
    ):
        run_now(store.apply([change], AGENT))
    return backend, store, database


def every_use(store: Store) -> list[Callable[[], object]]:
    """Whatever may read a damaged row."""
    (version, *_) = run_now(store.versions()).versions
    return [
        lambda: run_now(store.apply([Edit(p("/a.md"), append(b"three\n"))], AGENT)),
        lambda: run_now(store.apply([Put(p("/d/new.md"), b"new\n")], AGENT)),
        lambda: run_now(store.apply([Put(p("/d/b.md"), b"c\n")], AGENT)),
        lambda: run_now(store.redact(version.id, AGENT)),
        lambda: run_now(tree(store)),
        lambda: run_now(store.outline(ROOT, 80)),
        lambda: run_now(store.stat(p("/a.md"))),
        lambda: run_now(store.versions(content=True)),
        lambda: run_now(store.search("one", ROOT)),
        lambda: run_now(store.usage()),
        lambda: run_now(store.audit(None, 100)),
        lambda: run_now(store.verify_audit()),
        lambda: run_now(store.hold(p("/a.md"), "why", AGENT)),
        lambda: run_now(store.holds()),
        lambda: run_now(store.record(Context(command="view"))),
        lambda: run_now(store.flush()),
    ]


@pytest.mark.parametrize("kind", ["folder", "sqlite"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_value_of_the_wrong_type_raises_nothing_but_our_errors(
    tmp_path: Path, wrong: str, kind: str
) -> None:
    for table, column in EVERY_COLUMN:
        home = tmp_path / f"{table}.{column}"
        home.mkdir()
        backend, store, database = filled(home, kind)
        uses = every_use(store)
        damage = open_connection(str(database))
        damage.execute(f"UPDATE OR IGNORE {table} SET {column} = {wrong}")
        damage.close()
        for use in uses:
            try:
                use()
            except (Corrupt, Unavailable, Refused, Conflict):
                pass
        run_now(store.verify())
        run_now(backend.close())


@pytest.mark.parametrize("kind", ["folder", "sqlite"])
def test_damage_that_an_edit_meets_is_corrupt_and_not_its_callers(
    tmp_path: Path, kind: str
) -> None:
    backend, store, database = filled(tmp_path, kind)
    damage = open_connection(str(database))
    damage.execute("UPDATE node SET depth = 'x'")
    damage.close()
    with pytest.raises(Corrupt):
        run_now(store.apply([Edit(p("/a.md"), append(b"three\n"))], AGENT))
    run_now(backend.close())


class OfTheCaller(TypeError):
    """What a caller's own function raises."""


def raising(_: bytes) -> Splice:
    raise OfTheCaller


@pytest.mark.parametrize("kind", ["folder", "sqlite"])
@pytest.mark.parametrize("is_new", [False, True])
def test_what_an_edit_itself_raises_is_its_callers_whatever_its_kind(
    tmp_path: Path, kind: str, *, is_new: bool
) -> None:
    backend, store, _ = filled(tmp_path, kind)
    if is_new:  # the first command of a store that is not made yet
        store = run_now(backend.for_user("other"))
    with pytest.raises(OfTheCaller):
        run_now(store.apply([Put(p("/a.md"), b"x"), Edit(p("/a.md"), raising)], AGENT))
    run_now(backend.close())
