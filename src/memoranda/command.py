"""The six commands as data, and how a raw input becomes one.

``parse`` reads what Claude sent, once; after it nothing re-validates a path or a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from memoranda.errors import Refused
from memoranda.path import MemoryPath


@dataclass(frozen=True, slots=True)
class View:
    """Show a file, or lines ``view_range`` (1-based, inclusive, end -1: to the last) of it, or
    list a directory."""

    name: ClassVar[str] = "view"
    path: MemoryPath
    view_range: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Create:
    """Make a file with ``file_text``."""

    name: ClassVar[str] = "create"
    path: MemoryPath
    file_text: str


@dataclass(frozen=True, slots=True)
class StrReplace:
    """Replace the one place of ``old_str`` by ``new_str``; "" deletes it."""

    name: ClassVar[str] = "str_replace"
    path: MemoryPath
    old_str: str
    new_str: str = ""


@dataclass(frozen=True, slots=True)
class Insert:
    """Insert ``insert_text`` after line ``insert_line``; 0 is the top."""

    name: ClassVar[str] = "insert"
    path: MemoryPath
    insert_line: int
    insert_text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a file, or a directory with all below it."""

    name: ClassVar[str] = "delete"
    path: MemoryPath


@dataclass(frozen=True, slots=True)
class Rename:
    """Give the file or directory at ``old_path`` the new path ``new_path``."""

    name: ClassVar[str] = "rename"
    old_path: MemoryPath
    new_path: MemoryPath


@dataclass(frozen=True, slots=True)
class RefusedInput:
    """An input that is no command: it travels through the layers so that it is audited.

    ``name`` is the command it named, "" where it named none of the six.
    """

    name: str
    error: Refused


Command: TypeAlias = View | Create | StrReplace | Insert | Delete | Rename
