"""How much history stays is the policy's to say, for each memory."""

from __future__ import annotations

from memoranda import Memory, Policy, Retention
from memoranda.policies.retention import default_retention
from memoranda.stores.log.retention import DEFAULT_RETENTION
from tests.stand_ins import fresh_store

# Longer than what a sweep waits for, and with bodies that share nothing.
WRITES = 400


def content(number: int) -> str:
    return f"{number:05} " * 400


def test_stores_keep_by_themselves_what_a_policy_says_by_itself() -> None:
    assert default_retention(10 * 1024 * 1024) == DEFAULT_RETENTION


def test_the_budget_is_ten_times_what_the_memory_may_hold_or_none() -> None:
    assert default_retention(1_000) == Retention(budget_bytes=10_000)
    assert default_retention(None) == Retention(budget_bytes=None)


def test_a_policy_lets_old_history_go_and_another_keeps_it() -> None:
    kept: dict[str, int] = {}
    for name, retention in (
        ("little", Retention(keep_newest=3, budget_bytes=20_000)),
        ("all", Retention(keep_days=0)),
    ):
        memory = Memory.of_store(fresh_store(), policy=Policy(retention=retention))
        for number in range(WRITES):
            memory.write("/memories/a", content(number))
        kept[name] = len(memory.history(limit=None))
        assert memory.verify().ok
        assert memory.read("/memories/a").text == content(WRITES - 1)
    assert kept["all"] == WRITES
    assert 3 <= kept["little"] < WRITES / 2
