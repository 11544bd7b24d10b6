"""The order of the layers."""

from __future__ import annotations

from memoranda.policies.limits import Limits, LimitSize
from memoranda.policies.policy import Policy
from memoranda.policies.rate import LimitRate
from memoranda.policies.read_only import RefuseWrites
from memoranda.policies.retention import KeepHistory, default_retention
from memoranda.policies.stack import around_commands, around_store
from memoranda.stores.base import Retention
from memoranda.tool import Tool
from tests.stand_ins import fresh_store


def test_a_store_has_its_limits_next_to_it_and_read_only_outside() -> None:
    store = fresh_store()
    layered = around_store(store, Policy(read_only=True))
    assert isinstance(layered, RefuseWrites)
    assert isinstance(layered.inner, LimitSize)
    assert layered.inner.inner is store


def test_what_a_policy_does_not_ask_for_is_not_there() -> None:
    store = fresh_store()
    policy = Policy(
        limits=Limits(file_bytes=None, store_bytes=None, files=None),
        retention=default_retention(Limits().store_bytes),
    )
    assert around_store(store, policy) is store
    run = Tool(store).run
    assert around_commands(run, policy) is run


def test_what_history_keeps_is_said_where_it_is_not_what_stores_keep_by_themselves() -> None:
    layered = around_store(fresh_store(), Policy(retention=Retention(keep_days=90)))
    assert isinstance(layered, KeepHistory)
    assert isinstance(layered.inner, LimitSize)
    smaller = around_store(fresh_store(), Policy(limits=Limits(store_bytes=1_000)))
    assert isinstance(smaller, KeepHistory)


def test_commands_are_counted_where_the_policy_says_how_many() -> None:
    layered = around_commands(Tool(fresh_store()).run, Policy(limits=Limits(commands_per_minute=5)))
    assert isinstance(layered, LimitRate)
