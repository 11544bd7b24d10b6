"""Rounds, times and ratios.

In a round every subject does the same work, in shuffled order, so that what the machine does
meanwhile hits them alike; a ratio is the median over the rounds of two times of one round.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench.subjects import Session, Subject
from bench.workloads import Body, Opener, Scale, Workload

SAMPLE_SECONDS = 0.004
"""A round repeats quick work until it takes about this long, so that the clock's grain is small."""


class Times(NamedTuple):
    """Seconds for one call in each round: by the clock, and of the calling thread's processor."""

    wall: list[float]
    cpu: list[float]


class Result(NamedTuple):
    """What a workload took, by subject."""

    workload: str
    times: dict[str, Times]

    def median(self, subject: str) -> float:
        """Median seconds of one call by the clock."""
        return statistics.median(self.times[subject].wall)

    def ratio(self, subject: str, reference: str, *, cpu: bool = False) -> float:
        """The median over rounds of this subject's time by the reference's."""
        mine, theirs = self.times[subject], self.times[reference]
        pairs = (
            zip(mine.cpu, theirs.cpu, strict=True)
            if cpu
            else zip(mine.wall, theirs.wall, strict=True)
        )
        return statistics.median(a / max(b, 1e-9) for a, b in pairs)


@contextmanager
def opener(subject: Subject, base: Path) -> Generator[Opener]:
    """Opens memories under ``base``, each user's once, and closes them at the end."""
    with ExitStack() as stack:
        opened: dict[str, Session] = {}

        def of(user: str) -> Session:
            if user not in opened:
                opened[user] = subject(base, user)
                stack.callback(opened[user].close)
            return opened[user]

        yield of


def run(
    workload: Workload,
    subjects: Mapping[str, Subject],
    where: Path,
    scale: Scale,
    seconds: float,
    most_rounds: int = 400,
) -> Result:
    """Measure one workload on every subject for about ``seconds``, at least three rounds."""
    random = Random(workload.name)
    base = Path(tempfile.mkdtemp(prefix="bench-", dir=where))
    try:
        with ExitStack() as stack:
            bodies = {
                name: workload.prepare(stack.enter_context(opener(subject, base / name)), scale)
                for name, subject in subjects.items()
            }
            settle = stack.enter_context(settler(base))
            calls = 1 if workload.once else repeats(bodies)
            times = {name: Times([], []) for name in bodies}
            gc.collect()
            end = time.monotonic() + seconds
            at = 2  # the warm-up had 0 and 1
            while len(times["floor"].wall) < 3 or (
                time.monotonic() < end and len(times["floor"].wall) < most_rounds
            ):
                order = list(bodies)
                random.shuffle(order)
                for name in order:
                    settle()
                    sample(bodies[name], at, calls, times[name])
                at += calls
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return Result(workload.name, times)


def repeats(bodies: Mapping[str, Body]) -> int:
    """Warm every body up, see that it does what it should, and say how often a round calls it.

    The number is even, so that bodies which go back and forth start each round the same way.
    """
    longest = 0.0
    for name, body in bodies.items():
        for k in (0, 1):
            body.before(k)
            start = time.perf_counter()
            said = body.op(k)
            longest = max(longest, time.perf_counter() - start)
            if body.shows not in said:
                raise RuntimeError(f"{name} answered {said[:200]!r}, without {body.shows!r}")
    return max(2, min(50, int(SAMPLE_SECONDS / longest) // 2 * 2))


def sample(body: Body, at: int, calls: int, times: Times) -> None:
    """Time ``calls`` calls, the untimed preparation of each left out, and note their medians."""
    walls: list[int] = []
    cpus: list[int] = []
    for k in range(at, at + calls):
        body.before(k)
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        body.op(k)
        walls.append(time.perf_counter_ns() - wall)
        cpus.append(time.thread_time_ns() - cpu)
    times.wall.append(statistics.median(walls) / 1e9)
    times.cpu.append(statistics.median(cpus) / 1e9)


@contextmanager
def settler(base: Path) -> Generator[Callable[[], None]]:
    """An untimed fsync before each sample: nobody pays for what another one left to be written."""
    file = os.open(base / "settle", os.O_WRONLY | os.O_CREAT, 0o600)

    def settle() -> None:
        os.pwrite(file, b"x", 0)
        os.fsync(file)

    try:
        yield settle
    finally:
        os.close(file)
