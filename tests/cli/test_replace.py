"""``memoranda replace``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import create, done, json_of, refused, run

FILE = "/memories/a.md"


def raw() -> bytes:
    return run("view", FILE, "--raw").stdout_bytes


def test_the_text_is_replaced_and_the_place_is_shown() -> None:
    create(FILE, "We ship on Fridays.\n")
    answer = done("replace", FILE, "Fridays", "Tuesdays")
    assert answer.endswith("     1\tWe ship on Tuesdays.\n")
    assert raw() == b"We ship on Tuesdays.\n"


def test_the_new_text_may_come_from_a_file_or_from_standard_input() -> None:
    create(FILE, "one two")
    Path("new").write_text("three")
    done("replace", FILE, "one", "--file", "new")
    done("replace", FILE, "two", "-", stdin="four")
    assert raw() == b"three four"


def test_an_empty_text_deletes_the_old_one() -> None:
    create(FILE, "one two")
    done("replace", FILE, " two", "")
    assert raw() == b"one"


def test_texts_that_begin_with_a_dash_come_after_two() -> None:
    done("create", FILE, "--", "- one\n")
    done("replace", FILE, "--", "- one", "- two")
    assert raw() == b"- two\n"


def test_a_text_that_is_not_there_is_refused_with_advice() -> None:
    create(FILE, "one\n")
    assert refused("replace", FILE, "two", "three") == (
        2,
        (
            "Error: The text to replace is not in /memories/a.md.\n"
            "memoranda view shows what is there; the text has to match exactly.\n"
        ),
    )


def test_a_text_that_is_there_twice_is_refused_with_its_lines() -> None:
    create(FILE, "one\ntwo\none\n")
    code, message = refused("replace", FILE, "one", "three")
    assert code == 2
    assert "It is on lines 1, 3. Give more of the text around" in message


def test_an_empty_old_text_is_refused() -> None:
    create(FILE, "one\n")
    code, message = refused("replace", FILE, "", "three")
    assert (code, message) == (
        2,
        "Error: The text to replace is empty.\nSay which text is to be replaced.\n",
    )


def test_a_new_text_that_is_not_utf8_is_refused() -> None:
    create(FILE, "one\n")
    code, message = refused("replace", FILE, "one", "-", stdin=b"\xff")
    assert code == 2
    assert "The text has to be UTF-8." in message


def test_json_holds_what_claude_reads() -> None:
    create(FILE, "one\n")
    assert json_of("replace", FILE, "one", "two")["content"].endswith("     1\ttwo")
