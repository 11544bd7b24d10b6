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

TWINS = {"postgres", "bucket", "sdk_folder"}
"""Run in full only: their asynchronous twins, and the folder, go the same way but for the last step."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
@pytest.mark.parametrize(
    "handler",
    [pytest.param(name, marks=pytest.mark.full) if name in TWINS else name for name in FACTORIES],
)
def test_a_case_of_the_contract_holds(handler: str, case: dict[str, Any]) -> None:
    run_cases: Any = importlib.import_module("tests.harness.vendored.run_cases")
    assert run_cases.run_case(FACTORIES[handler], case) == [], case["title"]
