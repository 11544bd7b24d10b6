"""Writing against other writers: a lost race is run again until it is won or time is up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from os import urandom
from time import monotonic, sleep
from typing import Final, TypeAlias

from memoranda.errors import Conflict
from memoranda.stores.base import Change, Context, Store, Version

Pause: TypeAlias = Callable[[float], Awaitable[None]]

GIVE_UP_AFTER_SECONDS: Final = 10.0
_FIRST_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 0.5


async def blocking_pause(seconds: float) -> None:
    """The pause for stores that never suspend: whoever drives them expects to be blocked."""
    sleep(seconds)  # noqa: ASYNC251


async def apply_with_retry(
    store: Store,
    changes: Sequence[Change],
    context: Context,
    pause: Pause,
    clock: Callable[[], float] = monotonic,
) -> tuple[Version, ...]:
    """Apply ``changes`` as ``Store.apply`` does, again and again while it raises ``Conflict``.

    Pauses are random, so that writers who met once don't meet again; they grow to half a second.
    After 10 seconds the last ``Conflict`` is raised. Nothing of a lost race is stored.
    """
    give_up_at = clock() + GIVE_UP_AFTER_SECONDS
    longest = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return await store.apply(changes, context)
        except Conflict:
            if clock() >= give_up_at:
                raise
        await pause(_share() * longest)
        longest = min(longest * 2, _LONGEST_PAUSE_SECONDS)


def _share() -> float:
    """A random number from 0 to 1; ``random`` itself is slow to import."""
    return int.from_bytes(urandom(2), "big") / 0xFFFF
