"""The list of checks and the tests agree: nothing untested, nothing unknown."""

from __future__ import annotations

from tests.manifest import marked
from tests.server.checks import CHECKS


def test_there_are_as_many_checks_as_the_specification_has() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS) == 48


def test_every_check_has_a_test() -> None:
    shown = marked("check")
    assert [f"{one.id}: {one.text}" for one in CHECKS if one.id not in shown] == []


def test_every_mark_names_a_check() -> None:
    known = {one.id for one in CHECKS}
    assert {name: files for name, files in marked("check").items() if name not in known} == {}
