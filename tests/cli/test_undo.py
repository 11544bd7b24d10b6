"""``memoranda undo``."""

from __future__ import annotations

from tests.cli.command_line import create, done, json_of, refused, run


def test_the_last_change_is_taken_back_and_back_again() -> None:
    create("/memories/a.md", "old")
    done("create", "/memories/a.md", "new", "--overwrite")
    assert done("undo") == "Took back the last change:\nmodified  /memories/a.md\n"
    assert done("view", "/memories/a.md", "--raw") == "old"
    done("undo", "/memories/a.md")
    assert done("view", "/memories/a.md", "--raw") == "new"


def test_json_holds_the_versions_that_were_made() -> None:
    create("/memories/a.md")
    assert json_of("undo")["versions"][0]["operation"] == "deleted"


def test_nothing_to_undo_is_said() -> None:
    create("/memories/a.md")
    result = run("undo", "/memories/none.md")
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        "There is nothing to undo.\n",
    )


def test_a_later_change_in_the_way_ends_with_4() -> None:
    create("/memories/a.md")
    done("rename", "/memories/a.md", "/memories/b.md")
    done("create", "/memories/b.md", "later", "--overwrite")
    create("/memories/a.md", "in the way")
    done("delete", "/memories/a.md")
    done("undo", "/memories/a.md")
    code, message = refused("undo", "/memories/none/../a.md")
    assert code == 2
    assert "Memory paths start with /memories" in message
