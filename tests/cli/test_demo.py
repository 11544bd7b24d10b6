"""``memoranda demo``: the second session answers from what the first wrote, again and again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from memoranda.cli import demo_claude
from memoranda.cli.main import app, main
from memoranda.memory import Memory
from memoranda.testing.messages_api import Received
from tests.house.repository import SOURCE

NOTES = Path("memory/stores/demo/memories/project.md")
ANSWER = "Claude   My notes say: We ship on Fridays."


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def demo(*options: str) -> Result:
    return CliRunner().invoke(app, ["demo", *options])


def second_session(done: Result) -> str:
    return done.output.split("\nSession 2\n", 1)[1]


def test_the_second_session_answers_from_what_the_first_wrote() -> None:
    done = demo()
    assert done.exit_code == 0, done.output
    assert "  asks   create /memories/project.md" in done.output
    assert "We ship on Fridays" not in second_session(done).split("  reads")[0]
    assert ANSWER in second_session(done)


def test_it_shows_where_the_files_lie_and_what_is_in_them() -> None:
    done = demo()
    assert f"$ cat {NOTES}\n" in done.output
    assert NOTES.read_text() in done.output
    assert "Sessions so far: 2" in NOTES.read_text()
    assert str(Path.cwd()) not in done.output


def test_it_can_be_run_again_and_again() -> None:
    for run in range(1, 4):
        done = demo()
        assert done.exit_code == 0, done.output
        assert ANSWER in second_session(done)
        assert f"Sessions so far: {2 * run}\n" in NOTES.read_text()
        assert ("  asks   create" in done.output) == (run == 1)


def test_it_runs_as_a_program_without_network_or_key(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "memoranda", "demo", "--store", "other"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ANSWER in done.stdout
    assert (tmp_path / "other/stores/demo/memories/project.md").exists()


def test_what_a_person_edits_is_what_the_next_session_answers() -> None:
    demo()
    NOTES.write_text("# Notes\n\n* Shipping is on Tuesdays now.\n")
    done = demo()
    assert done.exit_code == 0
    assert "Claude   My notes say: Shipping is on Tuesdays now." in second_session(done)
    assert NOTES.read_text() == ("# Notes\n\n* Shipping is on Tuesdays now.\nSessions so far: 2\n")


def test_what_a_person_takes_out_is_not_known_any_more() -> None:
    demo()
    NOTES.write_text("Nothing here.\n")
    assert "Claude   My notes don't say." in second_session(demo())


def test_notes_that_a_person_deleted_are_begun_anew() -> None:
    demo()
    NOTES.unlink()
    done = demo()
    assert done.exit_code == 0
    assert ANSWER in second_session(done)
    assert "Sessions so far: 2" in NOTES.read_text()


def test_what_the_notes_hold_does_not_command_the_terminal() -> None:
    demo()
    NOTES.write_text("We ship \x1b[2J\x07 soon.\n" + "line\n" * 50)
    done = demo()
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    assert "\x07" not in done.output
    assert "My notes say: We ship \\u001b[2J\\u0007 soon." in done.output
    assert done.output.count("\tline") + done.output.count("  line") < 60


def test_a_command_that_fails_is_shown_and_ends_the_demo_with_1() -> None:
    demo()
    NOTES.write_bytes(b"\xff\xfe")
    done = demo()
    assert done.exit_code == 1
    assert "  fails  Error: The file /memories/project.md is not UTF-8 text" in done.output
    assert "Claude   My memory refused that: Error:" in done.output


def test_lost_notes_end_the_demo_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(_: Received) -> str:
        return "Noted, and forgotten."

    monkeypatch.setattr(demo_claude, "first_session", forgetful)
    done = demo()
    assert done.exit_code == 1
    assert "Claude   I don't know: my notes are gone." in second_session(done)


def test_help_has_an_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["memoranda", "demo", "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "memoranda demo --store ./memory" in capsys.readouterr().out


def test_other_storage_and_other_users_can_be_named() -> None:
    done = demo("--store", "sqlite:///notes.db", "--user", "ada")
    assert done.exit_code == 0, done.output
    assert "The memory is kept in sqlite:///notes.db." in done.output
    with Memory.open("sqlite:///notes.db", "ada") as memory:
        assert memory.usage().files == 1


def test_a_folder_that_the_sdks_tool_filled_is_named_and_left_alone() -> None:
    kept = Path("memory/memories/a.md")
    kept.parent.mkdir(parents=True)
    kept.write_text("precious")
    done = demo()
    assert done.exit_code == 9
    assert "memoranda import" in done.output
    assert kept.read_text() == "precious"
    assert [path.name for path in Path("memory").iterdir()] == ["memories"]
