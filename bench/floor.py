"""The floor: each command as the bare system calls that its durability needs, and nothing else.

A write is a temporary file, an fsync of it, a rename and an fsync of the directory. There is no
path check, no lock, no limit, no history: no memory tool could be this thin. It tells how much of
a time is the machine's.
"""

from __future__ import annotations

import itertools
import os
import shutil
from itertools import starmap
from pathlib import Path
from typing import Any

NUMBERED = "{:>6}\t{}".format


def name_in(command: dict[str, Any], field: str = "path") -> str:
    """The path without its root."""
    path: str = command[field]
    return path[len("/memories/") :]


class Floor:
    """A directory of files and one descriptor of it."""

    def __init__(self, base: Path) -> None:
        base.mkdir(parents=True, exist_ok=True)
        self.base = base
        self.directory = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
        self.count = itertools.count()

    def close(self) -> None:
        os.close(self.directory)

    def __call__(self, command: dict[str, Any]) -> str:
        run: Any = getattr(self, command["command"])
        said: str = run(command)
        return said

    def view(self, command: dict[str, Any]) -> str:
        name = name_in(command) or "."
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.directory)
        try:
            status = os.fstat(file)
            if status.st_mode & 0o040000:
                return "\n".join(self.listing(file, command["path"].rstrip("/"), 2))
            if "view_range" in command:
                return self.lines(file, *command["view_range"])
            lines = os.read(file, status.st_size).decode().split("\n")
        finally:
            os.close(file)
        return "\n".join(starmap(NUMBERED, enumerate(lines, 1)))

    def listing(self, directory: int, prefix: str, depth: int) -> list[str]:
        with os.scandir(directory) as scan:
            found = sorted(scan, key=lambda entry: entry.name)
        said: list[str] = []
        for entry in found:
            said.append(f"{entry.stat(follow_symlinks=False).st_size}B\t{prefix}/{entry.name}")
            if depth > 1 and entry.is_dir(follow_symlinks=False):
                below = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
                try:
                    said += self.listing(below, f"{prefix}/{entry.name}", depth - 1)
                finally:
                    os.close(below)
        return said

    def lines(self, file: int, first: int, last: int) -> str:
        """Lines of a large file, found by counting in blocks: once, without an index."""
        buffer = bytearray(1 << 18)
        before = 0
        shown = b""
        start = 0
        while size := os.readv(file, [buffer]):
            here = buffer.count(b"\n", 0, size)
            if not shown and before + here >= first:
                start, shown = before + 1, bytes(buffer[:size]) + os.read(file, 1 << 14)
                here = shown.count(b"\n")
            before += here
        wanted = shown.split(b"\n")[first - start : last - start + 1]
        return "\n".join(NUMBERED(n, line.decode()) for n, line in enumerate(wanted, first))

    def create(self, command: dict[str, Any]) -> str:
        name = name_in(command)
        text = [command["file_text"].encode()]
        try:
            self.write(name, text)
        except FileNotFoundError:
            (self.base / name).parent.mkdir(parents=True)
            self.write(name, text)
        return name

    def write(self, name: str, pieces: list[bytes]) -> None:
        parent, _, leaf = name.rpartition("/")
        directory = os.open(parent or ".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.directory)
        try:
            new = f".new{next(self.count)}"
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
            os.writev(file, pieces)
            os.fsync(file)
            os.close(file)
            os.rename(new, leaf, src_dir_fd=directory, dst_dir_fd=directory)
            os.fsync(directory)
        finally:
            os.close(directory)

    def read(self, name: str) -> bytes:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.directory)
        try:
            return os.read(file, os.fstat(file).st_size)
        finally:
            os.close(file)

    def str_replace(self, command: dict[str, Any]) -> str:
        name = name_in(command)
        text, said = self.read(name), str(command["new_str"])
        old, new = command["old_str"].encode(), said.encode()
        at = text.index(old)
        assert text.find(old, at + 1) < 0
        self.write(name, [text[:at], new, text[at + len(old) :]])
        first = text.rfind(b"\n", 0, at) + 1
        return NUMBERED(text.count(b"\n", 0, at) + 1, text[first:at].decode() + said)

    def insert(self, command: dict[str, Any]) -> str:
        name = name_in(command)
        text, at = self.read(name), 0
        for _ in range(command["insert_line"]):
            at = text.index(b"\n", at) + 1
        self.write(name, [text[:at], command["insert_text"].encode(), text[at:]])
        return name

    def rename(self, command: dict[str, Any]) -> str:
        old, new = name_in(command, "old_path"), name_in(command, "new_path")
        os.rename(old, new, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        self.settle(new)
        return new

    def delete(self, command: dict[str, Any]) -> str:
        name = name_in(command)
        try:
            os.unlink(name, dir_fd=self.directory)
        except IsADirectoryError:
            shutil.rmtree(name, dir_fd=self.directory)
        self.settle(name)
        return name

    def settle(self, name: str) -> None:
        parent = name.rpartition("/")[0] or "."
        directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.directory)
        os.fsync(directory)
        os.close(directory)
