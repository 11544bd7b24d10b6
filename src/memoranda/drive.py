"""Who waits: how a coroutine of the core is brought to its end, by sync and by async callers.

The core is written once, as coroutines. Over a store that never suspends a coroutine is only a
function with a longer way to call it; over one that does it needs an event loop. This is the only
file that knows the difference, and asyncio is imported here and nowhere else, when it is needed.

    caller    store that blocks        store that suspends
    sync      ``run_now``              ``BackgroundLoop.run``
    async     ``run_in_thread``        ``run_here``
              (``run_inline``)

Each takes a coroutine that has not begun and always disposes of it: it runs to its end or is closed.
"""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from memoranda.after_fork import renew
from memoranda.errors import Misuse, StoreSuspended

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class SyncDriver(Protocol):
    """Gives a synchronous caller what a coroutine returns or raises."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """The result of ``coroutine``."""
        ...


class AsyncDriver(Protocol):
    """Gives an asynchronous caller what a coroutine returns or raises."""

    async def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """The result of ``coroutine``."""
        ...


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends, in one step of it.

    Costs about 0.2 us; needs no event loop and may be called where one is running. Raises what the
    coroutine raises, and ``StoreSuspended`` where it wants to wait: it is then closed at that point
    and what it had begun may be half done, so this is a bug of the store, never an answer.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        coroutine.close()
    raise StoreSuspended


async def run_here(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that suspends, awaited on the caller's own event loop.

    A cancellation reaches the store; what that leaves behind is the store's promise, not ours.
    """
    return await coroutine


async def run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that blocks, in one hop to a thread of the running loop's executor.

    The caller's context variables are seen by the coroutine; what it sets stays with it. A
    cancellation before the thread took it up withdraws it: nothing was done. Later ones wait until
    it is done and then raise ``CancelledError``, so nobody is told that a write did not happen that
    did. Keeps nothing between calls: use it from as many event loops as you like.
    """
    import asyncio

    job = _Job(coroutine)
    try:
        done = asyncio.get_running_loop().run_in_executor(None, copy_context().run, job.run)
    except RuntimeError:  # the loop's executor is shut down already
        job.withdraw()
        raise
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        if job.withdraw():
            done.cancel()
        else:
            await _outlast(done)
        raise


async def run_inline(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that blocks, run on the event loop's own thread.

    Other tasks get their turn once before it and none while it runs: without that one turn, a
    loop was seen to be held for 0.1 s by 64 busy tasks. Only for stores that answer in
    microseconds. A cancellation comes before it begins or not at all.
    """
    import asyncio

    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        coroutine.close()
        raise
    return run_now(coroutine)


async def suspending_pause(seconds: float) -> None:
    """The pause for stores that suspend: other tasks go on meanwhile."""
    import asyncio

    await asyncio.sleep(seconds)


class _Job:
    """A coroutine that either a thread takes up or its caller withdraws, never both."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        # Taken by whoever comes first and never given back.
        self._claim = threading.Lock()

    def run(self) -> Any:
        if self._claim.acquire(blocking=False):
            return run_now(self._coroutine)
        return None  # nobody gets to see it

    def withdraw(self) -> bool:
        """Whether it had not begun; then it never will."""
        if self._claim.acquire(blocking=False):
            self._coroutine.close()
            return True
        return False


async def _outlast(done: asyncio.Future[Any]) -> None:
    """Wait for the end of what can't be stopped, however often the waiting is cancelled."""
    import asyncio

    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            continue
    # Nobody will hear of a failure any more; asked for, it is not reported as forgotten.
    done.exception()


_of_parents: Final[list[asyncio.AbstractEventLoop]] = []
"""Loops of the process that this one was forked off: kept, since to let one go would close it."""


class BackgroundLoop:
    """An event loop in a thread of its own, through which sync callers use a store that suspends.

    The thread begins with the first ``run``. Safe to use from many threads.
    """

    def __init__(self) -> None:
        self._begin()
        renew(self)

    def _begin(self) -> None:
        self._starting = threading.Lock()  # guards the two below
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``: the loop's thread is the parent's, and so is the loop. To close
        it here would take the parent's sockets out of the selector that both processes have."""
        if self._loop is not None:
            _of_parents.append(self._loop)
        self._begin()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of ``coroutine``, which sees the caller's context variables.

        Costs 50 to 200 us. An interrupt of the caller cancels it. Raises ``Misuse`` when called
        from the loop's own thread, where it could only wait for itself.
        """
        import asyncio

        loop = self._running()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise Misuse("A store called the synchronous memory that it serves.")
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Stop the loop and end its thread; ``run`` would begin a new one."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                import asyncio

                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="memoranda-loop", daemon=True
                )
                self._thread.start()
            return self._loop
