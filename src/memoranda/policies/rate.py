"""Commands per minute: a command layer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic_ns
from typing import Final

from memoranda import reply
from memoranda.after_fork import renew
from memoranda.command import Command, RefusedInput
from memoranda.errors import TooManyCommands
from memoranda.policies.handler import Handler
from memoranda.reply import ToolResult
from memoranda.stores.base import Context

_SECOND_NS: Final = 1_000_000_000
_MINUTE_NS: Final = 60 * _SECOND_NS


class LimitRate:
    """Answers at most ``per_minute`` commands in any burst, and that many a minute in the long run.

    A command uses up a share of a minute; shares come back as time goes by, and a full minute of
    them may be used at once. Malformed commands count, refused ones don't. ``clock`` gives
    nanoseconds that never go back. Safe to use from many threads.
    """

    def __init__(
        self, inner: Handler, per_minute: int, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self._inner = inner
        self._share_ns = _MINUTE_NS // per_minute
        self._clock = clock
        self._lock = threading.Lock()  # guards the next one
        self._used_until_ns = 0
        renew(self)

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``: each process counts for itself from there on."""
        self._lock = threading.Lock()

    async def __call__(self, command: Command | RefusedInput, context: Context) -> ToolResult:
        wait_ns = self._take()
        if wait_ns > 0:
            # Rounded up: whoever waits as long as we say is not refused again.
            return reply.refused(TooManyCommands(-(-wait_ns // _SECOND_NS)), command)
        return await self._inner(command, context)

    def _take(self) -> int:
        """Take a share; if there is none, how long it takes until there is."""
        with self._lock:
            now_ns = self._clock()
            used_until_ns = max(self._used_until_ns, now_ns) + self._share_ns
            wait_ns = used_until_ns - now_ns - _MINUTE_NS
            if wait_ns <= 0:
                self._used_until_ns = used_until_ns
            return wait_ns
