"""Objects that never change, kept in memory up to so many bytes, the least used first to go."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Final

from memoranda.after_fork import renew

DEFAULT_BYTES: Final = 64 * 1024 * 1024
LARGEST_PART: Final = 8
"""What takes more than this part of the whole is not kept: it would push out too much."""


class Cache:
    """Things under a name, each with the bytes it stands for. Safe for threads."""

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self._most = most_bytes
        self._lock = Lock()  # guards the two below
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self.bytes = 0
        """How many bytes are kept."""
        renew(self)

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``."""
        self._lock = Lock()
        self._kept = OrderedDict()
        self.bytes = 0

    def get(self, name: str) -> Any:
        """What is kept under a name; None if nothing is."""
        with self._lock:
            found = self._kept.get(name)
            if found is None:
                return None
            self._kept.move_to_end(name)
            return found[0]

    def put(self, name: str, thing: Any, size_bytes: int) -> None:
        """Keep a thing; what was there under its name goes."""
        if size_bytes > self._most // LARGEST_PART:
            return
        with self._lock:
            before = self._kept.pop(name, None)
            self.bytes += size_bytes - (before[1] if before else 0)
            self._kept[name] = (thing, size_bytes)
            while self.bytes > self._most:
                _, (_, gone) = self._kept.popitem(last=False)
                self.bytes -= gone
