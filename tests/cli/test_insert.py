"""``memoranda insert``."""

from __future__ import annotations

from tests.cli.command_line import create, done, json_of, refused, run

FILE = "/memories/a.md"


def test_lines_are_inserted_where_they_shall_be() -> None:
    create(FILE, "one\nthree\n")
    assert done("insert", FILE, "1", "two") == "The file /memories/a.md has been edited.\n"
    done("insert", FILE, "0", "-", stdin="zero\n")
    assert run("view", FILE, "--raw").stdout == "zero\none\ntwo\nthree\n"


def test_a_line_that_is_not_there_is_refused() -> None:
    create(FILE, "one\n")
    assert refused("insert", FILE, "7", "x") == (2, "Error: Line 7 is outside 0 to 1.\n")


def test_a_line_that_is_no_number_is_refused() -> None:
    assert refused("insert", FILE, "top", "x")[0] == 2


def test_json_holds_what_claude_reads() -> None:
    create(FILE, "one\n")
    assert json_of("insert", FILE, "1", "two") == {
        "content": "The file /memories/a.md has been edited."
    }
