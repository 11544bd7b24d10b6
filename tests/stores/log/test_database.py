"""Opening databases, what SQLite's errors mean, transactions, records that wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from memoranda.errors import Corrupt, Misuse, Unavailable
from memoranda.path import MemoryPath
from memoranda.stores.base import Context
from memoranda.stores.log import schema
from memoranda.stores.log.connection import Connection
from memoranda.stores.log.database import as_ours, connect, open_connection
from memoranda.stores.log.records import LONGEST_WAIT_NS, MOST_RECORDS, Records
from memoranda.stores.log.transaction import Transaction


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (apsw.CorruptError, Corrupt),
        (apsw.NotADBError, Corrupt),
        (apsw.FullError, Unavailable),
        (apsw.BusyError, Unavailable),
        (apsw.LockedError, Unavailable),
        (apsw.ReadOnlyError, Unavailable),
        (apsw.CantOpenError, Unavailable),
        (apsw.PermissionsError, Unavailable),
        (apsw.IOError, Unavailable),
        (apsw.NoMemError, Unavailable),
        (apsw.SQLError, Corrupt),
        (apsw.MisuseError, Misuse),
    ],
)
def test_each_error_of_sqlite_means_one_of_ours(
    error: type[apsw.Error], kind: type[Exception]
) -> None:
    ours = as_ours(error("SQLite says: /srv/secret/path"))
    assert type(ours) is kind
    assert "secret" not in str(ours)


def test_a_connection_is_set_up_for_durable_commits(tmp_path: Path) -> None:
    db = connect(str(tmp_path / "f.db"))
    assert [db.pragma(name) for name in ("journal_mode", "synchronous", "auto_vacuum")] == [
        "wal", 2, 2,
    ]  # fmt: skip
    db.close()


def test_only_our_own_format_is_opened() -> None:
    db = open_connection(":memory:")
    assert not schema.check_format(db)
    schema.create(db)
    assert schema.check_format(db)
    db.pragma("user_version", 2)
    with pytest.raises(Unavailable, match="format 2"):
        schema.check_format(db)
    db.pragma("application_id", 77)
    with pytest.raises(Corrupt):
        schema.check_format(db)


def test_a_database_of_somebody_else_is_not_ours() -> None:
    db = open_connection(":memory:")
    db.execute("CREATE TABLE theirs(x)")
    with pytest.raises(Corrupt):
        schema.check_format(db)


class AnotherMakesTheTables:
    """A connection whose file gets its tables from somebody else right after one question to it."""

    def __init__(self, db: Connection, question: str, another: Connection) -> None:
        self._db, self._question, self._another = db, question, another

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def pragma(self, name: str) -> Any:
        answer = self._db.pragma(name)
        if name == self._question:
            with Transaction(self._another):
                schema.create(self._another)
        return answer


@pytest.mark.parametrize("question", ["application_id", "user_version"])
def test_a_database_whose_tables_are_just_being_made_is_not_somebody_elses(
    tmp_path: Path, question: str
) -> None:
    one, another = connect(str(tmp_path / "f.db")), connect(str(tmp_path / "f.db"))
    seen = AnotherMakesTheTables(one, question, another)
    schema.check_format(cast("Connection", seen))
    assert schema.check_format(one)
    one.close()
    another.close()


class Interrupting:
    """A connection that is interrupted right after its COMMIT, as by a signal."""

    def __init__(self, fails: bool = False) -> None:
        self.db = open_connection(":memory:")
        self.db.execute("CREATE TABLE t(x)")
        self.fails = fails

    def execute(self, statement: str) -> None:
        """Run it; then the interrupt."""
        if statement == "COMMIT" and self.fails:
            self.db.execute("ROLLBACK")
            raise apsw.FullError("disk full")
        self.db.execute(statement)
        if statement == "COMMIT":
            raise KeyboardInterrupt

    @property
    def in_transaction(self) -> bool:
        """As it is."""
        return self.db.in_transaction


def test_an_interrupt_right_after_the_commit_does_not_hide_that_it_is_done() -> None:
    db = Interrupting()
    transaction = Transaction(cast("Any", db))
    with pytest.raises(KeyboardInterrupt), transaction:
        db.db.execute("INSERT INTO t VALUES(1)")
    assert transaction.is_done
    assert db.db.execute("SELECT count(*) FROM t").get == 1


def test_a_commit_that_sqlite_rolled_back_itself_is_not_done() -> None:
    db = Interrupting(fails=True)
    transaction = Transaction(cast("Any", db))
    with pytest.raises(apsw.FullError), transaction:
        db.db.execute("INSERT INTO t VALUES(1)")
    assert not transaction.is_done
    assert db.db.execute("SELECT count(*) FROM t").get == 0


class Complaining(Interrupting):
    """A connection that fails right after its COMMIT."""

    def execute(self, statement: str) -> None:
        """Run it; then the complaint."""
        self.db.execute(statement)
        if statement == "COMMIT":
            raise apsw.IOError("the log can't be cut to size")


def test_what_goes_wrong_after_the_commit_does_not_undo_it() -> None:
    db = Complaining()
    standing = Transaction(cast("Any", db))
    standing.stands = lambda: True
    with standing:
        db.db.execute("INSERT INTO t VALUES(1)")
    assert standing.is_done
    fallen = Transaction(cast("Any", db))
    fallen.stands = lambda: False
    with pytest.raises(apsw.IOError), fallen:
        db.db.execute("INSERT INTO t VALUES(1)")
    assert not fallen.is_done


def test_a_commit_that_cannot_be_asked_about_is_not_done() -> None:
    db = Complaining()
    transaction = Transaction(cast("Any", db))

    def ask() -> bool:
        raise apsw.IOError("nor can that be read")

    transaction.stands = ask
    with pytest.raises(apsw.IOError), transaction:
        db.db.execute("INSERT INTO t VALUES(1)")
    assert not transaction.is_done


def test_a_transaction_that_is_not_wanted_is_rolled_back_and_done() -> None:
    db = open_connection(":memory:")
    db.execute("CREATE TABLE t(x)")
    transaction = Transaction(db)
    with transaction:
        db.execute("INSERT INTO t VALUES(1)")
        transaction.wanted = False
    assert transaction.is_done
    assert db.execute("SELECT count(*) FROM t").get == 0
    failing = Transaction(db)

    def insert_and_fail() -> None:
        with failing:
            db.execute("INSERT INTO t VALUES(1)")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        insert_and_fail()
    assert not failing.is_done
    assert db.execute("SELECT count(*) FROM t").get == 0


def test_records_wait_for_a_second_or_until_there_are_many() -> None:
    records = Records()
    assert not records.are_waiting
    records.note(Context(), 100)
    assert records.are_waiting
    assert not records.are_due(100 + LONGEST_WAIT_NS - 1)
    assert records.are_due(100 + LONGEST_WAIT_NS)
    for _ in range(MOST_RECORDS - 1):
        records.note(Context(), 100)
    assert records.are_due(100)
    notes, _ = records.take()
    assert len(notes) == MOST_RECORDS
    assert not records.are_waiting


def test_uses_of_one_path_are_one_and_what_is_given_back_waits_again() -> None:
    a, b = MemoryPath.of(("a",)), MemoryPath.of(("b",))
    records = Records()
    records.use([], 1, 1)
    assert not records.are_waiting
    records.use([a, b, a], 5, 1)
    records.use([a], 3, 2)
    records.note(Context(command="first"), 3)
    taken = records.take()
    assert taken[1] == {a: 5, b: 5}
    records.note(Context(command="second"), 4)
    records.use([a], 9, 4)
    records.give_back(taken, 4)
    notes, uses = records.take()
    assert [context.command for context, _ in notes] == ["first", "second"]
    assert uses == {a: 9, b: 5}
    records.give_back(([], {}), 4)
    assert not records.are_waiting
