"""Which memories a rule of expiry is about."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda import Policy
from memoranda.errors import Misuse
from memoranda.path import parse_path
from memoranda.policies.expiry import DAY_NS, Expiry


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"age_days": 0},
        {"age_days": True},
        {"unused_days": -1},
        {"unused_days": 1.5},
        {"age_days": 1, "path": "tmp/*"},
        {"age_days": 1, "path": 5},
    ],
)
def test_values_that_can_not_be_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        Expiry(**values)


@pytest.mark.parametrize("given", [[], (1,), None])
def test_a_policy_takes_a_tuple_of_rules(given: Any) -> None:
    with pytest.raises(Misuse):
        Policy(expiry=given)


def test_a_pattern_is_about_the_whole_path_and_stars_cross_slashes() -> None:
    rule = Expiry(path="/memories/tmp/*", age_days=1)
    assert rule.fits(parse_path("/memories/tmp/a/b"))
    assert not rule.fits(parse_path("/memories/tmp"))
    assert not rule.fits(parse_path("/memories/TMP/a"))


def test_either_number_of_days_is_enough_and_a_clock_that_went_back_ends_nothing() -> None:
    rule = Expiry(age_days=10, unused_days=3)
    assert not rule.is_over(0, 0, 3 * DAY_NS)
    assert rule.is_over(0, 0, 3 * DAY_NS + 1)
    assert not rule.is_over(0, 9 * DAY_NS, 10 * DAY_NS)
    assert rule.is_over(0, 9 * DAY_NS, 10 * DAY_NS + 1)
    assert not rule.is_over(5 * DAY_NS, 0, 0)
