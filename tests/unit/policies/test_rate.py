"""Commands per minute: bursts, the long run, and what Claude is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memoranda.command import Command, RefusedInput, View, parse
from memoranda.drive import run_now
from memoranda.path import ROOT
from memoranda.policies.rate import LimitRate
from memoranda.reply import ToolResult
from memoranda.stores.base import Context

SECOND = 1_000_000_000
ANSWER = ToolResult("done")


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_ns = 5_000 * SECOND

    def __call__(self) -> int:
        return self.now_ns


async def answer(command: Command | RefusedInput, context: Context) -> ToolResult:
    return ANSWER


def told_to_wait(seconds: int) -> ToolResult:
    text = f"Error: Too many memory commands. Wait {seconds} seconds, then try again."
    return ToolResult(text, is_error=True)


def send(layer: LimitRate, times: int = 1) -> list[ToolResult]:
    return [run_now(layer(View(ROOT), Context())) for _ in range(times)]


def test_a_minutes_worth_of_commands_may_come_at_once_and_no_more() -> None:
    layer = LimitRate(answer, 6, Clock())
    assert send(layer, 6) == [ANSWER] * 6
    assert send(layer) == [told_to_wait(10)]


def test_whoever_waits_as_long_as_told_is_answered() -> None:
    clock = Clock()
    layer = LimitRate(answer, 7, clock)
    send(layer, 7)
    assert send(layer) == [told_to_wait(9)]  # 8.57 rounded up
    clock.now_ns += 8 * SECOND
    assert send(layer) == [told_to_wait(1)]
    clock.now_ns += SECOND
    assert send(layer, 2) == [ANSWER, told_to_wait(9)]


def test_refused_commands_use_up_nothing() -> None:
    clock = Clock()
    layer = LimitRate(answer, 1, clock)
    send(layer, 50)
    clock.now_ns += 60 * SECOND
    assert send(layer) == [ANSWER]


def test_the_long_run_has_that_many_commands_a_minute() -> None:
    clock = Clock()
    layer = LimitRate(answer, 10, clock)
    done = 0
    for _ in range(600):
        clock.now_ns += SECOND
        done += send(layer).count(ANSWER)
    assert done == 10 + 100 - 1  # the first burst, then ten minutes; the last share is on its way


def test_unused_minutes_do_not_add_up() -> None:
    clock = Clock()
    layer = LimitRate(answer, 2, clock)
    clock.now_ns += 3600 * SECOND
    assert send(layer, 3) == [ANSWER, ANSWER, told_to_wait(30)]


def test_input_that_is_no_command_counts_as_well() -> None:
    layer = LimitRate(answer, 1, Clock())
    malformed = parse({"command": "list"})
    assert run_now(layer(malformed, Context())) == ANSWER
    assert run_now(layer(malformed, Context())) == told_to_wait(60)


@pytest.mark.parametrize("per_minute", [1, 7, 64, 1000])
def test_threads_together_get_no_more_than_the_limit(per_minute: int) -> None:
    layer = LimitRate(answer, per_minute, Clock())
    with ThreadPoolExecutor(8) as pool:
        answers = [one for part in pool.map(send, [layer] * 8, [200] * 8) for one in part]
    assert answers.count(ANSWER) == per_minute
