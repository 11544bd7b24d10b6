"""What a store answers about the memories that live now: contents, listings, search results."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, TypeAlias

from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath


class Content(NamedTuple):
    """Bytes that were read.

    ``data`` is what was asked for, ``size_bytes`` the size of the whole file. Equal ``stamp`` s
    of one path mean equal content: a cheap key for caches, not an id to keep.
    """

    data: bytes
    size_bytes: int
    stamp: Hashable


class Entry(NamedTuple):
    """A live memory, without its content."""

    path: MemoryPath
    memory_id: str
    version_id: str
    size_bytes: int
    sha256: str
    created_at_ns: int
    updated_at_ns: int


class Directory(NamedTuple):
    """A directory in a listing; ``size_bytes`` sums what lies beneath, at any depth."""

    path: MemoryPath
    size_bytes: int


Listed: TypeAlias = tuple[str, int]
"""One line of an outline: a name and a size in bytes.

The name is the path from the directory listed on, a directory's with its slash: ``d/``, ``d/b.md``.
A plain pair, since a listing may have very many, and a class of its own costs as much as the rest.
"""


BESIDE_PATH_CHARS: Final = 4
"""What a printed line takes at least besides its path: a size such as ``0B``, a tab, an LF."""


class Outline(NamedTuple):
    """The visible items up to two levels below a directory, as far as asked for.

    ``size_bytes`` is that of the directory itself, ``total`` how many items there are in all.
    """

    size_bytes: int
    items: tuple[Listed, ...]
    total: int


class Page(NamedTuple):
    """A page of a listing; ``after`` continues it, None on the last page."""

    entries: tuple[Entry | Directory, ...]
    after: str | None


class Hit(NamedTuple):
    """A search result: where, which 1-based lines, and their text (each cut to 200 characters)."""

    path: MemoryPath
    lines: tuple[tuple[int, str], ...]
