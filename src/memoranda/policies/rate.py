"""How often something may be done: a rate, and the command layer that holds commands to one."""

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


class Rate:
    """At most ``per_minute`` in any burst, and that many a minute in the long run.

    Each uses up a share of a minute; shares come back as time goes by, and a full minute of them
    may be used at once. ``clock`` gives nanoseconds that never go back. Safe to use from many
    threads.
    """

    def __init__(self, per_minute: int, clock: Callable[[], int] = monotonic_ns) -> None:
        self._share_ns = _MINUTE_NS // per_minute
        self._clock = clock
        self._lock = threading.Lock()  # guards the next one
        self._used_until_ns = 0
        renew(self)

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``: each process counts for itself from there on."""
        self._lock = threading.Lock()

    def take(self) -> int:
        """Take a share; if there is none, how many nanoseconds it takes until there is."""
        with self._lock:
            now_ns = self._clock()
            used_until_ns = max(self._used_until_ns, now_ns) + self._share_ns
            wait_ns = used_until_ns - now_ns - _MINUTE_NS
            if wait_ns <= 0:
                self._used_until_ns = used_until_ns
            return wait_ns


class LimitRate:
    """A command layer that answers no more commands than a ``Rate`` allows.

    Malformed commands count, refused ones don't. Safe to use from many threads.
    """

    def __init__(
        self, inner: Handler, per_minute: int, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self._inner = inner
        self._rate = Rate(per_minute, clock)

    async def __call__(self, command: Command | RefusedInput, context: Context) -> ToolResult:
        wait_ns = self._rate.take()
        if wait_ns > 0:
            # Rounded up: whoever waits as long as we say is not refused again.
            return reply.refused(TooManyCommands(-(-wait_ns // _SECOND_NS)), command)
        return await self._inner(command, context)
