"""The log's port to the tree: present contents are read from files, new ones written beside them.

A file whose image (inode, time, size) is the one that the log noted holds the log's text. Any
other may be a person's work, so nothing is built on it unseen: ``PersonWasHere`` is raised.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable
from typing import Final

from memoranda.digests import sha256
from memoranda.errors import AlreadyExists, NotFound, Unavailable
from memoranda.path import MemoryPath
from memoranda.stores.folder.file_port import NEW_FILE, Files
from memoranda.stores.folder.found_names import is_litter, is_memory_name
from memoranda.stores.folder.tree import LARGEST_BYTES, Place, Seen, Tree, read_whole
from memoranda.stores.log import bodies
from memoranda.stores.log.node import Node
from memoranda.stores.log.replay import Spot, TreeStep
from memoranda.stores.log.store_log import Image, StoreLog
from memoranda.stores.log.text import Text
from memoranda.stores.log.turn import Turn

_COMPARED_BYTES: Final = 64 * 1024


class PersonWasHere(Exception):
    """The tree is not what the log says at ``place``; the command has changed nothing."""

    def __init__(self, place: Place) -> None:
        super().__init__("Somebody changed the files.")
        self.place = place


def is_beneath(place: Place, places: frozenset[Place]) -> bool:
    """Whether a place is one of these or lies beneath one."""
    return any(place[: len(each)] == each for each in places)


def temporary_name(seq: int) -> str:
    """How the new content of event ``seq`` is called while it waits in ``incoming/``."""
    return str(seq)


def seq_of_name(name: str) -> int | None:
    """The event that a file in ``incoming/`` is named by; a second name has more after a dot."""
    number = name.partition(".")[0]
    return int(number) if len(number) < 19 and number.isascii() and number.isdecimal() else None


def image_of(node: Node) -> Seen | None:
    """What the file of a node looks like if nobody touched it; None where nobody knows."""
    if node.ino is None or node.mtime is None:
        return None
    return Seen(node.ino, node.mtime, node.size)


class TreeHeads:
    """Present contents for one transaction; remembers what it saw and what it wrote.

    ``trusted`` decides whether an equal image is enough (``host`` may not keep nanoseconds);
    nodes that ``lag`` are read from the log, since the tree does not show them yet, and what lies
    where they were (``left``) is not taken for a person's. ``folds_names`` as in ``Host``.
    """

    def __init__(
        self,
        log: StoreLog,
        tree: Tree,
        files: Files,
        incoming: int,
        *,
        clock: Callable[[], int],
        trusted: Callable[[Seen], bool],
        lag: frozenset[int],
        left: frozenset[Place],
        folds_names: bool = False,
    ) -> None:
        self.log = log
        self.tree = tree
        self.verified: dict[int, Seen] = {}
        self.written: set[str] = set()
        self._files = files
        self._incoming = incoming
        self._clock = clock
        self._trusted = trusted
        self._lag = lag
        self._left = left
        self._folds_names = folds_names
        self._places: dict[int, Place] = {}
        self._changed: set[Place] = set()
        self._rebuilt: set[int] = set()
        self._stored: list[tuple[Node, int, Image, int]] = []

    # ---- looking before a command

    def look(self, turn: Turn, path: MemoryPath, *, reads: bool) -> None:
        """Compare the tree with the log at a path that a command names; ``reads`` tells that the
        command reads the content, which compares it as well.

        Raises ``PersonWasHere`` where they differ, and ``NotFound`` where something that is no
        file or directory stands in the way. Where the disk takes two spellings of a name for one,
        ``AlreadyExists`` for another spelling of what is there.
        """
        place = path.segments
        if not place or self._is_ours_already(place):
            return
        found = turn.tree.walk(path)
        node = found.node
        if self._lag and any(
            each.id in self._lag for each in (*found.chain, found.blocker, node) if each
        ):
            return
        if node is None:
            if found.blocker is not None:
                self._compare(found.blocker, place[: len(found.chain)])
            else:
                if self._folds_names and self.tree.has_other_spelling(place):
                    raise NotFound(path) if reads else AlreadyExists(path)
                self._look_for_room(path)
        elif node.is_directory:
            self._compare_directory(turn, node, place)
        elif reads:
            self._places[node.id] = place
        else:
            self._compare(node, place)

    def _is_ours_already(self, place: Place) -> bool:
        """Whether a command of this transaction put something there, or beneath."""
        changed = self._changed
        return bool(changed) and any(each[: len(place)] == place for each in changed)

    def _compare(self, node: Node, place: Place) -> None:
        self._places[node.id] = place
        if node.id in self.verified:
            return
        seen = self.tree.seen(place)
        if seen is not None and seen.size > LARGEST_BYTES:
            raise NotFound(MemoryPath.of(place))
        if seen is None or seen != image_of(node) or not self._trusted(seen):
            raise PersonWasHere(place)
        self.verified[node.id] = seen

    def _compare_directory(self, turn: Turn, node: Node, place: Place) -> None:
        found = self.tree.look(place)
        if found is None or not stat.S_ISDIR(found.st_mode):
            raise PersonWasHere(place)
        if node.ino != found.st_ino:
            # So that a redo knows the directory again wherever it lies by then.
            turn.set_image(node, Image(found.st_ino, 0))

    def _look_for_room(self, path: MemoryPath) -> None:
        place = path.segments
        if self.tree.is_free(place):
            return
        for end in range(1, len(place) + 1):
            found = self.tree.look(place[:end])
            if found is None:
                return
            if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_BYTES:
                if self.is_left(place[:end]):
                    raise Unavailable("The disk still holds what was removed there.")
                raise PersonWasHere(place[:end])
            if not stat.S_ISDIR(found.st_mode):
                raise NotFound(path)
        if any(
            is_memory_name(name) and not is_litter(name)
            for here in self.tree.walk(place)
            for name in here.files
        ):
            if self.is_left(place):
                raise Unavailable("The disk still holds what was removed there.")
            raise PersonWasHere(place)
        if not self.tree.remove_empty(place):
            raise NotFound(path)

    def is_left(self, place: Place) -> bool:
        """Whether a place is, or lies beneath, one that a lagging node has left."""
        return is_beneath(place, self._left)

    def note(self, path: MemoryPath) -> None:
        """A command that names this path was done."""
        self._changed.add(path.segments)

    def trust(self, node: Node, seen: Seen, place: Place) -> None:
        """The content of a file was compared: it is the log's."""
        self.verified[node.id] = seen
        self._places[node.id] = place

    def rebuild(self, node: Node) -> None:
        """Read a file from the log from now on: the tree has another text already."""
        self._rebuilt.add(node.id)

    def ancestry(self, node: int) -> list[int]:
        """A node and all directories above it, by the rows that are written."""
        above = [node]
        while node != self.log.base:
            node = self.log.db.execute("SELECT parent FROM node WHERE id = ?", (node,)).get
            above.append(node)
        return above

    # ---- what the log asks

    def read(self, node: Node) -> bytes:
        """The whole present content of a file, as it was before this transaction."""
        if node.id in self._rebuilt or self._lags(node):
            return bodies.content(self.log, node.body)
        place = self._places.get(node.id)
        if place is None:
            # A batch moved it first: it still lies where the database, not the turn, has it.
            place = place_in_database(self.log, node.id)
            assert place is not None
            self._places[node.id] = place
        expected = self.verified.get(node.id) or image_of(node)
        descriptor = self.tree.open(place)
        if descriptor is None:
            raise PersonWasHere(place)
        try:
            found = self._files.fstat(descriptor)
            seen = Seen.of(found)
            if seen.size > LARGEST_BYTES:
                raise NotFound(MemoryPath.of(place))
            if seen != expected or not (node.id in self.verified or self._trusted(seen)):
                raise PersonWasHere(place)
            data = read_whole(self._files, descriptor, seen.size)
            # A write amid our reading changes the time before it changes the text. (Some hide
            # their writes: a mapped file, a failing disk. Small texts are cheap to compare.)
            if Seen.of(self._files.fstat(descriptor)) != seen or (
                len(data) <= _COMPARED_BYTES and sha256(data).digest() != node.sha
            ):
                raise PersonWasHere(place)
        finally:
            self._files.close(descriptor)
        self.verified[node.id] = seen
        return data

    def _lags(self, node: Node) -> bool:
        if not self._lag:
            return False
        return not self._lag.isdisjoint(self.ancestry(node.id))

    def store(self, node: Node, seq: int, text: Text) -> Image:
        """Write a new content to ``incoming/``; it goes into the tree after the commit."""
        image = self.write(temporary_name(seq), text)
        self._stored.append((node, seq, image, text.size))
        return image

    def write(self, name: str, text: Text) -> Image:
        """Make a file in ``incoming/`` and give it a time of its own, to know it again by."""
        files = self._files
        try:
            descriptor = files.open(name, NEW_FILE, self._incoming)
        except FileExistsError:
            # Left by a transaction that was killed before it committed; numbers come again.
            files.remove(name, self._incoming)
            descriptor = files.open(name, NEW_FILE, self._incoming)
        self.written.add(name)
        try:
            files.write(descriptor, text.parts)
            files.set_mtime(descriptor, self._clock())
            found = files.fstat(descriptor)
            files.own(descriptor, found)
        finally:
            files.close(descriptor)
        return Image(found.st_ino, found.st_mtime_ns)

    def drop(self, node: Node) -> None:
        """Nothing: the file is taken away when the tree follows the log."""

    def steps(self, turn: Turn) -> list[TreeStep]:
        """What the tree has to do after a transaction in which nothing moved and nothing went."""
        steps: list[TreeStep] = []
        for node, seq, image, size in self._stored:
            place = turn.tree.names_of(node)
            assert place is not None  # what went is never stored
            spot = Spot(place, ())
            source = spot if node.id in self.verified else None
            steps.append(TreeStep(seq, node.id, False, source, spot, True, seq, image, size))
        return steps

    def forget(self) -> None:
        """The transaction came to nothing: remove what was written for it."""
        for name in self.written:
            with contextlib.suppress(OSError):
                self._files.remove(name, self._incoming)
        self.written.clear()


_PARENT: Final = "SELECT parent, name, gone FROM node WHERE id = ?"


def place_in_database(log: StoreLog, node: int) -> Place | None:
    """Where a node lies by the rows that are written; None if it is gone."""
    names: list[str] = []
    while node != log.base:
        row = log.db.execute(_PARENT, (node,)).fetchone()
        if row is None or row[2] is not None:
            return None
        node = row[0]
        names.append(row[1].removesuffix("/"))
    return tuple(reversed(names))
