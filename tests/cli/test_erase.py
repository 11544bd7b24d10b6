"""``memoranda erase``."""

from __future__ import annotations

from tests.cli.command_line import at_terminal, create, done, json_of, refused


def test_nothing_is_erased_unless_somebody_types_the_name() -> None:
    create("/memories/a.md", "12345", "--user", "ada")
    what = "all of ada: 1 memory (5B), 1 version"
    code, message = refused("erase", "--user", "ada")
    assert (code, message.split(" Nobody")[0]) == (10, f"Error: This erases {what}; for good.")
    for typed in ("y\n", "default\n"):
        seen = at_terminal("erase", "--user", "ada", typed=typed)
        assert seen.exit_code == 10
        assert f"This erases {what}; for good. Type ada to go on: " in seen.screen
    assert "ada" in done("users")
    assert at_terminal("erase", "--user", "ada", typed="ada\n").exit_code == 0
    assert json_of("users") == {"stores": []}


def test_it_is_erased_unasked_if_told() -> None:
    create("/memories/a.md", "12345")
    assert json_of("erase", "--yes")["user"] == "default"
    assert json_of("users") == {"stores": []}


def test_a_dry_run_says_what_would_go_and_leaves_it() -> None:
    create("/memories/a.md", "12345")
    assert done("erase", "--dry-run") == ("Would erase all of default: 1 memory (5B), 1 version.\n")
    assert json_of("erase", "--dry-run")["dry_run"] is True
    assert done("erase", "--yes") == "Erased all of default: 1 memory (5B), 1 version.\n"


def test_a_path_is_erased_with_its_history() -> None:
    create("/memories/a.md", "old")
    create("/memories/b.md", "kept")
    assert done("erase", "--path", "/memories/a.md", "--dry-run") == (
        "Would erase /memories/a.md: 1 version.\n"
    )
    assert refused("erase", "--path", "/memories/a.md")[0] == 10
    assert done("erase", "--path", "/memories/a.md", "--yes") == (
        "Erased /memories/a.md: 2 versions.\n"
    )
    assert "/memories/a.md" not in done("history")
    assert "/memories/a.md" not in done("audit")
    assert done("view", "/memories/b.md", "--raw") == "kept"
