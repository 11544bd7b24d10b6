"""Applying what was planned from a look at the store, however many others write meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    IsADirectory,
    NotADirectory,
    NotFound,
    UnknownId,
)
from memoranda.retry import Pause
from memoranda.stores.base import Change, Context, Store, Version

OVERTAKEN: Final = (Conflict, NotFound, AlreadyExists, IsADirectory, NotADirectory, UnknownId)
"""What a batch raises when the store is no longer as it was when the batch was planned."""

_ATTEMPTS: Final = 10
_PAUSE_SECONDS: Final = 0.02


async def apply_plan(
    store: Store,
    plan: Callable[[], Awaitable[Sequence[Change]]],
    context: Context,
    pause: Pause,
) -> tuple[Version, ...]:
    """Apply what ``plan`` says as one batch; plan again where somebody was faster.

    A plan that fails twice in the same words is not overtaken but impossible: what it raised is
    raised. Raises ``Conflict`` when the store does not hold still for 10 attempts.
    """
    failed: Sequence[Change] | None = None
    for _ in range(_ATTEMPTS):
        changes = await plan()
        if not changes:
            return ()
        try:
            return await store.apply(changes, context)
        except OVERTAKEN:
            if changes == failed:
                raise
        failed = changes
        await pause(_PAUSE_SECONDS)
    raise Conflict("Other writers were faster each time.")
