"""Refs of a repository: read, and swapped by git's own protocol of lock files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt
from memoranda.stores.git.pack import sync_directory

if TYPE_CHECKING:
    from memoranda.stores.git.objects import Id

_LOCK: Final = ".lock"
_PACKED: Final = "packed-refs"


def read(repository: str, name: str) -> Id | None:
    """What a ref points at; None for one that is not there. Raises ``Corrupt``."""
    try:
        with open(os.path.join(repository, name), "rb") as file:
            text = file.read(64)
    except FileNotFoundError:
        return _packed(repository, name)
    return _id_of(text.strip().decode("ascii", "replace"))


def _packed(repository: str, name: str) -> Id | None:
    try:
        with open(os.path.join(repository, _PACKED), encoding="utf-8", errors="replace") as file:
            for line in file:
                target, _, ref = line.rstrip("\n").partition(" ")
                if ref == name:
                    return _id_of(target)
    except FileNotFoundError:
        pass
    return None


def _id_of(text: str) -> Id:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != 20:
        raise Corrupt("A ref of the repository can't be read.")
    return found


class LockedRef:
    """A ref that nobody else changes meanwhile, neither we nor git.

    ``FileExistsError`` is raised where somebody has it locked already.
    """

    def __init__(self, repository: str, name: str, new: Id) -> None:
        self._repository = repository
        self._name = name
        self._path = os.path.join(repository, name)
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        descriptor = os.open(
            self._path + _LOCK, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        try:
            os.write(descriptor, new.hex().encode() + b"\n")
            os.fsync(descriptor)
        except BaseException:
            self.let_go()
            raise
        finally:
            os.close(descriptor)

    @property
    def present(self) -> Id | None:
        """What the ref points at."""
        return read(self._repository, self._name)

    def swap(self, *, is_synced: bool = True) -> None:
        """Have the ref point at what the lock was taken for."""
        os.rename(self._path + _LOCK, self._path)
        if is_synced:
            sync_directory(os.path.dirname(self._path))

    def let_go(self) -> None:
        """Leave the ref as it is."""
        os.unlink(self._path + _LOCK)


def lock_left(repository: str, name: str) -> tuple[bytes, os.stat_result] | None:
    """What a lock file of a ref holds, and its status; None where there is none."""
    try:
        with open(os.path.join(repository, name + _LOCK), "rb") as file:
            return file.read(64), os.fstat(file.fileno())
    except FileNotFoundError:
        return None


def break_lock(repository: str, name: str) -> None:
    """Remove a lock file whose owner is dead."""
    try:
        os.unlink(os.path.join(repository, name + _LOCK))
    except FileNotFoundError:
        return
