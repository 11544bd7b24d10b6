"""The gate that a fork shuts: nobody is in the midst of opening a database when it happens."""

from __future__ import annotations

import threading
from collections.abc import Callable

from memoranda.stores.folder.forking import ForkGate

PATIENCE_SECONDS = 30


def started(work: Callable[[], object]) -> tuple[threading.Thread, threading.Event]:
    """A thread at work, and the event that it is done."""
    done = threading.Event()

    def run() -> None:
        work()
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, done


def test_a_fork_waits_for_who_is_inside_and_who_comes_later_for_the_fork() -> None:
    gate = ForkGate()

    def pass_it() -> None:
        with gate.passed():
            pass

    with gate.passed():
        forking, is_shut = started(gate.shut)
        assert not is_shut.wait(0.05)
    assert is_shut.wait(PATIENCE_SECONDS)
    late, is_through = started(pass_it)
    assert not is_through.wait(0.05)
    gate.open()
    assert is_through.wait(PATIENCE_SECONDS)
    forking.join()
    late.join()


def test_two_threads_that_fork_do_so_one_after_the_other() -> None:
    gate = ForkGate()
    gate.shut()
    second, is_shut = started(gate.shut)
    assert not is_shut.wait(0.05)
    gate.open()
    assert is_shut.wait(PATIENCE_SECONDS)
    gate.open()
    second.join()
    with gate.passed():
        pass
