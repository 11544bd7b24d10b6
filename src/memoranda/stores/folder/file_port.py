"""Every operation on files, as methods of one small object: the folder store's only way to a disk.

Tests put another object in its place and fail the n-th operation. Names are single ones, relative
to a directory's descriptor; only ``open_beneath`` takes a path of several, already checked.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memoranda.stores.log.text import Slice

PATH_ONLY: Final[int] = getattr(os, "O_PATH", os.O_RDONLY)
"""Open for looking only: opens nothing, so it can't touch a device or wait for a FIFO."""

DIRECTORY: Final = PATH_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LISTING: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READING: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LOOKING: Final = PATH_ONLY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700

_PERMISSIONS: Final = 0o777

_NOT_OFFERED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})
"""What a kernel or a file system answers to a rename with flags that it doesn't know."""

_NO_OPENAT2: Final = frozenset({errno.ENOSYS, errno.EPERM})
"""An old kernel; a sandbox that filters what it doesn't know."""

_MOST_SLICES: Final = 1000
"""A kernel takes 1,024 slices in one write."""


@cache
def _system_calls() -> ModuleType:
    """Loads ``ctypes`` with it, so not before it is needed; asked again it costs next to nothing."""
    from memoranda.stores.folder import system_calls

    return system_calls


@cache
def _ignored_signal() -> int:
    import signal  # half a millisecond, and no reader asks

    return signal.SIGURG


class Files:
    """The operations of a real disk. All raise OSError."""

    has_openat2 = True

    # ---- looking

    close = staticmethod(os.close)
    fstat = staticmethod(os.fstat)
    read = staticmethod(os.read)
    read_at = staticmethod(os.pread)
    seek = staticmethod(os.lseek)

    def names(self, directory: int) -> list[str]:
        """The names in an open directory, in no order."""
        return os.listdir(directory)

    def entries(self, directory: int) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """The same with what kind each is, as a context."""
        return os.scandir(directory)

    def open_beneath(self, root: int, path: str, flags: int) -> int:
        """A descriptor of ``path`` (segments joined by slashes) beneath ``root``.

        No symlink is followed on any step; where one stands, ELOOP or ENOTDIR.
        """
        if "/" not in path:
            return os.open(path, flags | os.O_NOFOLLOW, dir_fd=root)
        if self.has_openat2:
            try:
                descriptor: int = _system_calls().openat2(root, path, flags)
                return descriptor
            except OSError as error:
                if error.errno not in _NO_OPENAT2:
                    raise
            self.has_openat2 = False
        return self._walk(root, path, flags)

    def _walk(self, root: int, path: str, flags: int) -> int:
        *parents, last = path.split("/")
        directory = root
        try:
            for name in parents:
                deeper = os.open(name, DIRECTORY, dir_fd=directory)
                if directory != root:
                    os.close(directory)
                directory = deeper
            return os.open(last, flags | os.O_NOFOLLOW, dir_fd=directory)
        finally:
            if directory != root:
                os.close(directory)

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        """A descriptor of one name in ``directory``; what is made is the owner's alone."""
        return os.open(name, flags | os.O_CLOEXEC, FILE_MODE, dir_fd=directory)

    def stat(self, name: str, directory: int) -> os.stat_result:
        """What one name in ``directory`` is, a symlink as itself."""
        return os.stat(name, dir_fd=directory, follow_symlinks=False)

    def stats(self, names: Iterable[str], directory: int) -> Iterator[tuple[str, os.stat_result]]:
        """The same for many names, one by one; those that are gone by then are left out."""
        stat = os.stat
        for name in names:
            try:
                found = stat(name, dir_fd=directory, follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield name, found

    # ---- writing

    ftruncate = staticmethod(os.ftruncate)
    fsync = staticmethod(os.fsync)
    write_at = staticmethod(os.pwrite)

    def write(self, descriptor: int, slices: Sequence[Slice]) -> None:
        """Write all slices, one after the other."""
        rest = [part for part in slices if part]
        while rest:
            written = os.writev(descriptor, rest[:_MOST_SLICES])
            while rest and written >= len(rest[0]):
                written -= len(rest.pop(0))
            if written:
                rest[0] = memoryview(rest[0])[written:]

    def set_mtime(self, descriptor: int, mtime_ns: int) -> None:
        """Give a file its times, both the same."""
        os.utime(descriptor, ns=(mtime_ns, mtime_ns))

    def own(self, descriptor: int, found: os.stat_result) -> None:
        """Make a new file the owner's alone where an umask took more away than that."""
        if found.st_mode & _PERMISSIONS != FILE_MODE:
            os.fchmod(descriptor, FILE_MODE)

    def make_directory(self, name: str, directory: int) -> int:
        """Make a directory, the owner's alone whatever the umask; its descriptor."""
        os.mkdir(name, DIRECTORY_MODE, dir_fd=directory)
        made = os.open(name, DIRECTORY, dir_fd=directory)
        if os.fstat(made).st_mode & _PERMISSIONS != DIRECTORY_MODE:
            # By the descriptor: chmod by name would follow a symlink that took the place, and
            # fchmod refuses a descriptor that is for looking only.
            os.chmod(f"/proc/self/fd/{made}", DIRECTORY_MODE)
        return made

    def remove(self, name: str, directory: int) -> None:
        """Unlink one name."""
        os.unlink(name, dir_fd=directory)

    def remove_directory(self, name: str, directory: int) -> None:
        """Remove an empty directory."""
        os.rmdir(name, dir_fd=directory)

    def link(self, name: str, directory: int, second: str) -> None:
        """Give a file a second name in its directory; EEXIST where it is taken."""
        os.link(name, second, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)

    # ---- renaming

    def replace(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        """Rename, over whatever has the new name: only where nobody else can have put it."""
        os.rename(old, new, src_dir_fd=old_directory, dst_dir_fd=new_directory)

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        """Rename a file or a directory; a taken name is EEXIST (or ENOTEMPTY), never replaced."""
        calls = _system_calls()
        try:
            calls.renameat2(old_directory, old, new_directory, new, calls.RENAME_NOREPLACE)
        except OSError as error:
            if error.errno not in _NOT_OFFERED:
                raise
            self._move_in_steps(old, old_directory, new, new_directory)

    def _move_in_steps(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        try:
            os.link(
                old, new, src_dir_fd=old_directory, dst_dir_fd=new_directory, follow_symlinks=False
            )
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.EISDIR}:
                raise
            # A directory can't be linked. An empty one that we make holds the name for it.
            os.mkdir(new, DIRECTORY_MODE, dir_fd=new_directory)
            os.rename(old, new, src_dir_fd=old_directory, dst_dir_fd=new_directory)
        else:
            os.unlink(old, dir_fd=old_directory)

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        """Let two files change places, at once where the file system can.

        Otherwise the old file is linked aside first, so that it is never lost; a file put there
        between the two steps would be.
        """
        calls = _system_calls()
        try:
            calls.renameat2(our_directory, ours, their_directory, theirs, calls.RENAME_EXCHANGE)
        except OSError as error:
            if error.errno not in _NOT_OFFERED:
                raise
            aside = f"{ours}.aside"
            os.link(
                theirs,
                aside,
                src_dir_fd=their_directory,
                dst_dir_fd=our_directory,
                follow_symlinks=False,
            )
            os.rename(ours, theirs, src_dir_fd=our_directory, dst_dir_fd=their_directory)
            os.rename(aside, ours, src_dir_fd=our_directory, dst_dir_fd=our_directory)

    # ---- the whole

    def lock(self, descriptor: int) -> None:
        """Wait for the lock of an open file."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def try_lock(self, descriptor: int) -> bool:
        """Take the lock of an open file if nobody has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def try_share(self, descriptor: int) -> bool:
        """Take the lock of an open file together with others who share it, if nobody has it alone."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self, descriptor: int) -> None:
        """Give the lock of an open file back."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def is_open_elsewhere(self, descriptor: int) -> bool:
        """Whether anybody else has an open file open, too; False where nobody can tell."""
        try:
            # A lease that is broken sends SIGIO, which ends a process; SIGURG is ignored.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, _ignored_signal())
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as error:
            return error.errno == errno.EAGAIN
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return False

    def sync_all(self, descriptor: int) -> None:
        """Write the whole file system of an open file to disk."""
        try:
            _system_calls().syncfs(descriptor)
        except OSError as error:
            if error.errno not in _NOT_OFFERED:
                raise
            os.sync()

    def filesystem_type(self, descriptor: int) -> int:
        """The kernel's number for the kind of file system; 0 of one on a disk of this machine."""
        if os.major(os.fstat(descriptor).st_dev):
            return 0  # a block device: known without ctypes, which costs 3 ms at a start
        kind: int = _system_calls().filesystem_type(descriptor)
        return kind


FILES: Final = Files()
"""The real disk; holds no state but whether openat2 is offered."""
