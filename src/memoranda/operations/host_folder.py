"""Folders of the host, entered name by name: beneath the top one no link is ever followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Final, Self

from memoranda.errors import BadFolder, Unavailable

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_IN_THE_WAY: Final = {errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP}


class Kind(Enum):
    """What a name in a folder stands for."""

    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"
    """A link, a device, a pipe, a socket."""


class HostFolder:
    """An open folder; ``with`` closes it. Every method may raise ``OSError``."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> HostFolder:
        """The folder at a path of the host, which may lead through links."""
        return cls(os.open(folder, _DIRECTORY))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def names(self) -> list[str]:
        """The names in it, in code point order."""
        return sorted(os.listdir(self._descriptor))

    def kind(self, name: str) -> Kind:
        """What ``name`` stands for, links not followed."""
        mode = os.lstat(name, dir_fd=self._descriptor).st_mode
        if stat.S_ISDIR(mode):
            return Kind.FOLDER
        return Kind.FILE if stat.S_ISREG(mode) else Kind.OTHER

    def enter(self, name: str, *, make: bool = False) -> HostFolder:
        """The folder ``name`` in it, only if it is one itself; made (mode 0700) if told."""
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self._descriptor)
        return HostFolder(os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=self._descriptor))

    def size_bytes(self, name: str) -> int:
        """How large the file ``name`` is, links not followed."""
        return os.lstat(name, dir_fd=self._descriptor).st_size

    def read(self, name: str) -> bytes | None:
        """The content of the file ``name``; None if it is no regular file (any more)."""
        with os.fdopen(os.open(name, _READ, dir_fd=self._descriptor), "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None

    def write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        """Make the file ``name`` (mode 0600); what has the name already goes if told, links too."""
        if replace:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._descriptor)
        made = os.open(name, _MAKE, 0o600, dir_fd=self._descriptor)
        with os.fdopen(made, "wb") as file:
            file.write(content)


@contextmanager
def host_errors() -> Generator[None]:
    """Give errors of the host a name of ours; none tells a path of it."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadFolder("There is no such folder.") from error
    except PermissionError as error:
        raise BadFolder("The folder, or something in it, may not be used.") from error
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise BadFolder(
                "A file or a link is where a folder has to be, or a folder where a file has to be."
            ) from error
        raise Unavailable(f"The folder can't be used now: {error.strerror}.") from error
