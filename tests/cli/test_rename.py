"""``memoranda rename``."""

from __future__ import annotations

from tests.cli.command_line import create, done, json_of, refused


def test_a_memory_and_a_directory_get_another_path() -> None:
    create("/memories/a.md")
    assert done("rename", "/memories/a.md", "/memories/d/b.md") == (
        "Successfully renamed /memories/a.md to /memories/d/b.md\n"
    )
    done("rename", "/memories/d", "/memories/e")
    assert "/memories/e/b.md" in done("view")


def test_a_path_that_is_taken_ends_with_4() -> None:
    create("/memories/a.md")
    create("/memories/b.md")
    assert refused("rename", "/memories/a.md", "/memories/b.md")[0] == 4


def test_json_holds_what_claude_reads() -> None:
    create("/memories/a.md")
    answer = json_of("rename", "/memories/a.md", "/memories/b.md")
    assert answer == {"content": "Successfully renamed /memories/a.md to /memories/b.md"}
