"""What an error of the disk means to us; no host path ever gets into a message."""

from __future__ import annotations

import errno
from typing import Final

from memoranda.errors import Unavailable

_IN_THE_WAY: Final = (
    "A file or a link stands where a directory of the memory belongs; links are not followed there."
)

_MEANINGS: Final = {
    errno.ENOSPC: "The disk is full.",
    errno.EDQUOT: "The disk quota is used up.",
    errno.EROFS: "The disk is read-only.",
    errno.EACCES: "The memory's folder may not be used: permission denied.",
    errno.EPERM: "The memory's folder may not be used: permission denied.",
    errno.ENOTDIR: _IN_THE_WAY,
    errno.ELOOP: _IN_THE_WAY,
    errno.EEXIST: "A file, or a link to nothing, stands where the memory's folder belongs.",
    errno.EMFILE: "This process has too many files open.",
    errno.ENFILE: "This machine has too many files open.",
    errno.EIO: "The disk reports an error.",
    errno.ESTALE: "The network disk has lost the memory's folder.",
}


_FORBIDDEN: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class Unwritable(Unavailable):
    """The disk, or the permissions on it, forbid to open a store for changes."""


def as_unavailable(error: OSError) -> Unavailable:
    """The error to raise ``from`` one of the file port."""
    meaning = _MEANINGS.get(error.errno or 0)
    if meaning is None:
        meaning = f"The file system reports {errno.errorcode.get(error.errno or 0, 'an error')}."
    return Unavailable(meaning)


def as_unopened(error: OSError) -> Unavailable:
    """The same where a store could not be opened in full; ``Unwritable`` if that is forbidden."""
    found = as_unavailable(error)
    return Unwritable(*found.args) if error.errno in _FORBIDDEN else found
