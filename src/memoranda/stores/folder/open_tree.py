"""A store open for reading: three descriptors, no lock, no database.

What a view needs. Whether the tree may be believed is told by the word in the file ``lock`` and by
the inodes of what lies beside it; where they tell of a copy, a power cut or anything else that has to
be put in order first, the store is opened in full instead (``opening``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.stores.folder.descriptor import Descriptor
from memoranda.stores.folder.file_port import LISTING, READING, Files
from memoranda.stores.folder.home import HISTORY, LOCK, MEMORIES
from memoranda.stores.folder.tree import Tree
from memoranda.stores.folder.turns import NO_BOOT_ID, WORD_BYTES, Word, boot_id

if TYPE_CHECKING:
    from memoranda.stores.folder.home import Home
    from memoranda.stores.reader_pool import ReaderPool


class Reopen(Exception):
    """The store is closed, or what lies on the disk is no longer what is open here."""


class Unfinished(Exception):
    """A writer died after its commit, or close to it: the tree may not follow the log."""


class OpenTree:
    """The descriptors of one store, for whoever reads its files, at any time and without a lock.

    Whoever reads holds the object: its descriptors close with it.
    """

    def __init__(
        self,
        files: Files,
        directory: Descriptor,
        lock: Descriptor | None,
        memories: Descriptor,
        path: str,
    ) -> None:
        self.files = files
        self.directory = directory
        self.memories = memories
        self.path = path
        self._lock = lock
        self.tree = Tree(files, memories.number)
        self.history_inode = 0
        self.memories_inode = files.fstat(memories.number).st_ino
        self._sound: bytes | None = None  # what ``lock`` held when no place lagged
        self.readers: ReaderPool | None = None
        """Reading connections, once somebody asked for counters (``totals``)."""

    def word_now(self) -> Word | None:
        """What the file ``lock`` says now; None if there is none, or nothing that makes sense."""
        return Word.unpack(self._word_bytes())

    def lags_now(self) -> bool:
        """Whether places lag, as the lock file says: by this process or another.

        Raises ``Reopen`` if the store was erased, or its database is another one by now, and
        ``Unfinished`` where a writer died before the tree followed its commit: what is read then
        would change with the next turn.
        """
        data = self._word_bytes()
        if data == self._sound:
            return False
        word = Word.unpack(data)
        if word is None:
            return True  # the next turn writes it anew
        if word.history != self.history_inode:
            raise Reopen
        if word.committing:
            if self.is_abandoned():
                raise Unfinished
        elif not word.lagging:
            self._sound = data
        return word.lagging

    def is_abandoned(self) -> bool:
        """Whether somebody began a commit and died before the tree followed it.

        Whoever commits holds the lock. It is asked for by a descriptor of its own: this process's
        own writer would let go of it otherwise.
        """
        files = self.files
        lock = Descriptor(files.open(LOCK, READING, self.directory.number))
        if not files.try_share(lock.number):
            return False
        word = self.word_now()  # the one who committed may have come to the end meanwhile
        return word is not None and word.committing

    def _word_bytes(self) -> bytes:
        if self._lock is None:
            return b""
        return self.files.read_at(self._lock.number, WORD_BYTES + 1, 0)

    def close_readers(self) -> None:
        """Close the reading connections if there are any."""
        readers, self.readers = self.readers, None
        if readers is not None:
            readers.close()


class TreeAsItLies(OpenTree):
    """A store that may not be written, so that nothing in it can be put in order.

    Its files are shown as they are, but for places that lag: those are known to be wrong.
    """

    def lags_now(self) -> bool:
        word = self.word_now()
        return word is not None and word.lagging and word.history == self.history_inode


def open_tree(home: Home) -> OpenTree | None:
    """The store, if it can be read as it lies; None if it has to be opened in full first.

    Raises OSError.
    """
    opened = _open(home, OpenTree)
    if opened is None:
        return None
    word = opened.word_now()
    boot = boot_id()
    if (
        word is None
        or boot == NO_BOOT_ID
        or word[:5] != (boot, word.applied, False, opened.history_inode, opened.memories_inode)
        or _is_on_network(opened)
        or (word.committing and opened.is_abandoned())
    ):
        return None
    return opened


def is_there(home: Home | None) -> bool:
    """Whether anything lies where the store would; raises OSError."""
    if home is None:
        return False
    try:
        home.files.stat(home.name, home.stores.number)
    except FileNotFoundError:
        return False
    return True


def open_tree_as_it_lies(home: Home) -> OpenTree | None:
    """The store's files whatever state they are in; None if there are none."""
    return _open(home, TreeAsItLies)


def _open(home: Home, kind: type[OpenTree]) -> OpenTree | None:
    files = home.files
    try:
        directory = Descriptor(files.open(home.name, LISTING, home.stores.number))
        memories = Descriptor(files.open(MEMORIES, LISTING, directory.number))
    except FileNotFoundError:
        return None
    opened = kind(files, directory, _lock(files, directory), memories, home.directory)
    try:
        opened.history_inode = files.stat(HISTORY, directory.number).st_ino
    except FileNotFoundError:
        return None if kind is OpenTree else opened
    return opened


def _is_on_network(opened: OpenTree) -> bool:
    kind = opened.files.filesystem_type(opened.directory.number)
    if not kind:
        return False
    from memoranda.stores.folder.probes import is_of_network

    return is_of_network(kind)


def _lock(files: Files, directory: Descriptor) -> Descriptor | None:
    try:
        return Descriptor(files.open(LOCK, READING, directory.number))
    except OSError:
        return None
