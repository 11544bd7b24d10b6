"""``memoranda status``."""

from __future__ import annotations

from memoranda import Memory
from memoranda.agent import Sessions
from tests.cli.command_line import create, done, json_of, run


def test_without_a_layout_it_says_how_to_get_one() -> None:
    create("/memories/a.md")
    assert "memoranda init --template" in done("status")
    assert json_of("status")["template"] is None


def test_features_sessions_and_warnings_are_shown() -> None:
    features = "# Features\n" + "".join(f"- [ ] feature {number}\n" for number in range(12))
    features += "- [x] search (verified: tried it)\n- [x] export\n"
    create("/memories/features.md", features)
    create("/memories/progress.md", "## Session 1\nBegan.\n")
    with Memory.open("memory") as memory:
        Sessions(memory).seed("coding-agent")
        Sessions(memory).begin(task="x")
    shown = done("status")
    assert "2 done of 14, 1 verified" in shown
    assert "[##++.........................." in shown
    assert "  feature 9\n  and 2 more" in shown
    assert "## Session 1\nBegan." in shown
    assert "Warning: Session 1 has not updated the progress log yet." in shown
    assert "Warning: Marked as done without a word on how it was verified: export" in shown
    shape = json_of("status")
    assert (shape["done"], shape["verified"], shape["is_open"]) == (2, 1, True)
    assert shape["features"][-1] == {"text": "export", "state": "done", "evidence": None}


def test_a_check_ends_with_1_if_there_is_a_warning() -> None:
    create("/memories/features.md", "# Features\n- [x] export\n")
    assert run("status", "--check").exit_code == 1
    done(
        "create",
        "/memories/features.md",
        "--overwrite",
        "--",
        "- [x] export (verified: tried it)\n",
    )
    assert run("status", "--check").exit_code == 0
