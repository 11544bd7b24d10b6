"""One store with its files and its database open: what all of its parts share."""

from __future__ import annotations

import errno
from collections.abc import Container, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Final

import apsw

from memoranda.errors import Unavailable
from memoranda.stores.folder import meta
from memoranda.stores.folder.descriptor import Descriptor
from memoranda.stores.folder.file_port import LISTING, Files
from memoranda.stores.folder.follow import Follower, Lag, move_entries
from memoranda.stores.folder.heads import TreeHeads
from memoranda.stores.folder.home import TRASH
from memoranda.stores.folder.layout import open_or_make_directory
from memoranda.stores.folder.linger import Lingering
from memoranda.stores.folder.open_tree import OpenTree
from memoranda.stores.folder.probes import Host
from memoranda.stores.folder.tree import Place, Seen, Tree
from memoranda.stores.folder.turns import TurnLock, Word
from memoranda.stores.log import schema
from memoranda.stores.log.store_log import StoreLog

if TYPE_CHECKING:
    from memoranda.stores.base import Problem
    from memoranda.stores.folder.clock import Clock
    from memoranda.stores.folder.follow import Outcome
    from memoranda.stores.log.connection import Connection
    from memoranda.stores.log.remembered import Remembered
    from memoranda.stores.log.replay import TreeStep

_YOUNG_NS: Final = 2_000_000_000
"""Where file times are coarse, a file that changed less long ago may have changed again unseen."""


MOST_UNSYNCED: Final = 1000
"""So many steps in the tree may wait for the disk."""

LONGEST_UNSYNCED_SECONDS: Final = 60.0

_NOTHING_SEEN: Final[Mapping[int, Seen]] = {}

_NO_NODES: Final[frozenset[int]] = frozenset()
_NO_PLACES: Final[frozenset[Place]] = frozenset()

_EMPTY_LOG: Final = "PRAGMA wal_checkpoint(TRUNCATE)"


class OpenStore(OpenTree):
    """The descriptors and the connection of one store, and how far its tree follows the log.

    Only under the store's baton (``writer.Writer``), except for what ``OpenTree`` has, which
    readers use at any time.
    """

    def __init__(
        self,
        files: Files,
        clock: Clock,
        directory: Descriptor,
        lock: Descriptor,
        memories: Descriptor,
        incoming: Descriptor,
        path: str,
    ) -> None:
        super().__init__(files, directory, lock, memories, path)
        self._for_all = (lock, directory)
        self.clock = clock
        self.incoming = incoming
        self.lock = TurnLock(files, directory.number, lock.number)
        self.lingering = Lingering(files, incoming.number)
        self.host = Host()
        self.boot_id = b""
        self.word: Word | None = None
        self.lock_inode = files.fstat(lock.number).st_ino
        self.looked_through: int | None = None
        """When the store's directory had changed last as its parts were looked for by their names:
        until it changes again they need not be."""
        self.lags: list[Lag] = []
        self.remembered: Remembered | None = None
        self.archived = False
        self.mend_again_at = 0.0
        self.has_trash = True
        self.synced: int | None = None
        self.unsynced = 0
        self.synced_at = clock.monotonic()
        self.durable = 0
        self.is_closed = False
        self.notices: tuple[Problem, ...] = ()
        self._db: Connection | None = None

    log: StoreLog
    is_new = False
    is_tree_lost = False
    """Whether the directory of the files was missing and had to be made."""

    created_at_ns = 0

    @property
    def db(self) -> Connection:
        """The connection, which the store's baton guards."""
        assert self._db is not None
        return self._db

    @db.setter
    def db(self, connection: Connection) -> None:
        self._db = connection

    # ---- the word

    def mark_erased(self) -> None:
        """Tell everybody who has the store open that there is none any more."""
        self.lock.write(Word(self.boot_id, 0, lagging=True, history=0))

    def set_applied(self, seq: int) -> None:
        """The tree follows the log up to ``seq``, but for what lags."""
        self._write_word(
            Word(self.boot_id, seq, bool(self.lags), self.history_inode, self.memories_inode)
        )

    def announce_commit(self) -> None:
        """Tell readers of other processes that the log is about to go ahead of the tree."""
        word = self.word
        assert word is not None  # a turn begins with catching up
        self._write_word(Word(*word[:5], committing=True))

    def withdraw_commit(self) -> None:
        """The same again where nothing was committed; the next turn does it if the disk refuses."""
        word = self.word
        assert word is not None  # it was announced
        with suppress(OSError):
            self._write_word(Word(*word[:5], committing=False))

    def _write_word(self, word: Word) -> None:
        if word != self.word:
            self.word = None
            self.lock.write(word)
            self.word = word

    @property
    def lag(self) -> frozenset[int]:
        """The nodes that the tree does not show as the log has them."""
        return frozenset([each.node for each in self.lags]) if self.lags else _NO_NODES

    @property
    def left(self) -> frozenset[Place]:
        """Places that lagging nodes have left: what lies there is their old image, nobody's work."""
        if not self.lags:
            return _NO_PLACES
        return frozenset([each.source for each in self.lags if each.source is not None])

    def keep_lags(self, lags: list[Lag]) -> None:
        """Note which places lag, in a transaction of its own, before the tree counts as applied."""
        with self.transaction():
            meta.put(self.db, meta.LAGGING, lags)
        self.lags = lags

    def load_lags(self) -> None:
        """Read which places lag."""
        found: list[tuple[int, list[str] | None]] = meta.get(self.db, meta.LAGGING) or []
        self.lags = [Lag(node, None if place is None else tuple(place)) for node, place in found]

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All of it or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            schema.check_still_ours(self.db)
            yield
            self.db.execute("COMMIT")
        except BaseException:
            roll_back(self.db)
            raise

    # ---- parts

    def heads(self) -> TreeHeads:
        """The log's port to the tree, for one transaction."""
        return TreeHeads(
            self.log,
            self.tree,
            self.files,
            self.incoming.number,
            clock=self.clock.now_ns,
            trusted=self._is_trusted,
            lag=self.lag,
            left=self.left,
            folds_names=self.host.folds_names,
        )

    def _is_trusted(self, seen: Seen) -> bool:
        return self.host.keeps_nanoseconds or (self.clock.now_ns() - seen.mtime_ns > _YOUNG_NS)

    def follow(
        self,
        steps: Sequence[TreeStep],
        applied: int,
        *,
        verified: Mapping[int, Seen] = _NOTHING_SEEN,
        waiting: Container[str] = (),
    ) -> Outcome:
        """Bring the tree from event ``applied`` to the newest one, by the steps that lead there.

        ``verified`` are images, by their nodes, that were compared in this very turn; ``waiting``
        are the new contents in ``incoming/``.
        """

        def is_ours(step: TreeStep, seen: Seen, name: str | None) -> bool:
            if verified.get(step.node) == seen:
                return True
            from memoranda.stores.folder.known import is_one_of, recent_of

            recent = recent_of(self.log, step.node, applied)
            if is_one_of(recent, seen, None):
                return True
            return name is not None and is_one_of(recent, seen, self._displaced(name))

        follower = Follower(
            self.files,
            self.tree,
            self.incoming.number,
            self.lingering,
            waiting=waiting,
            is_ours=is_ours,
            inode_of=self.inode_of_node,
            to_trash=self.to_trash,
            monotonic=self.clock.monotonic,
        )
        return follower.follow(steps)

    def inode_of_node(self, node: int) -> int | None:
        """The inode that a node had when it was last seen or written; a directory's is noted
        before it moves."""
        inode: int | None = self.db.execute("SELECT ino FROM node WHERE id = ?", (node,)).get
        return inode

    def _displaced(self, name: str) -> bytes | None:
        found = Tree(self.files, self.incoming.number).read((name,))
        return None if found is None else found[0]

    def to_trash(self, name: str, directory: int, seq: int) -> None:
        """Move a directory out of the tree, to be emptied later."""
        trash = open_or_make_directory(self.files, TRASH, self.directory.number, LISTING)
        try:
            self.files.move(name, directory, str(seq), trash)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            move_entries(self.files, name, directory, str(seq), trash)
        finally:
            self.files.close(trash)
        self.has_trash = True

    def place(self) -> list[int]:
        """Where this copy of the store lies: the inodes of its database and of its tree."""
        return [self.history_inode, self.memories_inode]

    def inode_of(self, name: str) -> int | None:
        """The inode under ``name`` in the store's directory, or None."""
        try:
            return self.files.stat(name, self.directory.number).st_ino
        except FileNotFoundError:
            return None

    def close_database(self) -> None:
        """Close the connections if there are any."""
        self.close_readers()
        if self._db is not None:
            self._db.close()

    def abandon(self) -> None:
        """Let go of all that an opening which failed has taken; nobody else has it yet."""
        self.close_database()
        for descriptor in self._for_all:
            descriptor.close()

    def close(self) -> None:
        """Close the database, which brings its file up to date; the descriptors go when the last
        reader does."""
        self.is_closed = True
        with suppress(apsw.Error):
            self.db.execute(_EMPTY_LOG).fetchall()
        self.close_database()

    def scrub(self) -> None:
        """Empty free pages and the write-ahead log, so that what was deleted is in no file."""
        self.db.execute("PRAGMA incremental_vacuum").fetchall()
        if self.db.execute(_EMPTY_LOG).fetchall()[0][0]:
            raise Unavailable("Somebody still reads what was deleted; try again.")

    def load_shared(self) -> None:
        """Another process wrote: read anew what this one keeps in memory."""
        self.load_lags()
        self.archived = bool(meta.get(self.db, meta.ARCHIVED))
        self.durable = meta.get(self.db, meta.DURABLE) or self.log.base

    # ---- what is on disk for certain

    def sync_tree(self) -> None:
        """Write the tree to disk; the next commit notes how far (``durable``)."""
        self._sync(self._begin_sync())

    def sync_tree_aside(self) -> None:
        """The same in a thread of its own, so that no answer waits for the disk: a full sync takes
        from milliseconds to seconds. Others may go on meanwhile, in the same store too."""
        applied = self._begin_sync()
        thread = Thread(target=self._sync, args=(applied,), name="memoranda-sync", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter ends
            self._sync(applied)

    def _begin_sync(self) -> int | None:
        word = self.word
        self.unsynced = 0
        self.synced_at = self.clock.monotonic()
        return word.applied if word is not None and not self.lags else None

    def _sync(self, applied: int | None) -> None:
        with suppress(OSError):
            self.files.sync_all(self.memories.number)
            self.synced = applied

    def is_due_for_sync(self) -> bool:
        """Whether so much is not on disk for certain that a power cut would mean long work."""
        return self.unsynced > 0 and (
            self.unsynced >= MOST_UNSYNCED
            or self.clock.monotonic() - self.synced_at > LONGEST_UNSYNCED_SECONDS
        )

    def note_durable(self) -> None:
        """Note in the transaction under way what was synced since the last one."""
        # A thread may set it meanwhile: at worst that sync is noted by nobody.
        synced, self.synced = self.synced, None
        if synced is not None and synced > self.durable:
            meta.put(self.db, meta.DURABLE, synced)
            self.durable = synced


def roll_back(db: Connection) -> None:
    """End a transaction without its changes, whatever state it is in."""
    if db.in_transaction:
        with suppress(apsw.Error):
            db.execute("ROLLBACK")
