"""``memoranda view``."""

from __future__ import annotations

import base64
from pathlib import Path

from tests.cli.command_line import at_terminal, create, done, json_of, refused, run

LISTING = (
    "Here're the files and directories up to 2 levels deep in /memories, "
    "excluding hidden items and node_modules:\n"
)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_everything_is_listed_as_claude_sees_it() -> None:
    create("/memories/a.md", "one\n")
    assert done("view") == f"{LISTING}4B\t/memories\n4B\t/memories/a.md\n"


def test_a_memory_is_shown_with_line_numbers() -> None:
    create("/memories/a.md", "one\ntwo\n")
    assert done("view", "/memories/a.md").endswith("\n     1\tone\n     2\ttwo\n")


def test_some_lines_are_shown() -> None:
    create("/memories/a.md", "one\ntwo\nthree\n")
    for given, shown in [("2-3", "two three"), ("2-", "two three"), ("2", "two")]:
        lines = done("view", "/memories/a.md", "--lines", given).splitlines()[1:]
        assert [line.split("\t")[1] for line in lines] == shown.split()


def test_lines_that_are_none_are_refused() -> None:
    code, message = refused("view", "/memories/a.md", "--lines", "3-x")
    assert code == 2
    assert "Write A-B, A- or A, for example 10-20." in message
    create("/memories/a.md")
    code, message = refused("view", "/memories/a.md", "--lines", "7-9")
    assert (code, message) == (2, "Error: Lines 7 to 9 are not within 1 to 1.\n")


def test_the_raw_content_comes_byte_for_byte() -> None:
    content = b"\xff\x00\r\nno line end"
    run("create", "/memories/a.bin", "-", stdin=content)
    assert run("view", "/memories/a.bin", "--raw").stdout_bytes == content


def test_raw_lines_are_refused() -> None:
    assert refused("view", "/memories/a.md", "--raw", "--lines", "1")[0] == 2


def test_json_holds_what_claude_reads() -> None:
    create("/memories/a.md", "one\n")
    assert json_of("view") == {"content": done("view").removesuffix("\n")}


def test_json_of_the_raw_content_holds_all_that_is_known() -> None:
    create("/memories/a.md", "one\n")
    shape = json_of("view", "/memories/a.md", "--raw")
    assert shape["content"] == "one\n"
    assert shape["encoding"] == "utf-8"
    assert shape["size_bytes"] == 4
    assert shape["created_at"].endswith("Z")


def test_a_picture_is_described_and_its_bytes_can_be_had() -> None:
    Path("a.png").write_bytes(PIXEL)
    done("create", "/memories/a.png", "--file", "a.png")
    assert done("view", "/memories/a.png") == (
        "Here's the image /memories/a.png:\n[image/png; --raw writes its bytes]\n"
    )
    assert run("view", "/memories/a.png", "--raw").stdout_bytes == PIXEL
    assert json_of("view", "/memories/a.png")["content"][1]["type"] == "image"


def test_what_is_not_there_is_said_and_ends_with_3() -> None:
    create("/memories/a.md")
    assert refused("view", "/memories/b.md") == (
        3,
        "Error: /memories/b.md does not exist.\nmemoranda view lists what there is.\n",
    )


def test_a_path_outside_is_refused_with_an_example() -> None:
    create("/memories/a.md")
    assert refused("view", "notes.md") == (
        2,
        (
            "Error: Memory paths start with /memories and stay inside it.\n"
            "A path looks like this: /memories/notes/today.md\n"
        ),
    )


def test_looking_makes_nothing_and_a_user_without_memory_is_noted() -> None:
    result = run("view", "--user", "ada")
    assert result.exit_code == 0
    assert result.stdout.endswith("0B\t/memories\n")
    assert result.stderr == "Note: the user ada has no memory in this store yet.\n"
    assert list(Path().iterdir()) == []


def test_contents_cannot_command_a_terminal_but_are_exact_in_a_pipe() -> None:
    hostile = "\x1b]0;owned\x07 \x1b[2J \u202egnp.exe \x9b31m\tand a tab\n"
    create("/memories/a.md", hostile)
    assert hostile in done("view", "/memories/a.md")
    assert done("view", "/memories/a.md", "--raw") == hostile
    for option in ([], ["--raw"]):
        seen = at_terminal("view", "/memories/a.md", *option)
        assert seen.exit_code == 0
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(seen.screen)
        assert r"\u001b]0;owned\u0007 \u001b[2J \u202egnp.exe \u009b31m" in seen.screen
        assert "and a tab\n" in seen.screen


def test_bytes_that_are_no_text_are_shown_escaped_at_a_terminal() -> None:
    run("create", "/memories/a.bin", "-", stdin=b"\xff\xfe\n")
    assert at_terminal("view", "/memories/a.bin", "--raw") == ("\\xff\\xfe\n", 0)
