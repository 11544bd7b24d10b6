"""The list of faults and the tests agree: none unshown without a reason, none unknown."""

from __future__ import annotations

from tests.crash.faults import FAULTS
from tests.manifest import marked


def test_every_fault_is_shown_or_says_why_it_can_not_be() -> None:
    shown = marked("fault")
    unshown = [one for one in FAULTS if one.id not in shown]
    assert [f"{one.id}: {one.event}" for one in unshown if not one.not_shown] == []


def test_no_fault_that_is_shown_says_that_it_can_not_be() -> None:
    shown = marked("fault")
    assert [one.id for one in FAULTS if one.not_shown and one.id in shown] == []


def test_every_mark_names_a_fault() -> None:
    known = {one.id for one in FAULTS}
    assert {name: files for name, files in marked("fault").items() if name not in known} == {}


def test_no_fault_is_given_twice() -> None:
    ids = [one.id for one in FAULTS]
    assert len(ids) == len(set(ids))
