"""A policy holds only what can be."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from memoranda.errors import Misuse
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.stores.base import Retention


def test_the_defaults_limit_sizes_and_let_claude_write() -> None:
    policy = Policy()
    assert policy == Policy(limits=Limits(), on_exists="error", read_only=False, retention=None)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("limits", {"files": 3}, "Limits object"),
        ("limits", None, "Limits object"),
        ("on_exists", "replace", '"error" or "overwrite"'),
        ("on_exists", None, '"error" or "overwrite"'),
        ("read_only", 1, "True or False"),
        ("read_only", "no", "True or False"),
        ("retention", 30, "Retention object"),
        ("audit", "strict", "Auditing object"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_name(
    name: str, value: object, says: str
) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(Misuse, match=f"^Policy: {name} is .*{says}"):
        Policy(**given)


@pytest.mark.parametrize(
    ("retention", "says"),
    [
        (Retention(keep_days=-1), "keep_days is -1; it has to be a whole number of 0 or more"),
        (Retention(keep_newest=0), "keep_newest is 0; it has to be a whole number of 1 or more"),
        (Retention(budget_bytes=0), "budget_bytes is 0; it has to be a whole number of 1 or more"),
        (Retention(keep_days=True), "keep_days is True; it has to be a whole number of 0"),
    ],
)
def test_a_retention_that_cannot_be_is_refused_with_its_name(
    retention: Retention, says: str
) -> None:
    with pytest.raises(Misuse, match=f"^Retention: {says}"):
        Policy(retention=retention)
    Policy(retention=Retention(keep_days=0, keep_newest=1, budget_bytes=1))


def test_a_policy_does_not_change_but_may_be_made_again_with_a_difference() -> None:
    policy = Policy(on_exists="overwrite")
    with pytest.raises(FrozenInstanceError):
        policy.read_only = True  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    assert replace(policy, read_only=True) == Policy(on_exists="overwrite", read_only=True)
