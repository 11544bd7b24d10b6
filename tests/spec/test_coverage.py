"""The list of requirements and the tests agree: nothing untested, nothing unknown."""

from __future__ import annotations

from tests.manifest import marked
from tests.spec.requirements import REQUIREMENTS


def test_every_requirement_has_a_test() -> None:
    shown = marked("spec")
    assert [f"{one.id}: {one.text}" for one in REQUIREMENTS if one.id not in shown] == []


def test_every_mark_names_a_requirement() -> None:
    known = {one.id for one in REQUIREMENTS}
    assert {name: files for name, files in marked("spec").items() if name not in known} == {}


def test_no_id_is_given_twice() -> None:
    ids = [one.id for one in REQUIREMENTS]
    assert len(ids) == len(set(ids))
