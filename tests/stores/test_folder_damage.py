"""A damaged database is set aside, never in silence, or an error that says what to do."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import Corrupt, ReadOnly, Unavailable
from memoranda.path import ROOT
from memoranda.stores.base import Report
from memoranda.stores.log.database import open_connection
from memoranda.stores.log.schema import FORMAT
from memoranda.testing.promises.steps import append
from tests.stores.folder_rig import AGENT, FolderRig

STATE = {"/a.md": b"one\nmore\n", "/d/b.md": b"two\n"}


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path / "here")
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    rig.edit("/a.md", append(b"more\n"))
    return rig


def surgery(rig: FolderRig, *statements: str) -> None:
    """What a person with a database tool may do to a store."""
    db = open_connection(str(rig.directory / "history.db"))
    for statement in statements:
        db.execute(statement)
    db.close()


def verified(rig: FolderRig) -> Report:
    return run_now(rig.store.verify())


def codes(report: Report) -> list[str]:
    return [each.code for each in (*report.problems, *report.notes)]


def set_aside(rig: FolderRig) -> list[str]:
    """The databases that were set aside, by their names from the store's folder."""
    recovered = rig.directory / "recovered"
    names = sorted(os.listdir(recovered)) if recovered.exists() else []
    return [f"recovered/{name}" for name in names if name.endswith("history.db")]


# ---------------------------------------------------------------- at opening

NOTES = ("host", "place", "whose", "durable", "lagging", "archived", "damaged", "instance")
_NOTE = "INSERT INTO meta VALUES('folder.{0}', {1}) ON CONFLICT(k) DO UPDATE SET v = {1}"
UNUSABLE = {
    f"the note {name} {what}": _NOTE.format(name, value)
    for name in NOTES
    for what, value in (("is no JSON", "'{'"), ("is something else", "'[[1]]'"))
} | {
    "a note that is bytes": "UPDATE meta SET v = x'ff00' WHERE k = 'folder.host'",
    "no notes": "DROP TABLE meta",
    "no events": "DROP TABLE event",
    "no nodes": "DROP TABLE node",
    "no root": "DELETE FROM node WHERE id = 0",
    "no store": "DELETE FROM store",
    "no table of stores": "DROP TABLE store",
}


@pytest.mark.parametrize("damage", UNUSABLE)
def test_a_database_that_cannot_be_used_is_set_aside_and_everybody_is_told(
    rig: FolderRig, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store_id = rig.store.id
    rig.close()
    surgery(rig, UNUSABLE[damage])
    rig.open()
    with caplog.at_level(logging.WARNING, "memoranda"):
        assert rig.tree() == STATE
    (aside,) = set_aside(rig)
    (notice,) = run_now(rig.store.notices())
    assert aside in notice.remedy
    assert str(rig.home) not in f"{notice}{caplog.text}"
    assert notice.message in caplog.text
    report = verified(rig)
    assert report.ok
    assert codes(report) == ["salvaged", "recovered"]
    assert aside in report.notes[1].message
    if "store" not in damage:
        assert rig.store.id == store_id
    rig.edit("/a.md", append(b"it goes on\n"))
    rig.reopen()
    assert run_now(rig.store.notices()) == ()
    assert "salvaged" in codes(verified(rig))
    (rig.directory / aside).unlink()
    assert "salvaged" not in codes(verified(rig))
    rig.check()


def test_notes_are_made_anew_and_the_history_is_taken_over(rig: FolderRig) -> None:
    history = rig.history()
    rig.close()
    surgery(rig, "UPDATE meta SET v = '{' WHERE k = 'folder.host'")
    rig.open()
    assert rig.history() == history
    assert "(3 versions)" in run_now(rig.store.notices())[0].message


def test_without_a_whole_history_the_files_begin_one(rig: FolderRig) -> None:
    rig.close()
    surgery(rig, "DROP TABLE event")
    rig.open()
    assert rig.tree() == STATE
    assert [each[:3] for each in rig.history()] == [
        ("external", "created", "/a.md"),
        ("external", "created", "/d/b.md"),
    ]
    assert "begins anew" in run_now(rig.store.notices())[0].message


def test_an_archived_store_stays_archived(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    run_now(rig.backend.archive(rig.store.id))
    rig.close()
    surgery(rig, "DROP TABLE event")
    rig.open()
    with pytest.raises(ReadOnly):
        rig.put("/b.md", b"two\n")


def test_the_audit_says_that_a_database_was_set_aside(rig: FolderRig) -> None:
    rig.close()
    surgery(rig, "DROP TABLE meta")
    rig.reopen()
    rows = rig.opened.db.execute("SELECT audit FROM event WHERE command = 'open' ORDER BY seq")
    assert '"found":"damaged"' in rows.fetchall()[0][0]


def test_a_store_that_was_salvaged_twice_tells_of_both(rig: FolderRig) -> None:
    for _ in range(2):
        rig.close()
        surgery(rig, "UPDATE meta SET v = '{' WHERE k = 'folder.host'")
        rig.open()
        assert rig.tree() == STATE
    assert codes(verified(rig)) == ["salvaged", "salvaged", "recovered"]


def test_an_id_that_is_none_is_not_taken_over(rig: FolderRig) -> None:
    rig.close()
    surgery(rig, "UPDATE store SET id = '../elsewhere'", "DROP TABLE event")
    rig.open()
    assert rig.tree() == STATE
    assert rig.store.id.startswith("memstore_")
    rig.check()


def test_a_store_of_another_number_makes_no_whole_history(rig: FolderRig) -> None:
    rig.close()
    surgery(rig, "UPDATE store SET number = 5")
    rig.open()
    assert rig.tree() == STATE
    assert "begins anew" in run_now(rig.store.notices())[0].message
    rig.check()


def test_an_archived_stores_files_are_taken_in_where_its_history_is_lost(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    run_now(rig.backend.archive(rig.store.id))
    rig.close()
    surgery(rig, "DROP TABLE event")
    rig.open()
    assert rig.tree() == {"/a.md": b"one\n"}
    rig.check()


def test_a_copy_whose_rows_make_no_sense_is_damaged_and_can_be_repaired(
    rig: FolderRig, tmp_path: Path
) -> None:
    rig.close()
    surgery(rig, "UPDATE node SET history = 'much' WHERE id = 0")
    shutil.copytree(rig.home, tmp_path / "there")
    there = FolderRig(tmp_path / "there")
    with pytest.raises(Corrupt):
        there.read("/a.md")
    assert not verified(there).ok
    assert run_now(there.store.repair()).ok
    assert there.tree() == STATE
    there.check()


# ---------------------------------------------------------------- while it is open

LATER = {
    "no events": "DROP TABLE event",
    "no root": "DELETE FROM node WHERE id = 0",
    "a text for a number": "UPDATE node SET total = 'many'",
    "bytes that are no text": "UPDATE event SET actor = CAST(x'ff' AS TEXT)",
    "a changed actor": "UPDATE event SET actor = 'nobody'",
    "a changed body": "UPDATE event SET body = zeroblob(length(body)) WHERE body IS NOT NULL",
    "a lost event": "DELETE FROM event WHERE seq = (SELECT min(seq) FROM event)",
}


@pytest.mark.parametrize("damage", LATER)
@pytest.mark.fault("BAD-12")
def test_verify_reports_damage_and_repair_mends_it(rig: FolderRig, damage: str) -> None:
    surgery(rig, LATER[damage])
    report = verified(rig)
    assert not report.ok
    for problem in report.problems:
        assert "memoranda verify --repair" in problem.remedy
        assert str(rig.home) not in str(problem)
    repaired = run_now(rig.store.repair())
    assert repaired.ok
    assert codes(repaired) == ["salvaged", "recovered"]
    assert len(set_aside(rig)) == 1
    assert rig.tree() == STATE == rig.on_disk()
    rig.edit("/a.md", append(b"it goes on\n"))
    rig.check()


def test_a_change_that_meets_a_damaged_table_is_none(rig: FolderRig) -> None:
    rig.opened.db.execute("DROP TABLE event")
    with pytest.raises(Corrupt):
        rig.put("/a.md", b"two\n")
    assert rig.on_disk() == STATE


def test_a_hold_that_meets_a_damaged_table_is_none(rig: FolderRig) -> None:
    rig.opened.db.execute("DROP TABLE meta")
    with pytest.raises(Corrupt):
        run_now(rig.store.hold(ROOT, "why", AGENT))
    assert rig.on_disk() == STATE


def test_repair_of_a_store_in_order_changes_nothing(rig: FolderRig) -> None:
    history = rig.history()
    assert run_now(rig.store.repair()) == verified(rig)
    assert rig.history() == history
    assert set_aside(rig) == []


def test_another_process_goes_on_with_the_repaired_store(rig: FolderRig) -> None:
    other = FolderRig(rig.home)
    assert other.tree() == STATE
    surgery(rig, "UPDATE event SET actor = 'nobody'")
    assert run_now(rig.store.repair()).ok
    other.edit("/a.md", append(b"by the other\n"))
    assert rig.read("/a.md") == b"one\nmore\nby the other\n"
    assert len(set_aside(rig)) == 1
    other.check()
    rig.check()


def test_the_command_line_says_what_to_do_and_does_it(
    rig: FolderRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.command_line import run

    monkeypatch.setenv("MEMORANDA_STORE", str(rig.home / "memory"))
    monkeypatch.setenv("MEMORANDA_USER", "acme")
    rig.close()
    surgery(rig, "UPDATE event SET actor = 'nobody'")
    found = run("verify")
    assert found.exit_code == Corrupt.exit_code
    assert "memoranda verify --repair" in found.stdout
    mended = run("verify", "--repair")
    assert mended.exit_code == 0
    assert "set aside" in mended.stdout
    assert run("view", "/memories/a.md").exit_code == 0

    surgery(rig, "UPDATE meta SET v = '{' WHERE k = 'folder.host'")
    told = run("history", "/memories/a.md")
    assert told.exit_code == 0
    assert "Note: The history's database was found damaged" in told.stderr
    assert str(rig.home) not in told.stderr
    assert "Note" not in run("history", "/memories/a.md").stderr


# ---------------------------------------------------------------- another format


@pytest.mark.fault("BAD-11")
def test_a_writer_notices_that_the_database_was_brought_to_a_newer_format(rig: FolderRig) -> None:
    before = rig.on_disk()
    surgery(rig, f"PRAGMA user_version = {FORMAT + 1}")
    for do in (
        lambda: rig.put("/new.md", b"new\n"),
        lambda: rig.edit("/a.md", append(b"x\n")),
        lambda: rig.move("/d", "/e"),
        rig.tree,
        lambda: verified(rig),
    ):
        with pytest.raises(Unavailable, match=f"format {FORMAT + 1}"):
            do()
    assert rig.on_disk() == before
    assert rig.read("/a.md") == STATE["/a.md"]
    surgery(rig, f"PRAGMA user_version = {FORMAT}")
    rig.check()
    assert len(rig.history()) == 3


def test_a_reader_of_a_newer_format_says_so_where_tables_are_others(rig: FolderRig) -> None:
    surgery(rig, f"PRAGMA user_version = {FORMAT + 1}", "ALTER TABLE event RENAME TO happening")
    with pytest.raises(Unavailable, match=f"format {FORMAT + 1}"):
        rig.history()


def test_a_tree_does_not_follow_a_log_of_a_newer_format(rig: FolderRig) -> None:
    other = FolderRig(rig.home)
    other.put("/later.md", b"later\n")
    surgery(rig, f"PRAGMA user_version = {FORMAT + 1}")
    (rig.directory / "lock").write_bytes(b"")  # all that is there would be compared
    os.truncate(rig.memories / "a.md", 0)
    with pytest.raises(Unavailable, match=f"format {FORMAT + 1}"):
        rig.put("/new.md", b"new\n")
    assert (rig.memories / "a.md").read_bytes() == b""


# ---------------------------------------------------------------- the end of a process

ENDS = {
    "as a global": "store",
    "in a circle": "circle = [store, memory]; circle.append(circle)",
    "in a thread that goes on": (
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    ),
    "with its descriptors closed": "import os; os.closerange(3, 200)",
    "in modules that outlive it": "import builtins, sys; builtins.kept = sys.kept = store",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_process_ends_without_a_word(tmp_path: Path, end: str) -> None:
    program = (
        "from memoranda import Memory\n"
        f"memory = Memory.open({str(tmp_path)!r}, user='ann')\n"
        "memory.write('/memories/a.md', 'one\\n')\n"
        "store = memory._core\n"
        f"{ENDS[end]}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with Memory.open(str(tmp_path), user="ann") as memory:
        assert memory.verify().ok
