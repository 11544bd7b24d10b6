"""Who is at work in which process, so that another one can tell whether it still is."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple, Self

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE: Final = "/proc/self/ns/pid"
_START_FIELD: Final = 19  # of what follows the name: the time when the process began


_here: Final[set[str]] = set()
"""The owners of this process that are still at work."""


class Owner(NamedTuple):
    """Somebody at work in a process of a host; nobody else ever has this name. What the host does
    not tell is empty."""

    host: str
    pid: int
    started: str
    number: str

    @classmethod
    def new(cls) -> Self:
        """Somebody in this process, at work until ``ends``."""
        owner = cls(_host(), os.getpid(), _started(os.getpid()), token_hex(8))
        _here.add(owner.number)
        return owner

    def ends(self) -> None:
        """It works no more."""
        _here.discard(self.number)

    def is_gone(self) -> bool:
        """Whether it is known to work no more; False also where nobody can tell, as of another
        machine."""
        if not self.host or self.host != _host():
            return False
        started = _started(self.pid)
        if started == self.started and self.pid == os.getpid():
            return self.number not in _here
        return started != self.started


def _host() -> str:
    """This boot of this machine, and the namespace that processes have their numbers in."""
    try:
        return f"{_BOOT.read_text().strip()}:{os.stat(_NAMESPACE).st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[_START_FIELD]
