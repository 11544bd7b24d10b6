"""System calls that Python doesn't offer, by ctypes: openat2, renameat2, syncfs, statfs.

Each raises OSError as the functions of ``os`` do, with ENOSYS where the platform lacks the call.
Messages hold no names, since an error may be shown.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import Any, Final, Never

RENAME_NOREPLACE: Final = 1
RENAME_EXCHANGE: Final = 2

# https://man7.org/linux/man-pages/man2/openat2.2.html
_OPENAT2: Final = 437
_NO_XDEV: Final = 0x01
_NO_MAGICLINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08
_RESOLVE: Final = _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS | _NO_XDEV

# The kernel gives up when a rename anywhere races with the walk; that passes in microseconds.
_TRIES_WHILE_RACED: Final = 64

_STATFS_BYTES: Final = 256
"""More than any struct statfs takes; its first word is the type."""


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


_OF_NAMES: Final = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
"""``os.fsencode``, less a microsecond: that one takes more than texts."""

_SIZE_OF_HOW: Final = ctypes.sizeof(_OpenHow)

_library: Final = ctypes.CDLL(None, use_errno=True)


def _function(name: str, *arguments: Any) -> Any:
    function = getattr(_library, name, None)
    if function is not None:
        function.argtypes = arguments
        function.restype = ctypes.c_long if name == "syscall" else ctypes.c_int
    return function


_syscall: Final = _function(
    "syscall", ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t
)
_renameat2: Final = _function(
    "renameat2", ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
)
_syncfs: Final = _function("syncfs", ctypes.c_int)
_fstatfs: Final = _function("fstatfs", ctypes.c_int, ctypes.c_void_p)

_hows: Final[dict[int, tuple[_OpenHow, Any]]] = {}


def _fail(number: int) -> Never:
    raise OSError(number, os.strerror(number))


def _checked(result: int) -> None:
    if result < 0:
        _fail(ctypes.get_errno())


def openat2(directory: int, path: str, flags: int) -> int:
    """A descriptor of ``path`` beneath ``directory``: no symlink on the way, no other mount.

    ``path`` has no empty and no dot segments (the kernel would take ``a/../b``). Makes no files.
    A symlink at the end is ELOOP, or with O_PATH and O_NOFOLLOW the link itself.
    """
    if sys.platform != "linux":  # pragma: no cover - elsewhere the tree is walked
        _fail(errno.ENOSYS)
    found = _hows.get(flags)
    if found is None:
        how = _OpenHow(flags, 0, _RESOLVE)
        found = _hows[flags] = (how, ctypes.byref(how))
    encoded, number = path.encode(*_OF_NAMES), 0
    for _ in range(_TRIES_WHILE_RACED):
        descriptor: int = _syscall(_OPENAT2, directory, encoded, found[1], _SIZE_OF_HOW)
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            break
    _fail(number)


def renameat2(
    old_directory: int, old_name: str, new_directory: int, new_name: str, flags: int
) -> None:
    """Rename with RENAME_NOREPLACE or RENAME_EXCHANGE; EINVAL where the file system can't."""
    if _renameat2 is None:  # pragma: no cover - an old C library, or another platform
        _fail(errno.ENOSYS)
    old, new = old_name.encode(*_OF_NAMES), new_name.encode(*_OF_NAMES)
    _checked(_renameat2(old_directory, old, new_directory, new, flags))


def syncfs(descriptor: int) -> None:
    """Write all of a file system to disk; reports errors of writing back since the last call."""
    if _syncfs is None:  # pragma: no cover - other platforms
        _fail(errno.ENOSYS)
    _checked(_syncfs(descriptor))


def filesystem_type(descriptor: int) -> int:
    """The kernel's number for the kind of file system (``f_type`` of statfs); 0 if unknown."""
    if sys.platform != "linux":  # pragma: no cover - the field means something else elsewhere
        return 0
    buffer = ctypes.create_string_buffer(_STATFS_BYTES)
    _checked(_fstatfs(descriptor, buffer))
    return ctypes.c_ulong.from_buffer(buffer).value & 0xFFFFFFFF
