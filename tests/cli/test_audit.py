"""``memoranda audit``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.cli.audit import keep_following
from memoranda.stores.base import AuditEntry
from memoranda.stores.log.database import open_connection
from tests.cli.command_line import create, done, json_of, refused, run


def lines(*arguments: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in done("audit", "--json", *arguments).splitlines()]


def test_entries_are_shown_oldest_first() -> None:
    create("/memories/a.md", "x")
    done("view", "/memories/a.md")
    refused("view", "/memories/none")
    shown = done("audit").splitlines()
    assert [line.split()[3:] for line in shown] == [
        ["write", "ok", "-", "1B", "/memories/a.md"],
        ["view", "ok", "-", "-", "/memories/a.md"],
        ["view", "not_found", "-", "-", "/memories/none"],
    ]
    assert [line.split() for line in done("audit", "-n", "1").splitlines()] == [shown[-1].split()]
    assert done("audit", "--all").splitlines() == shown


def test_json_is_one_entry_a_line() -> None:
    create("/memories/a.md", "x")
    done("rename", "/memories/a.md", "/memories/b.md")
    assert [(each["command"], each["path"], each["before"]) for each in lines()] == [
        ("write", "/memories/a.md", None),
        ("rename", "/memories/b.md", "/memories/a.md"),
    ]
    assert lines("--all") == lines()


def test_no_name_forges_a_line_or_commands_the_terminal() -> None:
    create("/memories/a.md", "x")
    hostile = "/memories/x\n2026-12-31 23:59:59  user_boss  create  ok  1B  /memories/\x1b[2J"
    refused("view", hostile)
    shown = done("audit").splitlines()
    assert len(shown) == 2
    assert "\x1b" not in shown[1]
    (_, entry) = lines()
    assert "\n" not in str(entry["path"])


def test_an_empty_audit_says_so() -> None:
    result = run("audit")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "There are no entries yet." in result.stderr


def test_it_follows_what_is_done(tmp_path: Path) -> None:
    seen: list[str] = []

    def show(entries: Sequence[AuditEntry]) -> None:
        seen.extend(each.command for each in entries)

    with Memory.open(str(tmp_path)) as memory:

        def pause(_: float) -> None:
            if len(seen) == 2:
                raise KeyboardInterrupt
            memory.write("/memories/a", f"{len(seen)}")

        keep_following(memory, 0, show, pause)
    assert seen == ["write", "write"]


def test_a_sound_audit_is_well() -> None:
    create("/memories/a.md", "x")
    assert done("audit", "--verify") == "Checked 1 entry: all is well.\n"
    checked = json_of("audit", "--verify")
    assert (checked["ok"], checked["entries"], checked["problems"]) == (True, 1, [])


def test_a_changed_entry_ends_with_8_and_says_what_to_do() -> None:
    create("/memories/a.md", "x")
    db = open_connection("memory/stores/default/history.db")
    db.execute("UPDATE event SET actor = 'mallory'")
    db.close()
    result = run("audit", "--verify")
    assert result.exit_code == 8
    assert "chain" in result.stdout
    assert json.loads(run("audit", "--verify", "--json").stdout)["problems"][0]["code"] == "chain"


def test_an_anchor_notices_that_the_end_was_cut_off() -> None:
    create("/memories/a.md", "x")
    done("audit", "--anchor", "anchors")
    done("view", "/memories/a.md")
    shown = done("audit", "--anchor", "anchors")
    assert shown == "Checked 2 entries and 1 anchor: all is well.\n"
    assert len(Path("anchors").read_text().splitlines()) == 2
    assert Path("anchors").stat().st_mode & 0o777 == 0o600
    db = open_connection("memory/stores/default/history.db")
    db.execute("DELETE FROM event WHERE command = 'view'")
    db.execute("UPDATE node SET history = history - 200 WHERE id = 0")
    db.close()
    assert run("audit", "--verify").exit_code == 0
    result = run("audit", "--anchor", "anchors")
    assert result.exit_code == 8
    assert "cut" in result.stdout
    assert len(Path("anchors").read_text().splitlines()) == 2


@pytest.mark.parametrize("text", ["{", "[]", '{"store": 5, "seq": 1, "chain": "x"}'])
def test_a_file_that_holds_no_anchors_is_an_error(text: str) -> None:
    create("/memories/a.md", "x")
    Path("anchors").write_text(text)
    code, message = refused("audit", "--anchor", "anchors")
    assert code == 9
    assert "anchors" in message


def test_a_place_where_no_file_can_be_is_an_error() -> None:
    create("/memories/a.md", "x")
    Path("folder").mkdir()
    assert refused("audit", "--anchor", "folder")[0] == 9
    assert refused("audit", "--anchor", "none/such")[0] == 9
