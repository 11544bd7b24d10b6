"""Group commit hands the baton on, whatever happens to those who hold it or wait for it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any
from weakref import ref

import pytest

from memoranda.stores.group_commit import GroupCommit, Job

PATIENCE_SECONDS = 10


class Biting:
    """A lock in which an interrupt may come right after it was let go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.bites = False

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
        if self.bites:
            self.bites = False
            raise KeyboardInterrupt


class Owner:
    """Does jobs by calling them done."""

    def __init__(self) -> None:
        self.group: Any = GroupCommit[Job](self.lead)

    def lead(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            job.done = True


def test_an_interrupt_while_a_job_queues_leaves_no_baton_with_nobody() -> None:
    owner = Owner()
    group = owner.group
    group._lock = lock = Biting()
    withdrawn, later = Job(), Job()
    with group.alone():
        lock.bites = True
        with pytest.raises(KeyboardInterrupt):
            group.run(withdrawn)
    thread = threading.Thread(target=group.run, args=(later,), daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert later.done
    assert not withdrawn.done


def test_an_interrupt_while_the_baton_is_handed_on_still_wakes_the_heir() -> None:
    owner = Owner()
    group = owner.group
    group._lock = lock = Biting()
    heir = Job()
    thread = threading.Thread(target=group.run, args=(heir,), daemon=True)

    def hold_until_somebody_queues() -> None:
        with group.alone():
            thread.start()
            while not group._waiting:
                thread.join(0.001)
            lock.bites = True

    with pytest.raises(KeyboardInterrupt):
        hold_until_somebody_queues()
    thread.join(PATIENCE_SECONDS)
    assert heir.done


def test_who_lets_go_of_an_owner_lets_go_of_its_files_at_once() -> None:
    owner = Owner()
    gone = ref(owner)
    owner.group.run(Job())
    gc.disable()
    try:
        del owner
        assert gone() is None
    finally:
        gc.enable()
