"""Memories that may be gone after the next boot: ``scratch:NAME``."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import ClassVar

from memoranda.errors import Misuse
from memoranda.stores.base import Backend, Capabilities
from memoranda.stores.sqlite import SqliteBackend

_NAME = re.compile(r"[a-z0-9-]{1,64}")


class ScratchBackend(SqliteBackend):
    """Stores in a file that nobody promises to keep."""

    capabilities: ClassVar[Capabilities] = SqliteBackend.capabilities


def open_url(url: str) -> Backend:
    """The backend of ``scratch:NAME``; raises ``Misuse`` for a name that may not be one."""
    name = url.partition(":")[2]
    if not _NAME.fullmatch(name):
        raise Misuse("A scratch URL has the form scratch:NAME, with 1 to 64 of a-z 0-9 -.")
    home = Path(tempfile.gettempdir()) / f"memoranda-scratch-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    status = home.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077 or home.is_symlink():
        raise Misuse("The scratch directory is somebody else's, or others may read it.")
    return ScratchBackend(home / f"{name}.db")
