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
from tests.testing.handlers import AsyncInRam, AsyncOnDisk, Limited, SdkInRam, SdkOnDisk


def keeps_everything(factory: Factory, sections: list[str] | None = None) -> None:
    report = run_conformance(factory, sections=sections)
    assert report.ok, report.render()
    if sections is None:
        assert [one.requirement.id for one in report.outcomes if one.verdict != "kept"] == []


@pytest.mark.parametrize("factory", [memoranda_ram, AsyncInRam, SdkInRam])
def test_memoranda_keeps_every_requirement(factory: Factory) -> None:
    keeps_everything(factory)


@pytest.mark.parametrize("factory", [memoranda_folder, memoranda_sqlite])
def test_memoranda_keeps_them_on_disk_too(factory: Factory) -> None:
    # Three hundred stores are made for the cases of each sentence: for the long run.
    keeps_everything(factory, ["paths", "races", "limits", "malformed"])


@pytest.mark.full
@pytest.mark.parametrize("factory", [memoranda_folder, memoranda_sqlite, AsyncOnDisk, SdkOnDisk])
def test_memoranda_keeps_every_requirement_on_disk(factory: Factory) -> None:
    keeps_everything(factory)


def test_what_a_limit_refuses_is_not_tried() -> None:
    report = run_conformance(Limited, sections=["commands"])
    assert report.ok, report.render()
    reasons = {one.requirement.id: one.reason for one in report.outcomes}
    assert reasons["VIEW-06"] == reasons["VIEW-07"] == "the handler refuses a file of 1 MB"
