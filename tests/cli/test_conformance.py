"""``memoranda conformance``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import refused, run

HANDLERS = """
from memoranda.memory import Memory

def refuses_all(base_dir):
    return lambda raw: ("Error: no", True)


def ours(base_dir):
    memory = Memory.open("memory:")
    return lambda raw: tuple(memory.execute(raw))
"""


@pytest.fixture(autouse=True)
def handlers() -> None:
    Path("some_handlers.py").write_text(HANDLERS)


def test_a_handler_that_breaks_requirements_ends_with_1_and_is_told_which() -> None:
    result = run("conformance", "some_handlers:refuses_all", "--section", "limits")
    assert result.exit_code == 1
    assert result.stdout.startswith("Conformance of some_handlers:refuses_all\n")
    assert "VIEW-16" in result.stdout
    assert result.stderr == "Trying limits ...\n"


def test_a_handler_that_keeps_what_is_tried_ends_with_0() -> None:
    result = run("conformance", "some_handlers:ours", "--section", "malformed", "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["ok"] is True
    assert any(one["verdict"] == "kept" for one in report["requirements"])


def test_what_names_no_handler_is_refused() -> None:
    assert refused("conformance", "nothing_here:x") == (
        9,
        "Error: There is no module nothing_here.\n",
    )
    assert refused("conformance", "some_handlers")[0] == 9
