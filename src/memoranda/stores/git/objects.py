"""Git objects: made in memory, and read from there or from a repository.

Ids are the 20 bytes, not their hex. A tree is a mapping from names to modes and ids; whoever gets
one must not change it.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from memoranda.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMIT: Final = 1
TREE: Final = 2
BLOB: Final = 3

FILE_MODE: Final = 0o100644
TREE_MODE: Final = 0o40000
FILE_MODES: Final = frozenset({0o100644, 0o100755, 0o100664})
"""Modes of plain files; a link or another repository has another."""

_KINDS: Final = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}
_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_HEADER: Final = re.compile(r"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)")
_MOST_CACHED_ENTRIES: Final = 50_000
_MOST_CACHED_BYTES: Final = 8 * 1024 * 1024
_LARGEST_CACHED_BYTES: Final = 64 * 1024

Id: TypeAlias = bytes


class Entry(NamedTuple):
    """What a tree has under a name."""

    mode: int
    id: Id

    @property
    def is_tree(self) -> bool:
        """Whether it is a directory."""
        return self.mode == TREE_MODE


Tree: TypeAlias = "Mapping[bytes, Entry]"


class Commit(NamedTuple):
    """What a commit says, as far as we read it."""

    tree: Id
    parents: Sequence[Id]
    header: str
    message: str


class Person(NamedTuple):
    """An author or a committer; neither text holds ``<``, ``>`` or control characters."""

    name: str
    mail: str

    def line(self, seconds: int) -> str:
        """As a commit spells it, at a time in UTC."""
        return f"{self.name} <{self.mail}> {seconds} +0000"


class Source(Protocol):
    """Where objects are that were made before."""

    def load(self, wanted: Id) -> tuple[int, bytes]:
        """Kind and content; raises ``Corrupt`` for what is not there."""
        ...


class TreeCache:
    """Trees that were read or made lately; emptied once it holds many entries."""

    __slots__ = ("_entries", "_trees")

    def __init__(self) -> None:
        self._trees: dict[Id, Tree] = {}
        self._entries = 0

    def get(self, wanted: Id) -> Tree | None:
        """A tree, if it is here."""
        return self._trees.get(wanted)

    def put(self, tree_id: Id, tree: Tree) -> None:
        """Keep a tree."""
        if self._entries > _MOST_CACHED_ENTRIES:
            self._trees, self._entries = {}, 0
        self._trees[tree_id] = tree
        self._entries += len(tree) + 1


class ObjectCache:
    """Objects that were read or written lately; emptied once it is full, large ones stay out."""

    __slots__ = ("_bytes", "_objects")

    def __init__(self) -> None:
        self._objects: dict[Id, tuple[int, bytes]] = {}
        self._bytes = 0

    def get(self, wanted: Id) -> tuple[int, bytes] | None:
        """Kind and content of an object, if it is here."""
        return self._objects.get(wanted)

    def put(self, name: Id, found: tuple[int, bytes]) -> None:
        """Keep an object, unless it is large."""
        size = len(found[1]) + 200
        if size > _LARGEST_CACHED_BYTES:
            return
        if self._bytes > _MOST_CACHED_BYTES:
            self._objects, self._bytes = {}, 0
        self._objects[name] = found
        self._bytes += size


class Objects:
    """What is being made, over what there is. For one thread at a time."""

    def __init__(self, source: Source, cache: TreeCache) -> None:
        self._source = source
        self._cache = cache
        self.new: dict[Id, tuple[int, bytes]] = {}
        """Kind and content of what was made here."""

    # ---- making

    def blob(self, data: bytes) -> Id:
        """A content."""
        return self._add(BLOB, data)

    def tree(self, entries: Mapping[bytes, Entry]) -> Id:
        """A directory; git wants its names in the order in which the paths beneath sort."""
        ordered = sorted(
            entries.items(), key=lambda item: item[0] + b"/" if item[1].is_tree else item[0]
        )
        tree = dict(ordered)
        data = b"".join(b"%o %b\0%b" % (entry.mode, name, entry.id) for name, entry in ordered)
        made = self._add(TREE, data)
        self._cache.put(made, tree)
        return made

    def commit(
        self,
        tree: Id,
        parents: Sequence[Id],
        author: Person,
        committer: Person,
        seconds: int,
        message: str,
    ) -> Id:
        """A commit; ``message`` ends with a line feed."""
        lines = [f"tree {tree.hex()}", *(f"parent {parent.hex()}" for parent in parents)]
        lines += [f"author {author.line(seconds)}", f"committer {committer.line(seconds)}"]
        return self._add(COMMIT, "\n".join([*lines, "", message]).encode())

    # ---- reading

    def read_blob(self, wanted: Id) -> bytes:
        """A content."""
        return self._read(wanted, BLOB)

    def read_tree(self, wanted: Id) -> Tree:
        """A directory, in order of its names; a directory's counts with its slash."""
        found = self._cache.get(wanted)
        if found is None:
            found = parse_tree(self._read(wanted, TREE))
            self._cache.put(wanted, found)
        return found

    def read_commit(self, wanted: Id) -> Commit:
        """A commit."""
        header, _, message = self._read(wanted, COMMIT).decode("utf-8", "replace").partition("\n\n")
        found = _HEADER.match(header)
        if found is None:
            raise Corrupt("A commit of the repository can't be read.")
        parents = [bytes.fromhex(line[7:]) for line in found[2].splitlines()]
        return Commit(bytes.fromhex(found[1]), parents, header, message)

    def _read(self, wanted: Id, kind: int) -> bytes:
        found, data = self.new.get(wanted) or self._source.load(wanted)
        if found != kind:
            raise Corrupt("An object of the repository is of another kind than it has to be.")
        return data

    def _add(self, kind: int, data: bytes) -> Id:
        # Not for security: git names objects so, and contents have their SHA-256 beside them.
        name = hashlib.sha1(b"%b %d\0" % (_KINDS[kind], len(data)), usedforsecurity=False)
        name.update(data)
        made = name.digest()
        self.new[made] = (kind, data)
        return made


def parse_tree(data: bytes) -> Tree:
    """The entries of a tree as git stores it."""
    return {name: Entry(int(mode, 8), entry) for mode, name, entry in _ENTRY.findall(data)}
