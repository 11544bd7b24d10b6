"""The present of a store as a tree: a record for each memory, totals for each directory.

It has the shape of the memories' own tree. Each name has ``=`` before it, so that no name means
anything to git and the totals, which lie under ``#``, are nobody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from memoranda.errors import Corrupt
from memoranda.path import MemoryPath
from memoranda.stores.git.objects import FILE_MODE, TREE_MODE, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memoranda.stores.git.objects import Id, Objects
    from memoranda.stores.git.trees import Names

_TOTALS: Final = b"#"
_MARK: Final = b"="


class Record(NamedTuple):
    """A memory: its number and times, the event of its version, its content, its last use."""

    number: int
    created: int
    updated: int
    head: int
    size: int
    sha: bytes
    blob: Id
    used: int | None = None

    def line(self) -> bytes:
        """The record as it is stored."""
        used = "-" if self.used is None else self.used
        return (
            f"{self.number} {self.created} {self.updated} {self.head} {self.size}"
            f" {self.sha.hex()} {self.blob.hex()} {used}\n"
        ).encode()


class Totals(NamedTuple):
    """What lies beneath a directory: files and their bytes; of what is shown, bytes, direct
    children, and the direct children of directories among those."""

    files: int
    bytes: int
    shown: int
    items: int
    below: int

    def plus(self, other: Totals, sign: int = 1) -> Totals:
        """The sum, or (``sign`` -1) the difference."""
        return Totals(*(mine + sign * theirs for mine, theirs in zip(self, other, strict=True)))


EMPTY: Final = Totals(0, 0, 0, 0, 0)

Found: TypeAlias = "Record | Totals | None"


def record_of(line: bytes) -> Record:
    """The record that ``Record.line`` gave."""
    try:
        number, created, updated, head, size, sha, blob, used = line.split()
        return Record(
            int(number), int(created), int(updated), int(head), int(size),
            bytes.fromhex(sha.decode()), bytes.fromhex(blob.decode()),
            None if used == b"-" else int(used),
        )  # fmt: skip
    except ValueError as error:
        raise Corrupt("A record of a memory can't be read.") from error


def is_shown(name: str) -> bool:
    """Whether a view shows this name."""
    return not name.startswith(".") and name != "node_modules"


def names_of(path: MemoryPath) -> Names:
    """Where the record of a path lies."""
    return tuple(_MARK + name.encode() for name in path.segments)


class Heads:
    """One state of it; ``root`` is None for an empty store."""

    def __init__(self, objects: Objects, root: Id | None) -> None:
        self._objects = objects
        self.root = root

    # ---- reading

    def find(self, path: MemoryPath) -> Found:
        """The memory at a path, or the totals of the directory there."""
        found = self._entry(path)
        if found is None:
            return None
        if found.is_tree:
            return self._totals(found.id)
        return self._record(found)

    def record(self, path: MemoryPath) -> Record:
        """The record of a memory that has to be there."""
        found = self.find(path)
        if not isinstance(found, Record):
            raise Corrupt("The record of a memory is missing.")
        return found

    def totals(self) -> Totals:
        """Those of the root."""
        return EMPTY if self.root is None else self._totals(self.root)

    def children(self, path: MemoryPath, start: str = "") -> Iterator[tuple[str, Record | Totals]]:
        """What lies in a directory, in listing order: names (a directory's with its slash) from
        ``start`` on, each with its record or totals."""
        found = self._entry(path)
        if found is None or not found.is_tree:
            return
        first = start.encode("utf-8", "surrogatepass")
        for name, entry in self._objects.read_tree(found.id).items():
            if name == _TOTALS:
                continue
            key = name[1:] + b"/" if entry.is_tree else name[1:]
            if key < first:
                continue
            yield key.decode(), (self._totals(entry.id) if entry.is_tree else self._record(entry))

    def beneath(self, path: MemoryPath, after: str = "") -> Iterator[tuple[MemoryPath, Record]]:
        """All memories beneath a directory, in listing order, after a position relative to it."""
        name, slash, rest = after.partition("/")
        start = name + (slash or "\0") if after else ""
        for key, found in self.children(path, start):
            child = path.child(key.removesuffix("/"))
            if isinstance(found, Record):
                yield child, found
            else:
                yield from self.beneath(child, rest if key == start else "")

    def _entry(self, path: MemoryPath) -> Entry | None:
        entry = None if self.root is None else Entry(TREE_MODE, self.root)
        for name in path.segments:
            if entry is None or not entry.is_tree:
                return None
            entry = self._objects.read_tree(entry.id).get(
                _MARK + name.encode("utf-8", "surrogatepass")
            )
        return entry

    def _record(self, entry: Entry) -> Record:
        return record_of(self._objects.read_blob(entry.id))

    def _totals(self, directory: Id) -> Totals:
        entry = self._objects.read_tree(directory).get(_TOTALS)
        try:
            if entry is not None:
                return Totals._make(map(int, self._objects.read_blob(entry.id).split()))
        except (TypeError, ValueError) as error:
            raise Corrupt("The totals of a directory can't be read.") from error
        raise Corrupt("The totals of a directory are missing.")

    # ---- changing

    def changed(self, changes: Mapping[MemoryPath, Record | None]) -> Heads:
        """The state that has these records (None: no memory) at these paths."""
        lines = {
            names_of(path): None if record is None else record for path, record in changes.items()
        }
        root, _ = self._grown(self.root, lines)
        return Heads(self._objects, root)

    def _grown(
        self, directory: Id | None, changes: Mapping[Names, Record | None]
    ) -> tuple[Id | None, Totals]:
        objects = self._objects
        entries = {} if directory is None else dict(objects.read_tree(directory))
        totals = EMPTY if directory is None else self._totals(directory)
        groups: dict[bytes, dict[Names, Record | None]] = {}
        for names, record in changes.items():
            groups.setdefault(names[0], {})[names[1:]] = record
        for name, group in groups.items():
            was = entries.pop(name, None)
            if was is not None:
                totals = totals.plus(self._counted(name, was), -1)
            now = self._replaced(was, group)
            if now is not None:
                entries[name] = now
                totals = totals.plus(self._counted(name, now))
        entries.pop(_TOTALS, None)
        if not entries:
            return None, EMPTY
        line = " ".join(map(str, totals)) + "\n"
        entries[_TOTALS] = Entry(FILE_MODE, objects.blob(line.encode()))
        return objects.tree(entries), totals

    def _replaced(self, was: Entry | None, group: dict[Names, Record | None]) -> Entry | None:
        file = was if was is not None and not was.is_tree else None
        below = was.id if was is not None and was.is_tree else None
        if () in group:
            record = group.pop(())
            file = None
            if record is not None:
                file = Entry(FILE_MODE, self._objects.blob(record.line()))
        if group:
            below, _ = self._grown(below, group)
        if file is not None:
            return file
        return None if below is None else Entry(TREE_MODE, below)

    def _counted(self, name: bytes, entry: Entry) -> Totals:
        """What an entry of a directory adds to the totals of that."""
        shown = is_shown(name[1:].decode())
        if not entry.is_tree:
            size = self._record(entry).size
            return Totals(1, size, size if shown else 0, int(shown), 0)
        totals = self._totals(entry.id)
        if not shown:
            return Totals(totals.files, totals.bytes, 0, 0, 0)
        return Totals(totals.files, totals.bytes, totals.shown, 1, totals.items)
