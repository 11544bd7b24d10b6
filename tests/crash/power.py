"""A disk that loses power: any part of what was not synced may be missing, empty or torn.

Every change of the tree since the last sync is recorded by its effect on paths. At the cut some
changes are taken back, in any combination, and files that were new get torn. The inodes stay what
they were, as on a real disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TypeVar

from memoranda.stores.folder.file_port import Files

T = TypeVar("T")
Picture = dict[str, int]
"""Each file's inode by its path."""

TEARS = ("empty", "half", "zeros", "older")

ROOMS = ("memories", "incoming", "trash")


class RecordingFiles(Files):
    """The real disk, with a record of every change of names."""

    def __init__(self) -> None:
        self.disk: LosableDisk | None = None

    def _recorded(self, operation: Callable[[], T]) -> T:
        if self.disk is not None:
            self.disk.keep_inodes()
        try:
            return operation()
        finally:
            if self.disk is not None:
                self.disk.record()

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        if not flags & os.O_CREAT:
            return super().open(name, flags, directory)
        return self._recorded(lambda: super(RecordingFiles, self).open(name, flags, directory))

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        self._recorded(
            lambda: super(RecordingFiles, self).move(old, old_directory, new, new_directory)
        )

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        self._recorded(
            lambda: super(RecordingFiles, self).exchange(
                ours, our_directory, theirs, their_directory
            )
        )

    def remove(self, name: str, directory: int) -> None:
        self._recorded(lambda: super(RecordingFiles, self).remove(name, directory))


class LosableDisk:
    """What is on the disk of one store, and what would be lost."""

    def __init__(self, files: RecordingFiles, directory: Path, morgue: Path) -> None:
        self.files = files
        self.directory = directory
        self.morgue = morgue
        morgue.mkdir()
        self.sync()

    def sync(self) -> None:
        """Everything that there is now will still be there."""
        self._synced = self._now = self.picture()
        self._changes: list[dict[str, int | None]] = []
        self.keep_inodes()

    def picture(self) -> Picture:
        """Every file, by its path in the store's directory."""
        found: Picture = {}
        for room in ROOMS:
            for here, _, names in os.walk(self.directory / room):
                for name in names:
                    path = os.path.join(here, name)
                    found[os.path.relpath(path, self.directory)] = os.lstat(path).st_ino
        return found

    def keep_inodes(self) -> None:
        """Hold every inode alive, so that a cut can bring it back and no number comes again."""
        for path, inode in self.picture().items():
            kept = self.morgue / str(inode)
            if not kept.exists():
                os.link(self.directory / path, kept)

    def record(self) -> None:
        """Something changed: keep what."""
        before, now = self._now, self.picture()
        change = {
            path: now.get(path)
            for path in before.keys() | now.keys()
            if before.get(path) != now.get(path)
        }
        if change:
            self._changes.append(change)
        self._now = now
        self.keep_inodes()

    @property
    def changes(self) -> int:
        """How many changes would be lost."""
        self.record()
        return len(self._changes)

    def cut(self, random: Random) -> None:
        """Lose power: some changes, and whole or torn files, by chance."""
        kept = {number for number in range(self.changes) if random.random() < 0.6}
        for inode in self._new_inodes():
            kind = random.choice(("whole", "whole", "whole", *TEARS))
            is_older = kind != "whole" and random.random() < 0.5
            self._tear(self.morgue / str(inode), kind, is_older=is_older)
        self._lay_out(self._left(kept))
        if random.random() < 0.3:
            word = self.directory / "lock"
            word.write_bytes(word.read_bytes()[: random.choice((0, 20, 48))])

    def cut_to(self, kept: set[int], kind: str) -> None:
        """Lose power: of all changes these stay, and every new file is torn in one way. Directories
        that were made for what is lost stay behind, empty."""
        made = {os.path.dirname(path) for change in self._changes for path in change}
        for inode in self._new_inodes():
            self._tear(self.morgue / str(inode), kind, is_older=False)
        self._lay_out(self._left(kept))
        for path in sorted(made):
            with suppress(FileExistsError, NotADirectoryError):
                (self.directory / path).mkdir(parents=True, exist_ok=True)

    def _new_inodes(self) -> list[int]:
        new = set(self._now.values()) | {i for c in self._changes for i in c.values() if i}
        return sorted(new - set(self._synced.values()))

    def _left(self, kept: set[int]) -> Picture:
        left: dict[str, int | None] = dict(self._synced)
        for number, change in enumerate(self._changes):
            if number in kept:
                left.update(change)
        return {path: inode for path, inode in left.items() if inode is not None}

    def _lay_out(self, left: Picture) -> None:
        for room in ROOMS:
            for here, _, names in os.walk(self.directory / room, topdown=False):
                for name in names:
                    os.unlink(os.path.join(here, name))
                if here != str(self.directory / room):
                    os.rmdir(here)
        for path, inode in left.items():
            target = self.directory / path
            # Two changes, one of them lost, may want a file and a directory at one place.
            if any(parent.is_file() for parent in target.parents) or target.is_dir():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(self.morgue / str(inode), target)

    def _tear(self, file: Path, kind: str, *, is_older: bool) -> None:
        found = file.stat()
        if kind == "empty":
            os.truncate(file, 0)
        elif kind == "half":
            os.truncate(file, found.st_size // 2)
        elif kind == "zeros":
            file.write_bytes(bytes(found.st_size))
        late = found.st_mtime_ns - (5_000_000 if is_older else 0)
        os.utime(file, ns=(late, late))
