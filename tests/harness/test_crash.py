"""kill -9 at any moment leaves every acknowledged command in place, and a memory that verifies."""

from __future__ import annotations

import pytest

from tests.harness.runs import run


@pytest.mark.parametrize("handler", ["folder", "sqlite"])
def test_a_killed_process_loses_nothing_acknowledged(handler: str) -> None:
    said = run("crash", handler, "--rounds", "25", seconds=280)
    assert "verify() run 25 times" in said


@pytest.mark.full
@pytest.mark.parametrize("handler", ["folder", "sqlite"])
def test_five_hundred_kills_lose_nothing_acknowledged(handler: str) -> None:
    said = run("crash", handler, "--rounds", "500", "--seed", "full", seconds=3600)
    assert "verify() run 500 times" in said
