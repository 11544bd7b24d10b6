"""The way to an open store: who changes it queues, and whoever leads does what waits in one turn.

A turn: take the lock, catch up with what others left, run the jobs in a transaction, commit (the
durable point), bring the tree to where the log is, say so in the lock file, let the next one in.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from memoranda.errors import MemorandaError, UnknownId
from memoranda.stores.folder.faults import as_unavailable
from memoranda.stores.folder.open_tree import Reopen
from memoranda.stores.folder.opened import OpenStore
from memoranda.stores.folder.recovery import catch_up, take_stock
from memoranda.stores.group_commit import GroupCommit
from memoranda.stores.log.database import FOREIGN, NONSENSE, as_ours, damaged
from memoranda.stores.log.records import warn_of_loss

if TYPE_CHECKING:
    from memoranda.stores.base import Context, Version
    from memoranda.stores.folder.batch import Batches
    from memoranda.stores.folder.jobs import FolderJob
    from memoranda.stores.log.records import Records

REAPED_A_TURN: Final = 32
"""How many files of removed directories a turn unlinks: about half a millisecond."""

REAPED_AT_CLOSING: Final = 2000


class Writer:
    """The only way to change an open store. Its baton also guards the connection."""

    def __init__(self, opened: OpenStore, records: Records) -> None:
        self.opened = opened
        self.group: GroupCommit[FolderJob] = GroupCommit(self._lead)
        self._records = records
        self._made: Batches | None = None

    @property
    def _batches(self) -> Batches:
        # What only writes need is loaded with the first of them.
        if self._made is None:
            from memoranda.stores.folder.batch import Batches

            self._made = Batches(self.opened, self._records)
        return self._made

    def run(self, job: FolderJob) -> None:
        """Have a job done; raises what it raises."""
        self.group.run(job)
        if self.opened.is_due_for_sync():
            self.opened.sync_tree_aside()

    @contextmanager
    def turn(self) -> Generator[None]:
        """The store is this process's alone, and the tree follows the log. Under the baton."""
        opened = self.opened
        if opened.is_closed:
            raise Reopen
        opened.lock.take()
        try:
            take_stock(opened)
            catch_up(opened)
            yield
        finally:
            opened.lock.give_back()

    def _lead(self, jobs: Sequence[FolderJob]) -> None:
        opened = self.opened
        if opened.is_closed:
            raise Reopen
        try:
            opened.lock.take()
            try:
                take_stock(opened)
                batches = self._batches
                before = opened.word.applied if opened.word is not None else 0
                batches.run(jobs)
                if opened.has_trash:
                    # What these jobs removed is for later turns: its files cost nobody's answer.
                    batches.reap(before, REAPED_A_TURN)
            finally:
                opened.lock.give_back()
        except (OSError, apsw.Error, MemorandaError, Reopen, *NONSENSE) as error:
            if jobs[0].done:
                # Committed already; what failed is the others', who will lead themselves next.
                return
            if isinstance(error, OSError):
                raise as_unavailable(error) from error
            if isinstance(error, apsw.Error):
                raise as_ours(error) from error
            if isinstance(error, (UnknownId, *NONSENSE)):
                raise damaged() from error  # no row of the root: nobody erased it
            raise

    def catch_up(self) -> None:
        """Finish what a process that died has left there."""
        try:
            with self.group.alone(), self.turn():
                pass
        except OSError as error:
            raise as_unavailable(error) from error
        except apsw.Error as error:
            raise as_ours(error) from error

    def redact(self, version_id: str, context: Context) -> Version:
        """Blank a version, and see that its bytes are gone from the disk."""
        try:
            with self.group.alone(), self.turn():
                return self._batches.redact(version_id, context)
        except OSError as error:
            raise as_unavailable(error) from error
        except FOREIGN as error:
            raise as_ours(error) from error

    def close(self) -> None:
        """Let go of the store, so that ``history.db`` alone is whole and the tree on disk.

        Never fails: what can't be done now is done by whoever opens it next.
        """
        opened = self.opened
        with self.group.alone():
            if opened.is_closed:
                return
            try:
                self._finish_up()
            except (OSError, apsw.Error, MemorandaError, Reopen, *NONSENSE):
                if self._records.are_waiting:
                    warn_of_loss()
            finally:
                opened.close()

    def _finish_up(self) -> None:
        opened = self.opened
        if opened.unsynced:
            opened.sync_tree()
        if not (opened.has_trash or opened.synced is not None or self._records.are_waiting):
            return
        with self.turn():
            self._batches.run([])
            if opened.has_trash:
                self._batches.reap(opened.log.last_seq(), REAPED_AT_CLOSING)

    def let_go(self, seconds: float) -> bool:
        """Close the database at once; the next opening does what is left to do. False, and nothing
        closed, where somebody is at work for longer than so many seconds."""
        try:
            with self.group.alone(seconds):
                self.opened.is_closed = True
                self.opened.close_database()
        except TimeoutError:
            return False
        return True
