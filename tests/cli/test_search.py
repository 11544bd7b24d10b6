"""``memoranda search``."""

from __future__ import annotations

from tests.cli.command_line import create, done, json_of, run


def test_lines_are_found_whatever_their_case() -> None:
    create("/memories/a.md", "one\nWe ship on Fridays.\n")
    create("/memories/b.md", "nothing\n")
    assert done("search", "friday ship") == "/memories/a.md:2: We ship on Fridays.\n"


def test_a_directory_can_be_searched_alone() -> None:
    create("/memories/a.md", "word")
    create("/memories/d/b.md", "word")
    assert done("search", "word", "--in", "/memories/d") == "/memories/d/b.md:1: word\n"
    assert done("search", "word", "-n", "1") == "/memories/a.md:1: word\n"


def test_json_holds_paths_and_lines() -> None:
    create("/memories/a.md", "one\nword\n")
    assert json_of("search", "word") == {
        "hits": [{"path": "/memories/a.md", "lines": [{"line": 2, "text": "word"}]}]
    }


def test_nothing_found_is_said() -> None:
    create("/memories/a.md", "one\n")
    result = run("search", "two")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No memory holds these words.\n"


def test_found_lines_are_harmless_even_in_a_pipe() -> None:
    create("/memories/a.md", "word \x1b[2J \u202e\n")
    assert done("search", "word") == "/memories/a.md:1: word \\u001b[2J \\u202e\n"
