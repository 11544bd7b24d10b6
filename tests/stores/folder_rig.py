"""A folder store in hand, and the hands of a person in its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from memoranda.drive import run_now
from memoranda.path import ROOT
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    EditFunction,
    Move,
    Put,
    Remove,
    Version,
    VersionFilter,
)
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.clock import Clock
from memoranda.stores.folder.file_port import FILES, Files
from memoranda.stores.folder.opened import OpenStore
from memoranda.stores.folder.place import Place, open_places
from memoranda.stores.folder.store import FolderStore
from memoranda.testing.promises.steps import p

USER = "acme"
AGENT = Context(actor="agent", command="test")


class HandClock(Clock):
    """A clock that stands still but for what it is told; nobody really waits.

    ``while_waiting`` is called instead of each sleep: what a person does meanwhile.
    """

    def __init__(self) -> None:
        self.at_ns = 1_800_000_000_000_000_000
        self.seconds = 1000.0
        self.naps: list[float] = []
        self.while_waiting: Callable[[], None] = lambda: None

    def now_ns(self) -> int:
        self.at_ns += 1001
        return self.at_ns

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.seconds += seconds
        self.while_waiting()


class FolderRig:
    """One user's store in a folder of its own; paths are store paths (``/a.md``)."""

    def __init__(self, home: Path, files: Files = FILES, vfs: str | None = None) -> None:
        self.home = home
        self.files = files
        self.vfs = vfs
        self.clock = HandClock()
        self._crashed: list[FolderBackend] = []
        self.open()

    def open(self) -> None:
        """Open the folder, as a new process would."""
        self.backend = FolderBackend(
            self.home / "memory", files=self.files, clock=self.clock, vfs=self.vfs
        )
        self.store: FolderStore = run_now(self.backend.for_user(USER))

    def close(self) -> None:
        """Close it in good order."""
        run_now(self.backend.close())

    def reopen(self) -> None:
        """Close it and open it again."""
        self.close()
        self.open()

    def crash(self) -> None:
        """Open the folder anew while nothing was closed: what a killed process leaves.

        What was open stays so, but nobody knows it any more: its end would be a good order.
        """
        for place in list(self.backend._places.values()):  # pyright: ignore[reportPrivateUsage]
            open_places.discard(place)
            _abandoned.append(place)
        self._crashed.append(self.backend)
        self.open()

    def bury(self) -> None:
        """Close the store and all that its crashes left open, for a test with thousands of them.

        Nothing may look at the folder afterwards: what was dead has written into it.
        """
        self.close()
        for backend in self._crashed:
            for place in backend._places.values():  # pyright: ignore[reportPrivateUsage]
                _abandoned.remove(place)
            run_now(backend.close())

    # ---- behind the store's back

    @property
    def directory(self) -> Path:
        """The store's directory."""
        return self.home / "memory/stores" / USER

    @property
    def memories(self) -> Path:
        """Where a person finds the files."""
        return self.directory / "memories"

    def incoming(self) -> list[str]:
        """What lies in ``incoming/``."""
        return sorted(os.listdir(self.directory / "incoming"))

    def on_disk(self) -> dict[str, bytes]:
        """Every regular file a person finds, by its store path."""
        return {
            f"/{path.relative_to(self.memories)}": path.read_bytes()
            for path in sorted(self.memories.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }

    @property
    def opened(self) -> OpenStore:
        """The open store's inside."""
        self.put("/.probe", b"x")
        self.remove("/.probe")
        writer = self.store._place.writer  # pyright: ignore[reportPrivateUsage]
        assert writer is not None
        return writer.opened

    # ---- an agent

    def apply(self, *changes: Change) -> tuple[Version, ...]:
        return run_now(self.store.apply(changes, AGENT))

    def put(self, path: str, content: bytes) -> tuple[Version, ...]:
        return self.apply(Put(p(path), content))

    def edit(self, path: str, function: EditFunction) -> tuple[Version, ...]:
        return self.apply(Edit(p(path), function))

    def remove(self, path: str) -> tuple[Version, ...]:
        return self.apply(Remove(p(path)))

    def move(self, source: str, target: str) -> tuple[Version, ...]:
        return self.apply(Move(p(source), p(target)))

    def read(self, path: str) -> bytes:
        return run_now(self.store.read(p(path))).data

    # ---- what there is

    def tree(self) -> dict[str, bytes]:
        """Every memory with its content, through the store."""
        page = run_now(self.store.list(ROOT))
        return {entry.path.store_path: self.read(entry.path.store_path) for entry in page.entries}

    def history(self, path: str | None = None) -> list[tuple[str, str, str | None, bytes | None]]:
        """Every version, oldest first: who, what, where, content."""
        where = VersionFilter() if path is None else VersionFilter(path=p(path))
        page = run_now(self.store.versions(where, content=True, limit=1000))
        return [
            (
                each.actor,
                ("late " if each.late else "") + each.operation,
                None if each.path is None else each.path.store_path,
                each.content,
            )
            for each in reversed(page.versions)
        ]

    def external(self) -> list[tuple[str, str | None, bytes | None]]:
        """The versions that people's work became."""
        return [each[1:] for each in self.history() if each[0] == "external"]

    def check(self) -> None:
        """Everything agrees with everything, and the tree shows what the log has."""
        report = run_now(self.store.verify())
        assert report.problems == ()
        assert self.tree() == self.on_disk()


_abandoned: list[Place] = []
