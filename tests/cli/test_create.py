"""``memoranda create``."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cli.command_line import as_program, at_terminal, create, done, json_of, refused, run


def raw(path: str) -> bytes:
    return run("view", path, "--raw").stdout_bytes


def test_the_text_is_kept_as_it_was_given() -> None:
    assert done("create", "/memories/a.md", "héllo") == "Wrote /memories/a.md (6B).\n"
    assert Path("memory/stores/default/memories/a.md").read_text() == "héllo"


def test_the_text_may_come_from_a_file_or_from_standard_input() -> None:
    Path("given.bin").write_bytes(b"\xff\r\n")
    done("create", "/memories/a", "--file", "given.bin")
    done("create", "/memories/b", "-", stdin=b"\xff\r\n")
    done("create", "/memories/c", "--file", "-", stdin=b"\xff\r\n")
    assert [raw(f"/memories/{name}") for name in "abc"] == [b"\xff\r\n"] * 3


def test_a_text_that_begins_with_a_dash_comes_after_two() -> None:
    done("create", "/memories/a.md", "--", "- an item")
    assert raw("/memories/a.md") == b"- an item"


def test_a_text_given_twice_or_not_at_all_is_refused() -> None:
    for options in ([], ["text", "--file", "f"]):
        code, message = refused("create", "/memories/a.md", *options)
        assert code == 2
        assert "Give the text once: as TEXT, with --file FILE, or as -" in message
    assert list(Path().iterdir()) == []


def test_a_file_that_cannot_be_read_is_named() -> None:
    code, message = refused("create", "/memories/a.md", "--file", "none.md")
    assert code == 2
    assert "Invalid value for --file: none.md: No such file or directory." in message


def test_what_is_there_is_kept_unless_it_may_be_overwritten() -> None:
    create("/memories/a.md", "old")
    assert refused("create", "/memories/a.md", "new") == (
        4,
        (
            "Error: /memories/a.md already exists.\n"
            "Choose another path, or delete what is there first.\n"
        ),
    )
    assert raw("/memories/a.md") == b"old"
    done("create", "/memories/a.md", "new", "--overwrite")
    assert raw("/memories/a.md") == b"new"


def test_the_settings_can_allow_to_overwrite() -> None:
    Path("memoranda.toml").write_text('[policy]\non_exists = "overwrite"\n')
    create("/memories/a.md", "old")
    create("/memories/a.md", "new")
    assert raw("/memories/a.md") == b"new"


def test_limits_hold_and_end_with_5() -> None:
    Path("memoranda.toml").write_text("[limits]\nfile_bytes = 3\n")
    assert refused("create", "/memories/a.md", "four") == (
        5,
        (
            "Error: /memories/a.md would be 4 bytes, over the limit of 3.\n"
            "Split it, or raise file_bytes under [limits] in memoranda.toml.\n"
        ),
    )


def test_a_memory_that_is_read_only_ends_with_6() -> None:
    Path("memoranda.toml").write_text("[policy]\nread_only = true\n")
    assert refused("create", "/memories/a.md", "x")[0] == 6


def test_json_is_the_version() -> None:
    shape = json_of("create", "/memories/a.md", "x")
    assert shape["id"].startswith("memver_")
    assert shape["operation"] == "created"
    assert shape["path"] == "/memories/a.md"


def test_bytes_of_an_argument_that_are_no_text_are_kept() -> None:
    result = as_program("create", "/memories/a", b"\xff", more={"PYTHONUTF8": "1"})
    assert (result.returncode, result.stderr) == (0, b"")
    assert raw("/memories/a") == b"\xff"


def test_a_path_whose_bytes_are_no_text_is_refused() -> None:
    result = as_program("create", b"/memories/\xff\x1b", b"x", more={"PYTHONUTF8": "1"})
    assert result.returncode == 2
    assert b"\x1b" not in result.stderr
    assert b"\xff" not in result.stderr
    assert not os.path.exists("memory")


def test_somebody_at_a_terminal_is_told_how_to_end_the_text() -> None:
    seen = at_terminal("create", "/memories/a.md", "-", typed="hello\n\x04")
    assert seen.exit_code == 0
    assert "Type the text. Ctrl-D on a line of its own ends it.\n" in seen.screen
    assert raw("/memories/a.md") == b"hello\n"


def test_what_was_masked_is_said() -> None:
    secret = "ghp_" + "R4nd0mT0k3nV4lu3" * 2 + "1a2B"
    assert run("create", "/memories/a.md", secret).stderr == (
        "Masked before saving: a GitHub token.\n"
    )
    assert json_of("create", "/memories/b.md", secret)["masked"] == ["a GitHub token"]
    Path("in").mkdir()
    Path("in", "c.md").write_text(secret)
    assert run("import", "in").stderr == "Masked in /memories/c.md: a GitHub token.\n"
