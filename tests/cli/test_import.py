"""``memoranda import``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import at_terminal, create, done, json_of, refused, run


@pytest.fixture(autouse=True)
def old() -> Path:
    """The folder of another memory tool."""
    folder = Path("old")
    (folder / "memories/d").mkdir(parents=True)
    (folder / "memories/a.md").write_text("a")
    (folder / "memories/d/b.md").write_text("b")
    (folder / "README").write_text("not a memory")
    return folder


def test_the_folder_of_the_sdks_own_tool_is_taken_over() -> None:
    assert done("import", "old") == "Imported 2 files.\n"
    assert done("view", "/memories/d/b.md", "--raw") == "b"
    assert done("import", "old") == "Imported 0 files, 2 had been there already.\n"


def test_the_error_about_such_a_folder_leads_here() -> None:
    code, message = refused("view", "--store", "old")
    assert code == 9
    assert "Take them over with: memoranda import" in message


def test_a_plain_folder_is_taken_as_it_is_below_a_path() -> None:
    assert done("import", "old", "--plain", "--path", "/memories/all") == "Imported 3 files.\n"
    assert done("view", "/memories/all/README", "--raw") == "not a memory"


def test_a_dry_run_lists_what_would_be_taken_and_takes_nothing() -> None:
    assert done("import", "old", "--dry-run") == (
        "Would import 2 files.\n  /memories/a.md\n  /memories/d/b.md\n"
    )
    assert not Path("memory").exists()


def test_what_stays_outside_is_listed_harmlessly_and_ends_with_2(old: Path) -> None:
    create("/memories/a.md", "another")
    (old / "memories/e\x1b[2J.md").write_text("x")
    (old / "memories/link").symlink_to("/etc")
    result = run("import", "old")
    assert result.exit_code == 2
    assert result.stdout == (
        "Imported 1 file.\n"
        "3 stayed outside:\n"
        "  e\\u001b[2J.md: A name can't hold control characters or invisible ones.\n"
        "  link: It is a link or a device, not a file.\n"
        "  a.md: A memory with another content is there already.\n"
    )
    assert "3 stay outside:\n" in run("import", "old", "--dry-run").stdout
    assert done("view", "/memories/a.md", "--raw") == "another"


def test_memories_are_replaced_if_told() -> None:
    create("/memories/a.md", "another")
    shape = json_of("import", "old", "--replace")
    assert shape == {
        "dry_run": False,
        "written": ["/memories/a.md", "/memories/d/b.md"],
        "unchanged": [],
        "refused": [],
        "masked": [],
    }
    assert done("view", "/memories/a.md", "--raw") == "a"


def test_a_folder_that_is_not_there_ends_with_2() -> None:
    assert refused("import", "none") == (2, "Error: There is no such folder.\n")


def test_at_a_terminal_a_bar_shows_how_far_it_is() -> None:
    seen = at_terminal("import", "old")
    assert seen.exit_code == 0
    assert "2/2" in seen.screen
