"""Verify finds every corruption that is planted, and says what to do."""

from __future__ import annotations

from typing import NoReturn

import apsw
import pytest

from memoranda.errors import Unavailable
from memoranda.stores.log.check import Check
from memoranda.stores.log.node import Node
from memoranda.stores.log.turn import Turn
from tests.stores.log.rig import AGENT, Rig, append, move, p, put, remove, splice


def used() -> Rig:
    """A store with something of everything."""
    rig = Rig()
    rig.apply(put("/a", b"a line\n" * 100))
    rig.apply(splice("/a", 3, 4, b"X"))
    rig.apply(append("/a", b"end"))
    rig.apply(put("/d/b", "b"), put("/d/.h/c", "c"), put("/e/f/g", "g"))
    rig.apply(put("/big", b"0123456789" * 10_000))
    rig.apply(splice("/big", 5, 6, b"X"))
    rig.apply(move("/d", "/q"))
    rig.apply(remove("/q/b"))
    rig.apply(remove("/e"))
    rig.turn(lambda turn: turn.audit(AGENT, rig.now))
    assert rig.codes() == []
    return rig


PLANTED = [
    ("UPDATE event SET actor = 'mallory' WHERE seq = 2", ["chain"]),
    ("UPDATE event SET size = size + 1 WHERE seq = 1", ["chain", "version"]),
    ("UPDATE event SET at = 5 WHERE seq = 3", ["chain", "time"]),
    ("DELETE FROM event WHERE seq = 2", ["chain", "counter", "history", "version"]),
    ("DELETE FROM event WHERE node IS NULL", ["counter"]),
    ("UPDATE event SET body = x'00' WHERE seq = 1", ["counter", "version"]),
    ("UPDATE event SET base = 77 WHERE seq = 2", ["version"]),
    ("DELETE FROM piece WHERE n = 1", ["counter", "version"]),
    ("UPDATE piece SET data = CAST(replace(data, '5', '6') AS BLOB)", ["version"]),
    ("UPDATE piece SET data = 'no bytes'", ["version", "counter"]),
    ("UPDATE event SET body = 'no bytes' WHERE seq = 1", ["version", "counter"]),
    ("UPDATE head SET data = x'00'", ["content"]),
    ("DELETE FROM head", ["content"]),
    ("UPDATE head_piece SET data = CAST(replace(data, '5', '6') AS BLOB)", ["content"]),
    ("UPDATE head_piece SET data = 'no bytes'", ["content"]),
    ("UPDATE head SET data = 'no bytes'", ["content"]),
    ("DELETE FROM head_piece WHERE n = 0", ["content"]),
    ("UPDATE node SET size = size + 1 WHERE name = 'a'", ["content", "counter", "head"]),
    ("UPDATE node SET sha = x'00' WHERE name = 'a'", ["content", "head"]),
    ("UPDATE node SET head = 1 WHERE name = 'a'", ["head", "history"]),
    ("UPDATE node SET head = 99 WHERE name = 'a'", ["head", "history"]),
    ("UPDATE node SET events = 9 WHERE name = 'a'", ["history"]),
    ("UPDATE node SET total = total + 1 WHERE id = 0", ["counter"]),
    ("UPDATE node SET shown = 0 WHERE id = 0", ["counter"]),
    ("UPDATE node SET children = 7 WHERE name = 'q/'", ["counter"]),
    ("UPDATE node SET deep = 0, long = 0 WHERE id = 0", ["counter"]),
    ("UPDATE node SET history = 0 WHERE id = 0", ["counter"]),
    ("UPDATE node SET gone = NULL WHERE name = 'e/'", ["counter", "counter"]),
    ("DELETE FROM node WHERE name = '.h/'", ["counter", "counter", "orphan"]),
    ("DELETE FROM node WHERE name = 'b'", ["orphan", "orphan"]),
]


@pytest.mark.parametrize(("plant", "codes"), PLANTED)
@pytest.mark.fault("BAD-12")
def test_a_planted_corruption_is_found(plant: str, codes: list[str]) -> None:
    rig = used()
    rig.db.execute(plant)
    assert set(rig.codes()) == set(codes)
    for problem in rig.check().problems:
        assert problem.message.endswith(".")
        assert problem.remedy.endswith(".")


def test_a_directory_without_files_is_found() -> None:
    rig = used()
    rig.db.execute(
        "INSERT INTO node SELECT id + 1000, parent, 'empty/', NULL, created, updated, used, 0, 0, 0,"
        " 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"
        " FROM node WHERE name = 'q/'"
    )
    found = [problem for problem in rig.check().problems if problem.path == p("/empty")]
    assert [problem.code for problem in found] == ["counter"]


def test_a_damaged_file_is_found() -> None:
    rig = used()
    rig.db.execute("PRAGMA writable_schema = 1")
    rig.db.execute("UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'node_gone'")
    rig.db.execute("PRAGMA writable_schema = RESET")
    assert "database" in rig.codes()


def test_the_report_counts_what_there_is() -> None:
    rig = used()
    report = rig.check()
    assert report.ok
    assert (report.files, report.versions) == (3, 11)


def test_late_versions_are_no_heads() -> None:
    rig = used()

    def work(turn: Turn) -> None:
        node = turn.find(p("/a"))
        assert node is not None
        turn.add_late(node, b"late", AGENT)

    rig.turn(work)
    assert rig.codes() == []


def test_a_disk_that_cannot_be_read_now_is_told_and_no_damage() -> None:
    def read(node: Node) -> NoReturn:
        raise apsw.IOError("disk I/O error")

    with pytest.raises(Unavailable):
        Check(used().log, read).run()
