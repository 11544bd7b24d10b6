"""Trying again: while a fault is one that passes, with growing pauses, for some seconds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from memoranda.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

PATIENCE_SECONDS: Final = 10.0
"""How long one call goes on trying while the server can't be reached or rolls it back."""
FIRST_PAUSE_SECONDS: Final = 0.02
LONGEST_PAUSE_SECONDS: Final = 1.0


class Lost(Unavailable):
    """The connection broke, or the server went away: what a write came to is not known."""


class Again(Unavailable):
    """The server refused for a reason that passes: nothing changed. It may say how long that takes."""

    def __init__(self, message: str, after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


class Pauses(Protocol):
    """What can wait, blocking or suspending."""

    async def pause(self, seconds: float) -> None:
        """Wait."""
        ...


async def patiently(
    port: Pauses,
    work: Callable[[], Awaitable[T]],
    clock: Callable[[], float],
    seconds: float = PATIENCE_SECONDS,
) -> T:
    """What ``work`` gives, tried again with growing pauses while the fault is one that passes.

    Only for work that may be done twice. ``clock`` counts seconds.
    """
    until = clock() + seconds
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            return await work()
        except (Lost, Again) as error:
            least = error.after_seconds if isinstance(error, Again) else 0.0
            if clock() + max(pause, least) > until:
                raise
        jitter = 0.5 + random.random()  # noqa: S311 - no secret
        await port.pause(max(least, pause * jitter))
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
