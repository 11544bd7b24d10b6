"""``memoranda restore``."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import typer

from memoranda.cli.shared.when import parse_when
from tests.cli.command_line import at_terminal, create, done, json_of, refused, run, version_ids

FILE = "/memories/a.md"


def raw(path: str = FILE) -> str:
    return done("view", path, "--raw")


def now() -> str:
    return datetime.now(UTC).isoformat()


def test_a_memory_gets_back_the_content_of_a_version() -> None:
    create(FILE, "old")
    done("create", FILE, "new", "--overwrite")
    old = version_ids()[1]
    assert done("restore", FILE, "--to", old) == "Restored:\nmodified  /memories/a.md\n"
    assert raw() == "old"


def test_a_directory_gets_back_what_it_held_at_a_time() -> None:
    create("/memories/d/a.md", "old")
    then = now()
    done("delete", "/memories/d/a.md")
    create("/memories/d/b.md")
    done("restore", "/memories/d", "--to", then)
    assert raw("/memories/d/a.md") == "old"
    assert refused("view", "/memories/d/b.md")[0] == 3


def test_the_whole_memory_is_restored_only_if_somebody_confirms_it() -> None:
    create(FILE, "old")
    then = now()
    done("create", FILE, "new", "--overwrite")
    code, message = refused("restore", "--to", then)
    assert code == 10
    assert message.startswith("Error: Make the whole memory what it was at 20")
    assert raw() == "new"
    assert at_terminal("restore", "--to", version_ids()[1], typed="y\n").exit_code == 0
    assert raw() == "old"
    done("undo")
    assert json_of("restore", "--to", then, "--yes")["kept"] == []
    assert raw() == "old"


def test_a_dry_run_says_what_would_change_and_changes_nothing() -> None:
    create("/memories/change.md", "old")
    create("/memories/move.md")
    create("/memories/gone.md")
    create("/memories/same.md")
    then = now()
    done("create", "/memories/change.md", "new", "--overwrite")
    done("rename", "/memories/move.md", "/memories/moved.md")
    done("delete", "/memories/gone.md")
    create("/memories/new.md")
    before = done("view")
    assert done("restore", "--to", then, "--dry-run") == (
        "Would:\n"
        "  change      /memories/change.md\n"
        "  bring back  /memories/gone.md\n"
        "  move back   /memories/move.md\n"
        "  remove      /memories/new.md\n"
    )
    assert json_of("restore", "/memories/new.md", "--to", then, "--dry-run") == {
        "dry_run": True,
        "changes": [{"change": "remove", "path": "/memories/new.md"}],
        "kept": [],
    }
    assert done("view") == before
    done("restore", "--to", then, "--yes")
    assert run("restore", "--to", then, "--dry-run").stderr == (
        "All is as it was then: nothing would change.\n"
    )


def test_a_dry_run_to_a_version_of_the_memory_looks_at_its_content_alone() -> None:
    create(FILE, "old")
    old = version_ids()[0]
    done("create", FILE, "new", "--overwrite")
    assert done("restore", FILE, "--to", old, "--dry-run") == "Would:\n  change  /memories/a.md\n"
    done("delete", FILE)
    gone = version_ids()[0]
    back = "Would:\n  bring back  /memories/a.md\n"
    assert done("restore", FILE, "--to", old, "--dry-run") == back
    done("undo")
    assert done("restore", FILE, "--to", gone, "--dry-run") == "Would:\n  remove  /memories/a.md\n"
    done("redact", old, "--yes")
    assert refused("restore", FILE, "--to", old, "--dry-run")[0] == 3


def test_a_dry_run_to_a_version_of_another_memory_is_about_that_time() -> None:
    create(FILE, "old")
    create("/memories/b.md")
    other = version_ids("/memories/b.md")[0]
    done("create", FILE, "new", "--overwrite")
    assert done("restore", FILE, "--to", other, "--dry-run") == "Would:\n  change  /memories/a.md\n"


def test_what_is_as_it_was_stays() -> None:
    create(FILE)
    result = run("restore", FILE, "--to", version_ids()[0])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "All is as it was then: nothing was changed.\n"


def test_memories_that_stay_because_of_a_redaction_are_named() -> None:
    create(FILE, "secret")
    then = now()
    secret = version_ids()[0]
    done("create", FILE, "clean", "--overwrite")
    done("redact", secret, "--yes")
    result = run("restore", "--to", then, "--yes")
    assert "/memories/a.md stays as it is: what it held then was redacted.\n" in result.stderr
    assert json_of("restore", "--to", then, "--yes")["kept"] == ["/memories/a.md"]
    result = run("restore", "--to", then, "--dry-run")
    assert "/memories/a.md would stay as it is: what it held then was redacted.\n" in result.stderr
    assert json_of("restore", "--to", then, "--dry-run")["kept"] == ["/memories/a.md"]
    assert raw() == "clean"


def test_a_time_that_is_none_is_refused_with_examples() -> None:
    code, message = refused("restore", FILE, "--to", "yesterday\x1b[2J")
    assert code == 2
    assert "2026-12-31T18:00, or how long ago: 10m, 2h, 3d." in message
    assert "\x1b" not in message


def test_times_are_read_as_people_type_them() -> None:
    assert parse_when("memver_x") == "memver_x"
    assert parse_when("2026-11-30T10:00:00Z") == datetime(2026, 11, 30, 10, tzinfo=UTC)
    local = parse_when("2026-11-30")
    assert isinstance(local, datetime)
    assert local == datetime(2026, 11, 30).astimezone()
    ago = parse_when("2h")
    assert isinstance(ago, datetime)
    assert 7_200 <= (datetime.now(UTC) - ago).total_seconds() < 7_260


@pytest.mark.parametrize("text", ["", "2 h", "999999w", "-1h", "memver", "10:00"])
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_when(text)
