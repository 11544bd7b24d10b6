"""The directory that handlers under test work in, with canaries all around it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

DEPTH: Final = 16
"""How deep the directory lies in one of ours, so that a run of ``../`` ends within it."""

BESIDE: Final = ("secrets.env", "etc/passwd", "outside/secret.txt")
"""Canaries on every level above the directory: what a climbing path may be after."""

SIBLINGS: Final = ("base-evil", "base2", "baseX")
"""Directories that begin as its own name does."""


class Sandbox:
    """A temporary directory. ``base`` is for handlers; the rest has to stay as it is.

    Every canary holds ``token``, which nothing else does: an answer that shows it has read one.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self.token = f"canary-{secrets.token_hex(8)}"
        self.base = top.joinpath(*(f"d{level}" for level in range(DEPTH)), "base")
        self.content = f"{self.token} n=1;\n"
        self.canaries = {
            parent / name for parent in self.base.parents[: DEPTH + 1] for name in BESIDE
        } | {self.base.with_name(sibling) / "secret.txt" for sibling in SIBLINGS}
        self._restore()

    def changes(self) -> list[tuple[str, str]]:
        """What was done outside since the last look, where and what; then it is put right."""
        found = [
            (str(path.relative_to(self.top)), "is changed or gone")
            for path in sorted(self.canaries)
            if _mark(path) != self._marks[path]
        ]
        added = [path for path in self._outside() if path not in self.canaries]
        found += [(str(path.relative_to(self.top)), "is new") for path in added]
        if found:
            for path in added:
                path.unlink()
            self._restore()
        return found

    def _restore(self) -> None:
        for path in self.canaries:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.content)
        self._marks = {path: _mark(path) for path in self.canaries}

    def _outside(self) -> Iterator[Path]:
        for directory, below, names in os.walk(self.top):
            if Path(directory) == self.base.parent and self.base.name in below:
                below.remove(self.base.name)
            yield from (Path(directory, name) for name in names)


def _mark(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is written, replaced or removed; reading it changes nothing."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def sandbox() -> Generator[Sandbox]:
    """A sandbox that is removed at the end."""
    # The real path: an answer may show either, and on some hosts the one is a link to the other.
    top = Path(tempfile.mkdtemp(prefix="memoranda-conformance-")).resolve()
    try:
        yield Sandbox(top)
    finally:
        shutil.rmtree(top, ignore_errors=True)
