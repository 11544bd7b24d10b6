"""A small disk of one's own, seen by nobody else: a tmpfs in a mount namespace of this process."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
_RECURSIVE, _PRIVATE = 1 << 14, 1 << 18  # MS_REC, MS_PRIVATE


def mount_small_disk(at: Path, size_bytes: int) -> None:
    """Mount one; it goes with the process, so call this in a child only. Raises OSError."""
    if sys.platform != "linux":
        raise OSError("mounts of one's own are Linux's")
    c = ctypes.CDLL(None, use_errno=True)
    _check(c.unshare(_NEW_MOUNTS))
    _check(c.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None))
    options = b"size=%d,mode=700" % size_bytes
    _check(c.mount(b"tmpfs", os.fsencode(at), b"tmpfs", 0, options))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
