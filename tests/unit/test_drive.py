"""Each way a coroutine is brought to its end: its result, its errors, its cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from memoranda.drive import (
    BackgroundLoop,
    run_here,
    run_in_thread,
    run_inline,
    run_now,
    suspending_pause,
)
from memoranda.errors import Misuse, StoreSuspended

PATIENCE_SECONDS = 30
REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


async def give(value: object) -> object:
    return value


async def fail() -> None:
    raise ValueError("as told")


async def request() -> str:
    return REQUEST.get()


async def wait_for_a_loop(seen: list[str]) -> None:
    try:
        await asyncio.sleep(0)
    finally:
        seen.append("closed")


class Gate:
    """A coroutine that blocks its thread, as a store does, until the test opens the gate."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.began = asyncio.Event()
        self.open = threading.Event()
        self.done = False

    async def pass_through(self) -> str:
        self._loop.call_soon_threadsafe(self.began.set)
        assert self.open.wait(PATIENCE_SECONDS)
        self.done = True
        return "through"


# ---------------------------------------------------------------- in one step


def test_a_coroutine_that_never_suspends_is_finished_in_one_step() -> None:
    assert run_now(give(3)) == 3


def test_what_the_coroutine_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="as told"):
        run_now(fail())


def test_a_coroutine_that_suspends_is_refused_by_name_and_closed() -> None:
    seen: list[str] = []
    with pytest.raises(StoreSuspended, match="suspends = True"):
        run_now(wait_for_a_loop(seen))
    assert seen == ["closed"]


def test_one_step_needs_no_event_loop_and_minds_none_that_runs() -> None:
    async def inside() -> object:
        return run_now(give("here"))

    assert asyncio.run(inside()) == "here"


# ---------------------------------------------------------------- on the caller's loop


def test_a_coroutine_that_suspends_is_awaited_on_the_callers_loop() -> None:
    async def main() -> None:
        async def which() -> object:
            await asyncio.sleep(0)
            return asyncio.get_running_loop()

        assert await run_here(which()) is asyncio.get_running_loop()

    asyncio.run(main())


def test_inline_gives_other_tasks_one_turn_and_stays_on_the_loops_thread() -> None:
    async def main() -> None:
        order: list[str] = []

        async def note(what: str) -> None:
            order.append(f"{what} in {threading.current_thread().name}")

        other = asyncio.create_task(note("other"))
        await run_inline(note("ours"))
        await other
        here = threading.current_thread().name
        assert order == [f"other in {here}", f"ours in {here}"]

    asyncio.run(main())


def test_inline_a_cancellation_comes_before_it_begins() -> None:
    async def main() -> None:
        done: list[object] = []

        async def note() -> None:
            done.append(1)

        task = asyncio.create_task(run_inline(note()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done == []

    asyncio.run(main())


# ---------------------------------------------------------------- in a thread


def test_a_blocking_coroutine_runs_in_another_thread_and_gives_its_result() -> None:
    async def where() -> int:
        return threading.get_ident()

    assert asyncio.run(run_in_thread(where())) != threading.get_ident()


def test_what_is_raised_in_the_thread_is_raised_to_the_awaiter() -> None:
    with pytest.raises(ValueError, match="as told"):
        asyncio.run(run_in_thread(fail()))


def test_a_suspending_coroutine_is_refused_in_the_thread_too() -> None:
    with pytest.raises(StoreSuspended):
        asyncio.run(run_in_thread(wait_for_a_loop([])))


@pytest.mark.parametrize("drive", [run_here, run_in_thread, run_inline])
def test_the_callers_context_variables_are_seen(
    drive: Callable[[Coroutine[Any, Any, str]], Awaitable[str]],
) -> None:
    async def main() -> str:
        REQUEST.set("req-7")
        return await drive(request())

    assert asyncio.run(main()) == "req-7"


def test_several_event_loops_may_use_it_in_turn() -> None:
    assert [asyncio.run(run_in_thread(give(number))) for number in range(3)] == [0, 1, 2]


def test_a_command_that_has_begun_is_finished_before_the_cancellation_is_raised() -> None:
    async def main() -> None:
        gate = Gate()
        task = asyncio.create_task(run_in_thread(gate.pass_through()))
        await gate.began.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # the impatient cancel twice
        await asyncio.sleep(0)
        assert not task.done()
        gate.open.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gate.done

    asyncio.run(main())


def test_a_time_limit_is_raised_only_once_the_command_is_done() -> None:
    async def main() -> None:
        gate = Gate()

        async def hurry() -> str:
            async with asyncio.timeout(None) as limit:
                task = asyncio.create_task(run_in_thread(gate.pass_through()))
                await gate.began.wait()
                loop = asyncio.get_running_loop()
                loop.call_later(0.01, gate.open.set)
                limit.reschedule(loop.time())
                return await task

        with pytest.raises(TimeoutError):
            await hurry()
        assert gate.done

    asyncio.run(main())


def test_a_failure_after_the_cancellation_is_not_reported_as_forgotten() -> None:
    async def main() -> list[dict[str, Any]]:
        complaints: list[dict[str, Any]] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, complaint: complaints.append(complaint))
        gate = Gate()

        async def pass_and_fail() -> None:
            await gate.pass_through()
            raise ValueError("too late for anybody")

        task = asyncio.create_task(run_in_thread(pass_and_fail()))
        await gate.began.wait()
        task.cancel()
        loop.call_later(0.01, gate.open.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        return complaints

    assert asyncio.run(main()) == []


def test_a_command_that_has_not_begun_is_withdrawn() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        gate = Gate()
        first = asyncio.create_task(run_in_thread(gate.pass_through()))
        await gate.began.wait()
        done: list[object] = []

        async def note() -> None:
            done.append(1)

        second = asyncio.create_task(run_in_thread(note()))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.open.set()
        assert await first == "through"
        assert await run_in_thread(give("next")) == "next"
        assert done == []

    asyncio.run(main())


def test_a_job_that_was_withdrawn_does_nothing_when_a_thread_takes_it_up_after_all() -> None:
    class Rash(ThreadPoolExecutor):
        """Takes up what was cancelled, as a thread does that was faster."""

        def __init__(self) -> None:
            super().__init__(1)
            self.jobs: list[Callable[[], object]] = []
            self.closing = threading.Event()

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            self.jobs.append(partial(fn, *args, **kwargs))
            return super().submit(self.closing.wait, PATIENCE_SECONDS)

    async def main() -> None:
        executor = Rash()
        asyncio.get_running_loop().set_default_executor(executor)
        done: list[object] = []

        async def note() -> None:
            done.append(1)

        task = asyncio.create_task(run_in_thread(note()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [job() for job in executor.jobs] == [None]
        assert done == []
        executor.closing.set()

    asyncio.run(main())


def test_a_loop_whose_executor_is_shut_down_says_so() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        await loop.shutdown_default_executor()
        with pytest.raises(RuntimeError, match="shutdown"):
            await run_in_thread(give(1))

    asyncio.run(main())


# ---------------------------------------------------------------- through a loop in the background


def test_a_sync_caller_gets_what_a_suspending_coroutine_returns_and_raises() -> None:
    async def slowly(value: object) -> object:
        await asyncio.sleep(0)
        return value

    background = BackgroundLoop()
    try:
        assert background.run(slowly(3)) == 3
        with pytest.raises(ValueError, match="as told"):
            background.run(fail())
    finally:
        background.close()


def test_all_callers_of_a_background_loop_share_it_with_their_own_context_variables() -> None:
    async def which() -> tuple[object, str]:
        return asyncio.get_running_loop(), REQUEST.get()

    def call(name: str) -> tuple[object, str]:
        REQUEST.set(name)
        return background.run(which())

    background = BackgroundLoop()
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(call, ["a", "b", "c", "d"]))
    finally:
        background.close()
    assert [name for _, name in answers] == ["a", "b", "c", "d"]
    assert len({id(loop) for loop, _ in answers}) == 1


def test_a_call_from_the_background_loop_itself_is_refused_instead_of_hanging() -> None:
    background = BackgroundLoop()

    async def call_back() -> object:
        return background.run(give(1))

    try:
        with pytest.raises(Misuse, match="serves"):
            background.run(call_back())
    finally:
        background.close()


def test_a_closed_background_loop_ends_its_thread_and_may_begin_anew() -> None:
    background = BackgroundLoop()
    background.close()
    background.run(give(1))
    background.close()
    assert not [t for t in threading.enumerate() if t.name == "memoranda-loop"]
    assert background.run(give(2)) == 2
    background.close()


def test_the_pause_of_a_store_that_suspends_lets_other_tasks_go_on() -> None:
    async def main() -> None:
        order: list[str] = []

        async def pausing() -> None:
            await suspending_pause(0)
            order.append("after the pause")

        async def other() -> None:
            order.append("other")

        await asyncio.gather(pausing(), other())
        assert order == ["other", "after the pause"]

    asyncio.run(main())
