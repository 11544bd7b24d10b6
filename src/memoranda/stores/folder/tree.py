"""The tree that people see, walked by descriptors: no string of a path is checked and used later.

Places are tuples of names below ``memories/``. What can't be reached without following a symlink,
entering another mount or opening something that is no file counts as absent.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import Final, TypeAlias

from memoranda.light_named_tuples import NamedTuple
from memoranda.stores.folder.file_port import DIRECTORY, LISTING, LOOKING, READING, Files

LARGEST_BYTES: Final = 256 * 1024 * 1024
"""A larger file is not taken in: it would have to fit into memory."""

Place: TypeAlias = tuple[str, ...]

ABSENT: Final = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,  # a file or a symlink where a directory was asked for
        errno.ELOOP,  # a symlink
        errno.EXDEV,  # another mount
        errno.ENXIO,  # a socket
        errno.ENAMETOOLONG,  # a name that this host can't hold
        errno.EILSEQ,
    }
)
"""Errors that mean: nothing that may be shown is there."""

NOT_EMPTY: Final = frozenset({errno.ENOTEMPTY, errno.EEXIST})


class Seen(NamedTuple):
    """What ``fstat`` says of a file: equal means that nobody touched it."""

    ino: int
    mtime_ns: int
    size: int

    @classmethod
    def of(cls, found: os.stat_result) -> Seen:
        """The part of a stat that tells."""
        return cls(found.st_ino, found.st_mtime_ns, found.st_size)


class SeenDirectory(NamedTuple):
    """One directory of a walk: its regular files, the directories in it, and all else."""

    place: Place
    files: dict[str, Seen]
    directories: list[str]
    others: list[str]


class Opened:
    """A descriptor as a context that closes it at the end, unless it ``is_kept``."""

    __slots__ = ("_files", "_is_kept", "_number")

    def __init__(self, files: Files, number: int, *, is_kept: bool) -> None:
        self._files = files
        self._number = number
        self._is_kept = is_kept

    def __enter__(self) -> int:
        return self._number

    def __exit__(self, *_: object) -> None:
        if not self._is_kept:
            self._files.close(self._number)


class Tree:
    """The files beneath one directory's descriptor, which the caller keeps open."""

    __slots__ = ("_files", "root")

    def __init__(self, files: Files, root: int) -> None:
        self._files = files
        self.root = root

    # ---- looking

    def open(self, place: Place) -> int | None:
        """A descriptor for reading, of whatever lies there; None if nothing may be opened."""
        return self._open(place, READING)

    def _open(self, place: Place, flags: int) -> int | None:
        try:
            return self._files.open_beneath(self.root, "/".join(place), flags)
        except OSError as error:
            if error.errno in ABSENT:
                return None
            raise

    def look(self, place: Place) -> os.stat_result | None:
        """What lies at a place, a symlink as itself; nothing is opened."""
        if len(place) == 1:
            try:
                return self._files.stat(place[0], self.root)
            except OSError as error:
                if error.errno in ABSENT:
                    return None
                raise
        descriptor = self._open(place, LOOKING)
        if descriptor is None:
            return None
        try:
            return self._files.fstat(descriptor)
        finally:
            self._files.close(descriptor)

    def is_free(self, place: Place) -> bool:
        """Whether it is certain at the first look that nothing lies at a place, nor anything on the
        way to it but directories."""
        try:
            with self.parent(place) as parent:
                self._files.stat(place[-1], parent)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in ABSENT:
                raise
        return False

    def has_other_spelling(self, place: Place) -> bool:
        """Whether a place, or a directory on the way to it, is there by a name of another spelling;
        on a disk that takes both for one."""
        for end in range(len(place)):
            directory = self.list_directory(place[:end])
            if directory is None:
                return False
            with Opened(self._files, directory, is_kept=False):
                names = self._files.names(directory)
            if place[end] not in names:
                return self.look(place[: end + 1]) is not None
        return False

    def seen(self, place: Place) -> Seen | None:
        """The image of the regular file at a place; None if there is none."""
        found = self.look(place)
        return Seen.of(found) if found is not None and stat.S_ISREG(found.st_mode) else None

    def has_directory(self, place: Place) -> bool:
        """Whether a directory lies at a place."""
        found = self.look(place)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def read(self, place: Place) -> tuple[bytes, Seen] | None:
        """The whole of a regular file, and the image that goes with it; None if there is none, or
        one that is too large for memory."""
        descriptor = self.open(place)
        if descriptor is None:
            return None
        try:
            found = self._files.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_BYTES:
                return None
            return read_whole(self._files, descriptor, found.st_size), Seen.of(found)
        finally:
            self._files.close(descriptor)

    # ---- directories

    def parent(self, place: Place) -> Opened:
        """The descriptor of the directory that holds a place, as a context; raises OSError if there
        is none."""
        if len(place) == 1:
            return Opened(self._files, self.root, is_kept=True)
        descriptor = self._files.open_beneath(self.root, "/".join(place[:-1]), DIRECTORY)
        return Opened(self._files, descriptor, is_kept=False)

    def made_parent(self, place: Place) -> Opened:
        """The same; directories that are missing on the way are made."""
        try:
            return self.parent(place)
        except FileNotFoundError:
            return Opened(self._files, self._made(place[:-1]), is_kept=False)

    def _made(self, place: Place) -> int:
        files = self._files
        directory = self.root
        try:
            for name in place:
                try:
                    deeper = files.open(name, DIRECTORY, directory)
                except FileNotFoundError:
                    deeper = files.make_directory(name, directory)
                if directory != self.root:
                    files.close(directory)
                directory = deeper
        except BaseException:
            if directory != self.root:
                files.close(directory)
            raise
        return directory

    def prune(self, place: Place) -> None:
        """Remove the directory at a place if it is empty, then those above that get empty so."""
        while place:
            try:
                with self.parent(place) as parent:
                    self._files.remove_directory(place[-1], parent)
            except OSError as error:
                if error.errno in NOT_EMPTY or error.errno in ABSENT:
                    return
                raise
            place = place[:-1]

    def remove_empty(self, place: Place) -> bool:
        """Remove a directory that holds nothing but empty directories; whether it is gone."""
        descriptor = self._open(place, LISTING)
        if descriptor is None:
            return False
        try:
            here = self.see_directory(place, descriptor)
        finally:
            self._files.close(descriptor)
        if here.files or here.others:
            return False
        for name in here.directories:
            if not self.remove_empty((*place, name)):
                return False
        try:
            with self.parent(place) as parent:
                self._files.remove_directory(place[-1], parent)
        except OSError as error:
            if error.errno in NOT_EMPTY:
                return False
            raise
        return True

    # ---- all of it

    def list_directory(self, place: Place) -> int | None:
        """A descriptor for listing the directory at a place; None if there is none."""
        if not place:
            # A descriptor of its own: listing moves the position that all users of one share.
            return self._files.open(".", LISTING, self.root)
        return self._open(place, LISTING)

    def walk(self, place: Place = ()) -> Iterator[SeenDirectory]:
        """Every directory beneath a place, itself first, each with a stat of its files.

        Stays on the file system of the first. Holds one descriptor a level while it runs.
        """
        descriptor = self.list_directory(place)
        if descriptor is None:
            return
        try:
            device = self._files.fstat(descriptor).st_dev
            yield from self._walk(place, descriptor, device)
        finally:
            self._files.close(descriptor)

    def _walk(self, place: Place, descriptor: int, device: int) -> Iterator[SeenDirectory]:
        here = self.see_directory(place, descriptor)
        yield here
        for name in here.directories:
            try:
                deeper = self._files.open(name, LISTING, descriptor)
            except OSError as error:
                if error.errno in ABSENT:
                    continue
                raise
            try:
                if self._files.fstat(deeper).st_dev == device:
                    yield from self._walk((*place, name), deeper, device)
            finally:
                self._files.close(deeper)

    def each_file(self, place: Place = ()) -> Iterator[tuple[Place, Seen]]:
        """The regular files beneath a place, in no order; none is looked at before it is asked for."""
        descriptor = self.list_directory(place)
        if descriptor is None:
            return
        try:
            with self._files.entries(descriptor) as entries:
                for entry in entries:
                    here = (*place, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        yield from self.each_file(here)
                    elif entry.is_file(follow_symlinks=False):
                        try:
                            seen = Seen.of(entry.stat(follow_symlinks=False))
                        except FileNotFoundError:
                            continue
                        yield here, seen
        finally:
            self._files.close(descriptor)

    def holds_anything(self) -> bool:
        """Whether there is any file at all."""
        return any(True for _ in self.each_file())

    def see_directory(self, place: Place, descriptor: int) -> SeenDirectory:
        """What one directory holds, with a stat of each file."""
        files: dict[str, Seen] = {}
        directories: list[str] = []
        others: list[str] = []
        with self._files.entries(descriptor) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    directories.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    try:
                        files[entry.name] = Seen.of(entry.stat(follow_symlinks=False))
                    except FileNotFoundError:
                        continue
                else:
                    others.append(entry.name)
        return SeenDirectory(place, files, directories, others)


def read_whole(files: Files, descriptor: int, size: int) -> bytes:
    """All that is in a file of about ``size`` bytes, from where the descriptor stands."""
    data = files.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while data:
        data = files.read(descriptor, max(size, 1 << 16))
        parts.append(data)
    return b"".join(parts)
