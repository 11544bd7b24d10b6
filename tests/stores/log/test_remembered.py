"""What a connection remembers between transactions; the rig compares it after every one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.errors import AlreadyExists, TooManyFiles
from memoranda.stores.base import Ceiling, Context
from memoranda.stores.log import schema
from memoranda.stores.log.database import connect
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.log.turn import Turn
from tests.stores.log.rig import AGENT, START_NS, Rig, append, move, put, remove


def test_a_lone_writer_asks_for_nothing_that_it_just_wrote() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "one"))
    remembered = rig.remembered
    assert remembered is not None
    rig.apply(append("/d/a", b" two"))
    assert rig.remembered is not None
    assert rig.remembered.tree is remembered.tree
    assert rig.codes() == []


def test_what_went_comes_back_as_it_would_from_the_database() -> None:
    rig = Rig()
    rig.apply(put("/d/e/a", "one"))
    rig.apply(remove("/d/e/a"))
    rig.apply(put("/d/e/a", "two"))
    rig.apply(put("/d/b", "b"))
    rig.apply(remove("/d/e"))
    rig.apply(put("/d/e/a", "three"))
    rig.apply(move("/d", "/f"))
    rig.apply(put("/d/b", "another"))
    rig.apply(move("/f/e/a", "/d/e/a"))
    assert rig.codes() == []


def test_a_refused_command_leaves_nothing_to_write() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "one"))

    def work(turn: Turn) -> None:
        small = Context(ceiling=Ceiling(files=1))
        with pytest.raises(AlreadyExists):
            turn.run([put("/e/b", "b"), move("/d/a", "/e/b")], AGENT)
        with pytest.raises(TooManyFiles):
            turn.run([put("/e/b", "b")], small)
        assert turn.is_idle

    rig.turn(work)
    rig.apply(put("/e/b", "b"))
    assert rig.codes() == []


def test_a_store_that_grew_large_is_read_anew() -> None:
    rig = Rig()
    for number in range(400):
        rig.apply(put(f"/d/{number}", "x"))
    tree = rig.turn(lambda turn: turn.run([put("/d/last", "x")], AGENT)).tree
    assert len(tree._places) < 600  # pyright: ignore[reportPrivateUsage]
    assert rig.codes() == []


def test_whatever_another_connection_commits_ends_it(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    db = connect(path)
    db.execute("BEGIN IMMEDIATE")
    schema.create(db)
    log = StoreLog.make(db, 0, "memstore_0", START_NS)
    db.execute("COMMIT")
    other = connect(path)

    db.execute("BEGIN IMMEDIATE")
    turn = Turn(log, SqlHeads(log), START_NS)
    turn.run([put("/a", "one")], AGENT)
    turn.finish()
    db.execute("COMMIT")
    remembered = turn.remember()
    assert remembered is not None

    db.execute("BEGIN IMMEDIATE")
    assert remembered.holds(log)
    db.execute("ROLLBACK")
    other.execute("UPDATE node SET used = 1 WHERE name = 'a'")
    db.execute("BEGIN IMMEDIATE")
    assert not remembered.holds(log)
    again = Turn(log, SqlHeads(log), START_NS, remembered=remembered)
    node = again.find(put("/a").path)
    assert node is not None
    assert node.used == 1
    db.execute("ROLLBACK")


def test_whatever_this_connection_commits_besides_ends_it() -> None:
    rig = Rig()
    rig.apply(put("/a", "one"))
    remembered = rig.remembered
    assert remembered is not None
    rig.db.execute("UPDATE node SET used = 1 WHERE name = 'a'")
    rig.db.execute("BEGIN IMMEDIATE")
    assert not remembered.holds(rig.log)
