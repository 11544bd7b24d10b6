"""Every case of the tool contract, on every store, in both colours and through the SDK."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

from tests.harness.handlers import FACTORIES
from tests.house.repository import ROOT

VENDORED = ROOT / "tests" / "harness" / "vendored"
CASES = [json.loads(line) for line in (VENDORED / "tool_cases.jsonl").read_text().splitlines()]

REMOTE = {"remote", "remote_async"}

TWINS = {"postgres", "bucket", "sdk_folder", *REMOTE}
"""Run in full only: their asynchronous twins, and the folder, go the same way but for the last step;
remote stores have a server between."""


@pytest.fixture(autouse=True)
def server(request: pytest.FixtureRequest) -> None:
    """Up where the handler needs one."""
    if request.getfixturevalue("handler") in REMOTE:
        request.getfixturevalue("memory_server")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
@pytest.mark.parametrize(
    "handler",
    [pytest.param(name, marks=pytest.mark.full) if name in TWINS else name for name in FACTORIES],
)
def test_a_case_of_the_contract_holds(handler: str, case: dict[str, Any]) -> None:
    run_cases: Any = importlib.import_module("tests.harness.vendored.run_cases")
    assert run_cases.run_case(FACTORIES[handler], case) == [], case["title"]
