"""``memoranda verify``."""

from __future__ import annotations

import pytest

from memoranda.memory import Memory
from memoranda.path import parse_path
from memoranda.stores.base import Problem, Report
from tests.cli.command_line import at_terminal, create, done, json_of, run

WRONG = Report(
    (Problem("hash", "It doesn't match its hash.", "Restore it.", parse_path("/memories/a.md")),),
    (Problem("index", "It is missing.", "Nothing."),),
    1,
    2,
)


@pytest.fixture
def something_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding of a check; what is found in truth is a matter of the stores."""

    def verify(_: Memory) -> Report:
        return WRONG

    monkeypatch.setattr(Memory, "verify", verify)


def test_that_all_is_well_is_said() -> None:
    create("/memories/a.md")
    assert done("verify") == "Checked 1 memory and 1 version: all is well.\n"


@pytest.mark.usefixtures("something_wrong")
def test_what_is_wrong_is_said_with_what_to_do_and_ends_with_8() -> None:
    create("/memories/a.md")
    result = run("verify")
    assert result.exit_code == 8
    assert result.stdout == (
        "Checked 1 memory and 2 versions. Something is wrong:\n"
        "  hash  /memories/a.md: It doesn't match its hash.\n"
        "    Restore it.\n"
        "Harmless, but worth knowing:\n"
        "  index  It is missing.\n"
        "    Nothing.\n"
    )


@pytest.mark.usefixtures("something_wrong")
def test_json_holds_every_finding() -> None:
    create("/memories/a.md")
    result = run("verify", "--json")
    assert result.exit_code == 8
    assert '"path": "/memories/a.md"' in result.stdout
    assert '"ok": false' in result.stdout


def test_json_says_that_all_is_well() -> None:
    create("/memories/a.md")
    assert json_of("verify") == {
        "ok": True, "files": 1, "versions": 1, "problems": [], "notes": [],
    }  # fmt: skip


def test_at_a_terminal_it_shows_that_it_is_at_work() -> None:
    create("/memories/a.md")
    assert "Checking" in at_terminal("verify").screen
