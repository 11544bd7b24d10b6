"""``memoranda delete``."""

from __future__ import annotations

from tests.cli.command_line import at_terminal, create, done, json_of, refused, run


def left() -> list[str]:
    return [line.split("\t")[1] for line in run("view").stdout.splitlines()[2:]]


def test_a_memory_is_deleted_without_a_question() -> None:
    create("/memories/a.md")
    assert done("delete", "/memories/a.md") == "Successfully deleted /memories/a.md\n"
    assert left() == []


def test_a_directory_is_not_deleted_unless_somebody_confirms_it() -> None:
    create("/memories/d/a.md", "12345")
    create("/memories/d/b.md", "12345")
    assert refused("delete", "/memories/d") == (
        10,
        (
            "Error: Delete /memories/d with 2 memories (10B)? Nobody is here to confirm it, so nothing "
            "was changed. Add --yes to do it unasked, or --dry-run to see what it would do.\n"
        ),
    )
    assert len(left()) == 3
    done("delete", "/memories/d", "--yes")
    assert left() == []


def test_somebody_at_a_terminal_is_asked_and_may_say_no() -> None:
    create("/memories/d/a.md", "12345")
    for typed in ("\n", "n\n", "what?\n", "\x04"):
        seen = at_terminal("delete", "/memories/d", typed=typed)
        assert seen.exit_code == 10
        assert "Delete /memories/d with 1 memory (5B)? [y/N]" in seen.screen
        assert seen.screen.endswith("Error: It was not confirmed, so nothing was changed.\n")
    assert left() == ["/memories/d/", "/memories/d/a.md"]


def test_somebody_at_a_terminal_may_say_yes() -> None:
    create("/memories/d/a.md")
    assert at_terminal("delete", "/memories/d", typed="Y\n").exit_code == 0
    assert left() == []


def test_a_dry_run_lists_what_would_go_and_leaves_it() -> None:
    create("/memories/d/a.md")
    create("/memories/b.md")
    assert done("delete", "/memories/d", "--dry-run") == (
        "Would delete 1 memory:\n  /memories/d/a.md\n"
    )
    assert json_of("delete", "/memories/b.md", "--dry-run") == {
        "dry_run": True,
        "paths": ["/memories/b.md"],
    }
    assert len(left()) == 3


def test_what_is_not_there_ends_with_3() -> None:
    create("/memories/a.md")
    assert refused("delete", "/memories/b.md")[0] == 3
    assert refused("delete", "/memories/b.md", "--dry-run")[0] == 3
