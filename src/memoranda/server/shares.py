"""How much each key may do: requests a minute, and at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from memoranda.policies.rate import Rate
from memoranda.server.problems import Problem

_MOST: Final = 10_000
_SECOND_NS: Final = 1_000_000_000


class Shares:
    """Counts by key, in this process. Used by one event loop."""

    def __init__(
        self, per_minute: int, at_once: int, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock = clock
        self._rates: dict[str, Rate] = {}
        self._now: dict[str, int] = {}

    @contextmanager
    def take(self, key_id: str) -> Generator[None]:
        """Count a request while it runs; raises a ``Problem`` (429) for one too many."""
        running = self._now.get(key_id, 0)
        if running >= self._at_once:
            raise _too_many("This key has too many requests in flight", 1)
        wait_ns = self._rate(key_id).take()
        if wait_ns > 0:
            raise _too_many("This key has used up its requests a minute", -(-wait_ns // _SECOND_NS))
        self._now[key_id] = running + 1
        try:
            yield
        finally:
            left = self._now[key_id] - 1
            if left:
                self._now[key_id] = left
            else:
                del self._now[key_id]

    def _rate(self, key_id: str) -> Rate:
        rate = self._rates.get(key_id)
        if rate is None:
            if len(self._rates) >= _MOST:
                self._rates.clear()  # at worst each of them gets a minute anew
            rate = self._rates[key_id] = Rate(self._per_minute, self._clock)
        return rate


def _too_many(said: str, seconds: int) -> Problem:
    return Problem(429, f"{said}; wait {seconds} s.", headers={"retry-after": str(seconds)})
