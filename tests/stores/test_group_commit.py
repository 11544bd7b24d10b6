"""Group commit: who leads, who follows, and that nobody is ever left waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from memoranda.stores.group_commit import GroupCommit, Job

WAIT_SECONDS = 30.0


class Interrupted(BaseException):
    """As KeyboardInterrupt: nobody catches it."""


class Named(Job):
    """A job with a name."""

    def __init__(self, name: str, size_bytes: int = 0) -> None:
        super().__init__(size_bytes)
        self.name = name


class Stage:
    """A group whose leader stops in its first batch until told to go on."""

    def __init__(self, most_jobs: int = 64, most_bytes: int = 2**21) -> None:
        self.batches: list[list[str]] = []
        self.entered = threading.Event()
        self.go_on = threading.Event()
        self.raises: list[BaseException | None] = []
        self.fails: set[str] = set()
        self.group: GroupCommit[Named] = GroupCommit(
            self.lead, most_jobs=most_jobs, most_bytes=most_bytes
        )
        self.outcomes: dict[str, object] = {}
        self.threads: list[threading.Thread] = []

    def lead(self, jobs: Sequence[Named]) -> None:
        self.batches.append([job.name for job in jobs])
        if len(self.batches) == 1:
            self.entered.set()
            assert self.go_on.wait(WAIT_SECONDS)
        error = self.raises.pop(0) if self.raises else None
        if error is not None:
            raise error
        for job in jobs:
            job.error = ValueError(job.name) if job.name in self.fails else None
            job.done = True

    def start(self, name: str, size_bytes: int = 0) -> threading.Thread:
        """A caller in a thread of its own."""
        return self.spawn(name, lambda: self.group.run(Named(name, size_bytes)))

    def spawn(self, name: str, work: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - whatever comes is the outcome
                self.outcomes[name] = error
            else:
                self.outcomes[name] = "done"

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        self.threads.append(thread)
        return thread

    def queue(self, *callers: tuple[str, int]) -> None:
        """Callers that wait, one after the other, while the first one leads."""
        for number, (name, size_bytes) in enumerate(callers, 1):
            self.start(name, size_bytes)
            self.wait_for(number)

    def wait_for(self, number: int) -> None:
        """Until so many wait."""
        while self.group.waiting < number:
            threading.Event().wait(0.001)

    def finish(self) -> None:
        """Let everybody end."""
        self.go_on.set()
        for thread in self.threads:
            thread.join(WAIT_SECONDS)
            assert not thread.is_alive()


def begun(stage: Stage) -> Stage:
    """With the first caller leading."""
    stage.start("first")
    assert stage.entered.wait(WAIT_SECONDS)
    return stage


def test_a_lone_caller_leads_a_batch_of_one() -> None:
    stage = Stage()
    stage.go_on.set()
    stage.group.run(Named("a"))
    stage.group.run(Named("b"))
    assert stage.batches == [["a"], ["b"]]
    stage.fails.add("c")
    with pytest.raises(ValueError, match="c"):
        stage.group.run(Named("c"))


def test_those_who_wait_are_done_together_in_their_order() -> None:
    stage = begun(Stage())
    stage.queue(("a", 0), ("b", 0), ("c", 0))
    stage.fails.add("b")
    stage.finish()
    assert stage.batches == [["first"], ["a", "b", "c"]]
    assert isinstance(stage.outcomes.pop("b"), ValueError)
    assert set(stage.outcomes.values()) == {"done"}


def test_a_batch_has_its_limits() -> None:
    stage = begun(Stage(most_jobs=2))
    stage.queue(("a", 0), ("b", 0), ("c", 0))
    stage.finish()
    assert stage.batches == [["first"], ["a", "b"], ["c"]]
    stage = begun(Stage(most_bytes=10))
    stage.queue(("a", 6), ("b", 6), ("c", 6))
    stage.finish()
    assert stage.batches == [["first"], ["a", "b"], ["c"]]


def test_who_wants_to_be_alone_is_in_no_batch_and_ends_one() -> None:
    stage = begun(Stage())
    stage.queue(("a", 0))

    def alone() -> None:
        with stage.group.alone():
            stage.batches.append(["alone"])

    stage.spawn("alone", alone)
    stage.wait_for(2)
    stage.start("b")
    stage.wait_for(3)
    stage.finish()
    assert stage.batches == [["first"], ["a"], ["alone"], ["b"]]


def test_an_interrupted_leader_leaves_the_others_to_the_next_one() -> None:
    stage = begun(Stage())
    stage.raises = [None, Interrupted()]
    stage.queue(("a", 0), ("b", 0), ("c", 0))
    stage.finish()
    assert stage.batches == [["first"], ["a", "b", "c"], ["b", "c"]]
    assert isinstance(stage.outcomes.pop("a"), Interrupted)
    assert set(stage.outcomes.values()) == {"done"}


def test_an_interrupted_leader_keeps_the_order_of_those_it_had_taken() -> None:
    stage = begun(Stage(most_jobs=3))
    stage.raises = [None, Interrupted()]
    stage.queue(("a", 0), ("b", 0), ("c", 0), ("d", 0), ("e", 0))
    stage.finish()
    assert stage.batches == [["first"], ["a", "b", "c"], ["b", "c", "d"], ["e"]]


class WakingUp:
    """A lock that an interrupt wakes instead of its release, once asked to."""

    def __init__(self, before: Callable[[], None]) -> None:
        self.lock = threading.Lock()
        self.calls = 0
        self.interrupt = threading.Event()
        self.before = before

    def acquire(self, timeout: float = -1) -> bool:
        assert timeout == -1
        self.calls += 1
        if self.calls == 1:
            return self.lock.acquire()
        assert self.interrupt.wait(WAIT_SECONDS)
        self.before()
        raise Interrupted

    def release(self) -> None:
        self.lock.release()


def waiting_with(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, before: Callable[[], None] = lambda: None
) -> WakingUp:
    """A caller "victim" that waits with such a lock."""
    lock = WakingUp(before)
    with monkeypatch.context() as patch:
        patch.setattr("memoranda.stores.group_commit.Lock", lambda: lock)
        waiting = stage.group.waiting
        stage.start("victim")
        stage.wait_for(waiting + 1)
    return lock


def test_who_is_interrupted_while_waiting_is_withdrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = begun(Stage())
    lock = waiting_with(stage, monkeypatch)
    stage.start("b")
    stage.wait_for(2)
    lock.interrupt.set()
    stage.threads[1].join(WAIT_SECONDS)
    stage.finish()
    assert stage.batches == [["first"], ["b"]]
    assert isinstance(stage.outcomes["victim"], Interrupted)


def test_who_is_interrupted_with_the_baton_in_hand_passes_it_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = begun(Stage())
    lock = waiting_with(stage, monkeypatch, before=lambda: stage.threads[0].join(WAIT_SECONDS))
    stage.start("b")
    stage.wait_for(2)
    stage.go_on.set()
    lock.interrupt.set()
    stage.finish()
    assert stage.batches == [["first"], ["b"]]
    assert isinstance(stage.outcomes["victim"], Interrupted)


def test_who_is_interrupted_in_a_batch_under_way_is_done_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = begun(Stage())
    stage.queue(("a", 0))
    lock = waiting_with(stage, monkeypatch, before=lambda: stage.threads[1].join(WAIT_SECONDS))
    stage.go_on.set()
    lock.interrupt.set()
    stage.finish()
    assert stage.batches == [["first"], ["a", "victim"]]
    assert isinstance(stage.outcomes["victim"], Interrupted)


def test_who_gave_up_in_a_batch_that_failed_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken, gone = threading.Event(), threading.Event()

    class Failing(Stage):
        def lead(self, jobs: Sequence[Named]) -> None:
            if len(self.batches) == 1:
                self.batches.append([job.name for job in jobs])
                taken.set()
                assert gone.wait(WAIT_SECONDS)
                raise Interrupted
            super().lead(jobs)

    stage = Failing()
    begun(stage)
    stage.queue(("a", 0))
    lock = waiting_with(stage, monkeypatch)
    stage.start("b")
    stage.wait_for(3)
    stage.go_on.set()
    assert taken.wait(WAIT_SECONDS)
    lock.interrupt.set()
    stage.threads[2].join(WAIT_SECONDS)
    gone.set()
    stage.finish()
    assert stage.batches == [["first"], ["a", "victim", "b"], ["b"]]


def test_many_threads_get_all_their_work_done() -> None:
    stage = Stage()
    stage.go_on.set()

    def work() -> None:
        for _ in range(200):
            stage.group.run(Named("x"))

    for number in range(8):
        stage.spawn(f"{number}", work)
    stage.finish()
    assert sum(map(len, stage.batches)) == 1600
    assert set(stage.outcomes.values()) == {"done"}


def test_the_baton_is_waited_for_only_as_long_as_one_says() -> None:
    stage = begun(Stage())
    with pytest.raises(TimeoutError), stage.group.alone(0.01):
        stage.batches.append(["never"])
    stage.start("b")
    stage.wait_for(1)
    stage.finish()
    assert stage.batches == [["first"], ["b"]]
    with stage.group.alone(0):
        stage.batches.append(["alone"])
