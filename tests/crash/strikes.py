"""Faults at the n-th operation: of the folder's file port, and of SQLite through a VFS."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any, cast

import apsw

from memoranda.stores.folder.file_port import Files


class Plan:
    """Counts operations and strikes at the n-th; ``kind`` says how.

    ``once``: that one fails. ``lasting``: that one and all after it, until ``mend``. ``kill``: the
    process ends there and then, as if by ``kill -9``. Kills come at operations that change the disk
    only: at one that reads, it would find what it finds at the next change.
    """

    def __init__(self) -> None:
        self.count = 0
        self.at = 0
        self.kind = "once"
        self.struck = False

    def arm(self, at: int, kind: str) -> None:
        """Strike at the ``at``-th operation from now on; 0 only counts."""
        self.count, self.at, self.kind, self.struck = 0, at, kind, False

    def mend(self) -> None:
        """No more faults."""
        self.at = 0

    def hits(self, *, changes: bool = True) -> bool:
        """Whether the operation that begins now is struck; ``changes``: it changes the disk."""
        if self.kind == "kill" and not changes:
            return False
        self.count += 1
        if not self.at or self.count < self.at or (self.count > self.at and self.kind == "once"):
            return False
        self.struck = True
        if self.kind == "kill":
            os._exit(9)
        return True


READING = frozenset(
    (
        *("entries", "filesystem_type", "is_open_elsewhere", "names", "stat", "stats"),
        *("lock", "try_lock", "try_share", "unlock"),  # the kernel lets go of a dead process's
    )
)
"""Operations of the file port that leave the disk as it is; those that open may make a file."""


class StrickenFiles(Files):
    """The real disk, where operations fail as planned."""

    def __init__(self, plan: Plan, number: int = errno.EIO) -> None:
        self.plan = plan
        self.number = number

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found):
            return found

        def operation(*arguments: Any, **named: Any) -> Any:
            struck = self.plan.hits(changes=name not in READING and not only_opens(name, arguments))
            if struck and name != "close":  # a failing close has closed, too
                raise OSError(self.number, os.strerror(self.number))
            return found(*arguments, **named)

        return operation


def only_opens(name: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an operation opens what is there."""
    if name not in {"open", "open_beneath"}:
        return False
    flags: int = arguments[1] if name == "open" else arguments[2]
    return not flags & (os.O_CREAT | os.O_TRUNC)


class StrickenVfs(apsw.VFS):
    """SQLite's view of the real disk, where operations fail as planned."""

    def __init__(self, name: str, plan: Plan) -> None:
        super().__init__(name, "unix")
        self.plan = plan

    def xOpen(self, name: Any, flags: list[int]) -> StrickenFile:  # noqa: N802 - SQLite names it
        if self.plan.hits():
            raise apsw.CantOpenError("planned")
        return StrickenFile(self.plan, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite names it
        if self.plan.hits():
            raise apsw.IOError("planned")
        super().xDelete(filename, syncdir)


class StrickenFile(apsw.VFSFile):
    """One of its files."""

    def __init__(self, plan: Plan, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self.plan = plan

    def _do(
        self,
        operation: Callable[[], Any],
        error: type[apsw.Error] = apsw.IOError,
        *,
        changes: bool = True,
    ) -> Any:
        if self.plan.hits(changes=changes):
            raise error("planned")
        return operation()

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite names it
        result: bytes = self._do(
            lambda: super(StrickenFile, self).xRead(amount, offset), changes=False
        )
        return result

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite names it
        write = cast("Callable[[Any, int], None]", super().xWrite)  # pyright: ignore[reportUnknownMemberType]
        self._do(lambda: write(data, offset), apsw.FullError)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite names it
        self._do(lambda: super(StrickenFile, self).xSync(flags))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite names it
        self._do(lambda: super(StrickenFile, self).xTruncate(newsize))

    def xFileSize(self) -> int:  # noqa: N802 - SQLite names it
        result: int = self._do(super().xFileSize, changes=False)
        return result
