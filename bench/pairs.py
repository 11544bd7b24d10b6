"""Two ways to do the same thing, timed in the same rounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def line_of(name: str, ours: Callable[[int], Any], bare: Callable[[int], Any], rounds: int) -> str:
    """Run both in turn, and say how long they took."""
    times: list[tuple[float, float]] = []
    for n in range(rounds):
        begin = time.perf_counter()
        ours(n)
        middle = time.perf_counter()
        bare(n)
        times.append((middle - begin, time.perf_counter() - middle))
    mine, its = (statistics.median(one) for one in zip(*times, strict=True))
    ratio = statistics.median(a / b for a, b in times)
    best = min(a for a, _ in times) / min(b for _, b in times)
    return (
        f"{name:<12}{mine * 1e3:>8.2f} ms{its * 1e3:>8.2f} ms bare"
        f"   ratio {ratio:.2f}   of the best {best:.2f}"
    )
