"""What the disk under a store can do: asked once, when the store is made."""

from __future__ import annotations

import contextlib
from typing import Final, NamedTuple

from memoranda.stores.folder.file_port import NEW_FILE, Files

_NETWORK: Final = frozenset(
    {
        0x6969,  # NFS
        0x517B,  # SMB
        0xFF534D42,  # CIFS
        0xFE534D42,  # SMB 2
        0x65735546,  # FUSE, of which many are remote
        0x01021997,  # 9p
        0x5346414F,  # AFS
        0x00C36400,  # Ceph
    }
)
"""Kinds of file systems whose locks or shared memory can't be trusted between machines.

The numbers are those of ``f_type`` in https://man7.org/linux/man-pages/man2/statfs.2.html
"""

_ODD_NANOSECONDS: Final = 1_700_000_000_123_456_789

_NAME: Final = "Probe-\u00e9"
_OTHER_CASE: Final = "pROBE-\u00e9"
_OTHER_FORM: Final = "Probe-e\u0301"  # as NFD has it


class Host(NamedTuple):
    """What was found out.

    ``keeps_nanoseconds``: file times come back as they were given, to the nanosecond.
    ``folds_names``: names that differ in case or in Unicode form only are one file.
    """

    keeps_nanoseconds: bool = True
    folds_names: bool = False


def probe_host(files: Files, directory: int) -> Host:
    """Make a file in ``directory``, look what became of it, and remove it again."""
    with contextlib.suppress(FileNotFoundError):
        files.remove(_NAME, directory)
    descriptor = files.open(_NAME, NEW_FILE, directory)
    try:
        files.set_mtime(descriptor, _ODD_NANOSECONDS)
        keeps_nanoseconds = files.fstat(descriptor).st_mtime_ns == _ODD_NANOSECONDS
        folds_names = any(_exists(files, name, directory) for name in (_OTHER_CASE, _OTHER_FORM))
    finally:
        files.close(descriptor)
        files.remove(_NAME, directory)
    return Host(keeps_nanoseconds, folds_names)


def _exists(files: Files, name: str, directory: int) -> bool:
    try:
        files.stat(name, directory)
    except FileNotFoundError:
        return False
    return True


def is_on_network(files: Files, directory: int) -> bool:
    """Whether the disk is shared through a network, so that one process has to hold it alone."""
    return is_of_network(files.filesystem_type(directory))


def is_of_network(kind: int) -> bool:
    """Whether that kind of file system is one of a network."""
    return kind in _NETWORK
