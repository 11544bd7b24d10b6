"""Which memories a rule of expiry is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memoranda import Memory, Policy
from memoranda.drive import run_now
from memoranda.errors import Misuse, Unavailable
from memoranda.path import MemoryPath, parse_path
from memoranda.policies.expiry import (
    _MOST_KNOWN,  # pyright: ignore[reportPrivateUsage]
    DAY_NS,
    Expiry,
    Uses,
)
from memoranda.stores.base import WrapperStore
from tests.stand_ins import fresh_store


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


class Counting(WrapperStore):
    """Counts what it is told of uses, and may refuse it."""

    refuses = False
    told = 0

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        self.told += 1
        if self.refuses:
            raise Unavailable("The disk is full.")
        await super().touch(paths, at_ns)


def test_a_use_that_could_not_be_noted_is_noted_with_the_next_one() -> None:
    store = Counting(fresh_store())
    memory = Memory.of_store(store, policy=Policy(expiry=(Expiry(unused_days=1),)))
    memory.write("/memories/a.md", "one")
    store.refuses = True
    view = {"command": "view", "path": "/memories/a.md"}
    assert memory.execute(view)[1] is False
    store.refuses = False
    for _ in range(3):
        assert memory.execute(view)[1] is False
    assert store.told == 2


def test_what_is_no_view_is_no_use() -> None:
    store = Counting(fresh_store())
    memory = Memory.of_store(store, policy=Policy(expiry=(Expiry(unused_days=1),)))
    memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "one"})
    memory.execute({"command": "view", "path": "/memories/none.md"})
    assert store.told == 0


def test_uses_of_more_memories_than_are_remembered_are_noted_again() -> None:
    store = Counting(fresh_store())
    uses = Uses(store, (Expiry(unused_days=1),))

    async def use_all() -> None:
        for number in range(_MOST_KNOWN + 1):
            await uses.note(parse_path(f"/memories/{number}.md"))
        await uses.note(parse_path("/memories/0.md"))
        await uses.note(parse_path("/memories/0.md"))

    run_now(use_all())
    assert store.told == _MOST_KNOWN + 2
