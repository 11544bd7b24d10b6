"""``memoranda show``."""

from __future__ import annotations

from tests.cli.command_line import create, done, json_of, refused, run, version_ids

FILE = "/memories/a.md"


def test_a_version_is_shown_with_its_content() -> None:
    create(FILE, "old")
    done("create", FILE, "new", "--overwrite")
    old = version_ids()[1]
    facts, _, content = done("show", old).partition("\n\n")
    assert facts.splitlines()[0] == f"version  {old}"
    assert "path     /memories/a.md" in facts
    assert "what     created, by write" in facts
    assert content == "old\n"


def test_the_exact_content_can_be_had_alone() -> None:
    run("create", FILE, "-", stdin=b"\xff\r\n\x1b")
    assert run("show", version_ids()[0], "--raw").stdout_bytes == b"\xff\r\n\x1b"


def test_the_version_that_deleted_a_memory_has_no_content() -> None:
    create(FILE)
    done("delete", FILE)
    newest = version_ids()[0]
    assert "what     deleted, by delete\n" in done("show", newest)
    assert done("show", newest, "--raw") == ""
    assert json_of("show", newest)["content"] is None


def test_a_redacted_version_says_so_and_has_no_content() -> None:
    create(FILE, "secret")
    done("delete", FILE)
    old = version_ids()[1]
    done("redact", old, "--yes")
    shown = done("show", old)
    assert "path      (redacted)\n" in shown
    assert "redacted  20" in shown
    assert "secret" not in shown
    assert refused("show", old, "--raw") == (
        3,
        "Error: The content of this version was redacted.\n",
    )
    assert json_of("show", old)["redacted_at"].endswith("Z")


def test_json_holds_text_as_text_and_other_bytes_as_base64() -> None:
    create(FILE, "text")
    assert json_of("show", version_ids()[0])["content"] == "text"
    run("create", "/memories/b", "-", stdin=b"\xff")
    shape = json_of("show", version_ids("/memories/b")[0])
    assert (shape["content"], shape["encoding"]) == ("/w==", "base64")


def test_an_id_that_is_none_ends_with_3() -> None:
    create(FILE)
    assert refused("show", "memver_none") == (
        3,
        (
            "Error: There is no version with this id.\n"
            "memoranda history shows the ids of versions, memoranda users those of stores.\n"
        ),
    )
