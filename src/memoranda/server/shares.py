"""How much one may do: requests a minute of a key, and at once; sign-ins of an address."""

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
    """Counts by key, in this process. Used by one event loop. ``who`` begins what is said to who
    asks too much."""

    def __init__(
        self,
        per_minute: int,
        at_once: int,
        clock: Callable[[], int] = time.monotonic_ns,
        who: str = "This key",
    ) -> None:
        self._who = who
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock = clock
        self._rates: dict[str, Rate] = {}
        self._now: dict[str, int] = {}

    @contextmanager
    def take(self, name: str) -> Generator[None]:
        """Count a request while it runs; raises a ``Problem`` (429) for one too many."""
        running = self._now.get(name, 0)
        if running >= self._at_once:
            raise _too_many(f"{self._who} has too many requests in flight", 1)
        wait_ns = self._rate(name).take()
        if wait_ns > 0:
            said = f"{self._who} has used up its requests a minute"
            raise _too_many(said, -(-wait_ns // _SECOND_NS))
        self._now[name] = running + 1
        try:
            yield
        finally:
            left = self._now[name] - 1
            if left:
                self._now[name] = left
            else:
                del self._now[name]

    def _rate(self, name: str) -> Rate:
        rate = self._rates.get(name)
        if rate is None:
            if len(self._rates) >= _MOST:
                self._rates.clear()  # at worst each of them gets a minute anew
            rate = self._rates[name] = Rate(self._per_minute, self._clock)
        return rate


def _too_many(said: str, seconds: int) -> Problem:
    return Problem(429, f"{said}; wait {seconds} s.", headers={"retry-after": str(seconds)})
