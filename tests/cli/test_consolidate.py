"""``memoranda consolidate``, against the scripted Messages API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from memoranda.testing.messages_api import Reply, ScriptedMessagesAPI, unauthorized, use_memory
from tests.cli.command_line import create, done, run

TIDY = [use_memory("delete", path="/memories/old.md"), "I dropped what was over."]


@pytest.fixture(autouse=True)
def notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    create("/memories/old.md", "Meet on Monday.\n")
    create("/memories/tea.md", "Ada likes tea.\n")


def consolidate(*arguments: str, script: Any = TIDY, failures: Any = None) -> Result:
    with ScriptedMessagesAPI(script, failures=failures) as api:
        return run("consolidate", "--base-url", api.url, *arguments)


def test_a_dry_run_shows_the_diff_and_changes_nothing() -> None:
    result = consolidate("--dry-run")
    assert result.exit_code == 0
    assert "I dropped what was over." in result.stdout
    assert "-Meet on Monday." in result.stdout
    assert "removed  /memories/old.md" in result.stdout
    assert "[delete /memories/old.md]" in result.stderr
    assert Path("memory/stores/default/memories/old.md").exists()


def test_a_scheduled_job_accepts_what_keeps_the_rules() -> None:
    result = consolidate("--yes")
    assert (result.exit_code, "Done: 1 change." in result.stdout) == (0, True)
    assert not Path("memory/stores/default/memories/old.md").exists()
    done("undo")
    assert Path("memory/stores/default/memories/old.md").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--yes", "--protect", "/memories/old*"), "is protected"),
        (("--yes", "--most-removed", "0.1"), "1 of 2 memories would be removed."),
        ((), "Nobody is here to accept the changes"),
    ],
)
def test_what_nobody_accepted_does_not_happen(arguments: tuple[str, ...], why: str) -> None:
    result = consolidate(*arguments)
    assert result.exit_code == 10
    assert why in result.stderr
    assert Path("memory/stores/default/memories/old.md").exists()


def test_an_agent_that_came_to_no_end_is_not_accepted() -> None:
    script = [TIDY[0], Reply("Then", "max_tokens")]
    result = consolidate("--yes", script=script)
    assert result.exit_code == 10
    assert "came to no end (unfinished)" in result.stderr


def test_a_memory_that_is_tidy_stays_as_it_is() -> None:
    result = consolidate("--yes", script=["It is tidy."])
    assert (result.exit_code, "There is nothing to change." in result.stdout) == (0, True)


def test_an_api_that_fails_is_an_error_with_a_reason() -> None:
    result = consolidate("--yes", failures={1: unauthorized()})
    assert "The key was refused" in result.stderr
    assert result.exit_code not in {0, 1}


def test_json_has_the_documented_fields() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/cli-json.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| `consolidate`"))
    fields = set(row.split("|")[2].replace("`", "").split())
    shape = json.loads(consolidate("--yes", "--json").stdout)
    assert set(shape) == fields
    assert shape["changed"] == ["/memories/old.md"]
    assert (shape["before"]["files"], shape["after"]["files"]) == (2, 1)
