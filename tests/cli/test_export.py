"""``memoranda export``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import at_terminal, create, done, json_of, refused


def test_memories_become_plain_files() -> None:
    create("/memories/d/a.md", "12345")
    create("/memories/b.md", "12345")
    assert done("export", "backup") == "Wrote 2 memories (10B) to backup.\n"
    assert Path("backup/d/a.md").read_text() == "12345"
    assert done("export", "part", "--path", "/memories/d") == "Wrote 1 memory (5B) to part.\n"


def test_a_folder_in_use_is_left_alone_unless_its_files_may_be_replaced() -> None:
    create("/memories/a.md", "new")
    Path("backup").mkdir()
    Path("backup/a.md").write_text("old")
    code, message = refused("export", "backup")
    assert code == 2
    assert message.startswith("Error: The folder isn't empty")
    assert Path("backup/a.md").read_text() == "old"
    assert json_of("export", "backup", "--replace") == {"files": 1, "size_bytes": 3}
    assert Path("backup/a.md").read_text() == "new"


def test_at_a_terminal_a_bar_shows_how_far_it_is_and_goes_away() -> None:
    create("/memories/a.md", "new")
    seen = at_terminal("export", "backup")
    assert seen.exit_code == 0
    assert "Exporting" in seen.screen
    assert "1/1" in seen.screen
    assert seen.screen.endswith("Wrote 1 memory (3B) to backup.\n")


def test_the_name_of_a_folder_cannot_command_a_terminal() -> None:
    create("/memories/a.md", "new")
    assert done("export", "back\x1b[2Jup") == "Wrote 1 memory (3B) to back\\u001b[2Jup.\n"
