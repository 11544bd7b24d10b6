"""Fair turns between processes: whoever holds the lock file writes, the others queue.

Two files, each locked with ``flock``. Who comes takes the first one (the turn), then waits for the
second one (the lock) with the turn in hand, then lets the turn go. So whoever comes back queues
behind the one who waits, and nobody polls. The kernel frees both when a process dies.
"""

from __future__ import annotations

import fcntl
import os
from typing import Final

LOCK: Final = "-lock"
"""What the name of the second file ends with."""


class Turnstile:
    """The two lock files of one database; held by one thread at a time (a mutex is the caller's:
    threads of one process share the descriptors)."""

    __slots__ = ("_lock", "_turn")

    def __init__(self, path: str) -> None:
        self._turn = _open(path + "-turn")
        try:
            self._lock = _open(path + LOCK)
        except BaseException:
            os.close(self._turn)
            raise

    def enter(self) -> None:
        """Wait for the lock."""
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Let the next one in."""
        fcntl.flock(self._lock, fcntl.LOCK_UN)

    def is_at(self, status: os.stat_result) -> bool:
        """Whether the lock file is the one of which this is the status."""
        return os.path.samestat(os.fstat(self._lock), status)

    def close(self) -> None:
        """Let go of both files; they stay, so that nobody waits at one that is not there."""
        os.close(self._lock)
        os.close(self._turn)


def _open(path: str) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)  # whatever the umask is
    return descriptor
