"""Memoranda keeps the whole contract: in every backend, in both colours, through the SDK."""

from __future__ import annotations

import pytest

from memoranda.testing.conformance.trial import Factory
from memoranda.testing.tool_suite import (
    memoranda_folder,
    memoranda_ram,
    memoranda_sqlite,
    run_conformance,
)
from tests.testing.handlers import Limited, OursAsync, OursInTheSdk


@pytest.mark.parametrize(
    "factory", [memoranda_folder, memoranda_sqlite, memoranda_ram, OursAsync, OursInTheSdk]
)
def test_memoranda_keeps_every_requirement(factory: Factory) -> None:
    report = run_conformance(factory)
    assert report.ok, report.render()
    assert [one.requirement.id for one in report.outcomes if one.verdict != "kept"] == []


def test_what_a_limit_refuses_is_not_tried() -> None:
    report = run_conformance(Limited, sections=["commands"])
    assert report.ok, report.render()
    reasons = {one.requirement.id: one.reason for one in report.outcomes}
    assert reasons["VIEW-06"] == reasons["VIEW-07"] == "the handler refuses a file of 1 MB"
