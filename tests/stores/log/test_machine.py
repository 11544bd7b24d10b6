"""Random work on the log, checked after each step; see ``machine.py``."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis.stateful import (
    run_state_machine_as_test,
)

from memoranda.stores.base import Retention
from tests.stores.log.machine import LogMachine


class KeepsForEver(LogMachine):
    """Nothing goes."""


class KeepsTenDays(LogMachine):
    """Old history goes."""

    retention: ClassVar[Retention] = Retention(keep_days=10, keep_newest=3)


class KeepsLittle(LogMachine):
    """History goes for its size."""

    retention: ClassVar[Retention] = Retention(keep_days=10, keep_newest=3, budget_bytes=6000)


MACHINES = [KeepsForEver, KeepsTenDays, KeepsLittle]


@pytest.mark.parametrize("machine", MACHINES)
def test_random_work_leaves_everything_whole(machine: type[LogMachine]) -> None:
    how = settings(max_examples=12, stateful_step_count=25, deadline=None)
    run_state_machine_as_test(machine, settings=how)


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_much_random_work_leaves_everything_whole(machine: type[LogMachine]) -> None:
    how = settings(max_examples=600, stateful_step_count=50, deadline=None)
    run_state_machine_as_test(machine, settings=how)
