"""Group commit: whoever comes first leads and takes what waits along; the others just wait.

One lone caller pays two uncontended locks and nothing else: no thread, no hop. With many, one
durable write serves all that came while the one before was under way.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from weakref import WeakMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

MOST_JOBS: Final = 64
MOST_BYTES: Final = 2 * 1024 * 1024


class Job:
    """One caller's part of a batch; subclass it with what is to be done and its outcome.

    Whoever leads sets ``done`` once the outcome is certain, and ``error`` where the caller is to
    get an exception. ``size_bytes`` is about what the job writes.
    """

    __slots__ = ("abandoned", "done", "error", "leads", "size_bytes", "wake")

    def __init__(self, size_bytes: int = 0) -> None:
        self.size_bytes = size_bytes
        self.done = False
        self.error: BaseException | None = None
        self.leads = False  # it holds the baton
        self.abandoned = False  # its caller was interrupted
        self.wake: Lock | None = None


class _Alone(Job):
    """Stands in the queue for somebody who wants the baton without a batch."""


J = TypeVar("J", bound=Job)


class GroupCommit(Generic[J]):
    """A queue of jobs and a baton that one thread at a time holds.

    ``lead``, a method of whoever holds this object, does a batch of at most ``most_jobs`` jobs; one
    stops growing once its sizes add up to ``most_bytes``. What ``lead`` raises goes to the caller
    in whose thread it runs; the other jobs that are not ``done`` by then did not happen, and the
    next leader takes them.

    After a fork make a new one: the parent's threads that held this one are not there.
    """

    def __init__(
        self,
        lead: Callable[[Sequence[J]], None],
        *,
        most_jobs: int = MOST_JOBS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        # Else its owner would be garbage in a circle, and its open files stay open until Python
        # comes to look: 90 tenants in turn ran a process with 256 descriptors out of them.
        self._lead = WeakMethod(lead)
        self._most_jobs = most_jobs
        self._most_bytes = most_bytes
        self._lock = Lock()  # guards the two below and each job's baton, for a few instructions
        self._waiting: deque[J | _Alone] = deque()
        self._taken = False

    @property
    def waiting(self) -> int:
        """How many wait at this moment."""
        return len(self._waiting)

    def run(self, job: J) -> None:
        """Have ``job`` done, here or in somebody else's batch; raises its error.

        An exception that comes while waiting (an interrupt) withdraws the job if no batch has taken
        it; otherwise it goes on without its caller.
        """
        try:
            self._enter(job)
            if job.leads:
                self._lead_batch(job)
        finally:
            self._pass_on(job)
        if job.error is not None:
            raise job.error

    @contextmanager
    def alone(self, seconds: float = -1) -> Generator[None]:
        """Hold the baton without a batch: nobody leads meanwhile. Not reentrant.

        Raises ``TimeoutError`` where it can't be had within ``seconds`` (-1: however long).
        """
        job = _Alone()
        try:
            self._enter(job, seconds)
            yield
        finally:
            self._pass_on(job)

    def _enter(self, job: J | _Alone, seconds: float = -1) -> None:
        """Take the baton, or wait until it is handed over or the job is done."""
        try:
            with self._lock:
                if not self._taken:
                    self._taken = job.leads = True
                    return
                job.wake = wake = Lock()
                wake.acquire()
                self._waiting.append(job)
            if not wake.acquire(timeout=seconds):
                raise TimeoutError
        except BaseException:
            with self._lock:
                job.abandoned = True
                if job in self._waiting:
                    self._waiting.remove(job)
            raise

    def _lead_batch(self, job: J) -> None:
        batch = [job]
        try:
            if self._waiting:  # who comes after this look goes with the next batch
                self._take_along(batch)
            lead = self._lead()
            assert lead is not None, "whoever runs a job holds the object that leads"
            lead(batch)
        finally:
            if len(batch) > 1:
                self._let_go(batch[1:])

    def _take_along(self, batch: list[J]) -> None:
        """Let those who wait join a batch, as many as it may have."""
        with self._lock:
            size = batch[0].size_bytes
            while self._waiting and len(batch) < self._most_jobs and size < self._most_bytes:
                follower = self._waiting[0]
                if isinstance(follower, _Alone):
                    break
                batch.append(follower)
                self._waiting.popleft()
                size += follower.size_bytes

    def _let_go(self, followers: Sequence[J]) -> None:
        """A batch is over: wake those who are done, and let the others wait on, first of all."""
        with self._lock:
            self._waiting.extendleft(
                follower
                for follower in reversed(followers)
                if not (follower.done or follower.abandoned)
            )
        for follower in followers:
            if follower.done and follower.wake is not None:
                follower.wake.release()

    def _pass_on(self, job: J | _Alone) -> None:
        """Hand the baton to who waits first; nothing if the job does not hold it."""
        with self._lock:
            if not job.leads:
                return
            job.leads = False
            heir = self._waiting.popleft() if self._waiting else None
            if heir is None:
                self._taken = False
                return
            heir.leads = True
            # Still under the lock: an interrupt on the way out would leave the heir asleep.
            assert heir.wake is not None, "who waits has one"
            heir.wake.release()
