"""Time, as one small object, so that tests need not wait."""

from __future__ import annotations

import time
from typing import Final


class Clock:
    """The machine's clocks."""

    now_ns = staticmethod(time.time_ns)
    """Nanoseconds since 1970, UTC."""

    monotonic = staticmethod(time.monotonic)
    """Seconds that never go back."""

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


CLOCK: Final = Clock()
