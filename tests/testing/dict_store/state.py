"""What a store of dicts holds, and the disk that outlives it."""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memoranda.path import MemoryPath
from memoranda.stores.base import (
    StoreInfo,
    Version,
)

Tree = dict[MemoryPath, "Live"]


@dataclass(frozen=True)
class Live:
    memory_id: str
    version_id: str
    content: bytes
    created_at_ns: int
    updated_at_ns: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass
class State:
    """All of one store: replaced as a whole by each batch."""

    live: Tree = field(default_factory=dict[MemoryPath, Live])
    versions: list[Version] = field(default_factory=list[Version])
    snapshots: dict[int, Tree] = field(default_factory=dict[int, Tree])

    def copy(self) -> State:
        return State(dict(self.live), list(self.versions), dict(self.snapshots))


@dataclass
class Shelf:
    """One store on the disk."""

    info: StoreInfo
    state: State = field(default_factory=State)


@dataclass
class Disk:
    """What outlives a backend: the shelves of every home."""

    shelves: dict[str, Shelf] = field(default_factory=dict[str, Shelf])
    lock: threading.RLock = field(default_factory=threading.RLock)
    counter: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    last_ns: int = 0

    def new_id(self, kind: str) -> str:
        return f"{kind}_{self.counter():06}"

    def now(self) -> int:
        self.last_ns = max(self.last_ns + 1, time.time_ns())
        return self.last_ns


def printed(path: MemoryPath, *, directory: bool = False) -> str:
    return path.store_path + ("/" if directory else "")
