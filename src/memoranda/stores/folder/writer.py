"""Changing a store: jobs queue, whoever leads does what waits in one transaction and one turn.

A turn: take the lock, catch up with what others left, run the jobs in a transaction, commit (the
durable point), bring the tree to where the log is, say so in the lock file, let the next one in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import apsw

from memoranda.errors import Conflict, MemorandaError, Refused
from memoranda.path import MemoryPath
from memoranda.stores.base import Change, Context, Edit, Move, Put, Remove, Version
from memoranda.stores.folder.faults import as_unavailable
from memoranda.stores.folder.opened import OpenStore, Reopen, roll_back
from memoranda.stores.folder.recovery import catch_up
from memoranda.stores.group_commit import GroupCommit, Job
from memoranda.stores.log.database import as_ours
from memoranda.stores.log.records import Records, write_into

if TYPE_CHECKING:
    from memoranda.stores.folder.external_edits import Adoption
    from memoranda.stores.folder.follow import Outcome
    from memoranda.stores.folder.heads import TreeHeads
    from memoranda.stores.log.turn import Turn

MOST_RUNS: Final = 5
"""How often a command runs again because a person was faster."""

Work: TypeAlias = "Callable[[Turn], tuple[Version, ...]]"

REAPED_A_TURN: Final = 32
"""How many files of removed directories a turn unlinks: about half a millisecond."""

REAPED_AT_CLOSING: Final = 2000

_JOB_BYTES: Final = 200
"""What a job writes beside its contents, about."""


class FolderJob(Job):
    """One caller's work. ``work`` runs in a turn, after the tree was compared with the log at the
    paths ``looks`` (each with whether the work reads the content there)."""

    __slots__ = ("adopts_all", "changes", "context", "looks", "runs", "versions", "work")

    def __init__(
        self,
        work: Work,
        *,
        looks: tuple[tuple[MemoryPath, bool], ...] = (),
        adopts_all: bool = False,
        size_bytes: int = 0,
    ) -> None:
        super().__init__(_JOB_BYTES + size_bytes)
        self.work = work
        self.looks = looks
        self.adopts_all = adopts_all
        self.changes: Sequence[Change] = ()
        self.context = Context()
        self.runs = 0
        self.versions: tuple[Version, ...] = ()

    @classmethod
    def applying(cls, changes: Sequence[Change], context: Context) -> FolderJob:
        """The job of ``Store.apply``."""
        looks: list[tuple[MemoryPath, bool]] = []
        for change in changes:
            if isinstance(change, Move):
                looks += [(change.source, False), (change.target, False)]
            else:
                looks.append((change.path, isinstance(change, Edit)))
        size = sum(len(change.content) for change in changes if isinstance(change, Put))
        job = cls(lambda turn: turn.run(changes, context), looks=tuple(looks), size_bytes=size)
        job.changes = changes
        job.context = context
        return job

    @property
    def moves_things(self) -> bool:
        """Whether places mean something else after it."""
        return any(isinstance(change, Move | Remove) for change in self.changes)


def nothing(_: Turn) -> tuple[Version, ...]:
    """The work of a job that only looks."""
    return ()


Done: TypeAlias = tuple[FolderJob, Exception | None]
"""A job that was run, and why it was refused."""


class _Postponed(Exception):
    """The job has to wait for a transaction of its own: people's work has to be taken in first."""


class Writer:
    """The only way to change an open store. Its baton also guards the connection."""

    def __init__(self, opened: OpenStore, records: Records) -> None:
        self.opened = opened
        self.group: GroupCommit[FolderJob] = GroupCommit(self._lead)
        self._records = records

    def run(self, job: FolderJob) -> None:
        """Have a job done; raises what it raises."""
        self.group.run(job)
        if self.opened.is_due_for_sync():
            self.opened.sync_tree()

    # ---- a turn

    @contextmanager
    def turn(self) -> Generator[None]:
        """The store is this process's alone, and the tree follows the log. Under the baton."""
        opened = self.opened
        if opened.is_closed:
            raise Reopen
        opened.lock.take()
        try:
            catch_up(opened)
            yield
        finally:
            opened.lock.give_back()

    def write_waiting(self) -> None:
        """Write what waits in memory. Under the baton, in a turn."""
        self._transaction([])

    def redact(self, version_id: str, context: Context) -> Version:
        """Blank a version, and see that its bytes are gone from the disk."""
        from memoranda.stores.folder.leftovers import forget_leftovers
        from memoranda.stores.log import redaction
        from memoranda.stores.log.turn import Turn

        opened = self.opened
        try:
            with self.group.alone(), self.turn():
                self.write_waiting()
                now = opened.clock.now_ns()
                with opened.transaction():
                    version, changed = redaction.redact(opened.log, version_id, context.actor, now)
                    if changed:
                        turn = Turn(opened.log, opened.heads(), now)
                        turn.audit(context, now)
                        turn.finish()
                if changed:
                    opened.set_applied(opened.log.last_seq())
                    forget_leftovers(opened)
                    opened.scrub()
        except OSError as error:
            raise as_unavailable(error) from error
        except apsw.Error as error:
            raise as_ours(error) from error
        return version

    def close(self) -> None:
        """Let go of the store, so that ``history.db`` alone is whole and the tree on disk.

        Never fails: what can't be done now is done by whoever opens it next.
        """
        opened = self.opened
        with self.group.alone():
            if opened.is_closed:
                return
            try:
                if opened.unsynced:
                    opened.sync_tree()
                with self.turn():
                    self.write_waiting()
                    if opened.has_trash:
                        self._reap(REAPED_AT_CLOSING)
            except (OSError, apsw.Error, MemorandaError, Reopen):
                pass
            finally:
                opened.close()

    def let_go(self) -> None:
        """Close the database at once; the next opening does what is left to do."""
        with self.group.alone():
            self.opened.is_closed = True
            self.opened.close_database()

    def _lead(self, jobs: Sequence[FolderJob]) -> None:
        try:
            with self.turn():
                waiting = list(jobs)
                while waiting:
                    waiting = self._transaction(waiting)
                if self.opened.has_trash:
                    self._reap(REAPED_A_TURN)
        except (OSError, apsw.Error, MemorandaError, Reopen) as error:
            if jobs[0].done:
                # Committed already; what failed is the others', who will lead themselves next.
                return
            if isinstance(error, OSError):
                raise as_unavailable(error) from error
            if isinstance(error, apsw.Error):
                raise as_ours(error) from error
            raise

    def _transaction(self, jobs: list[FolderJob]) -> list[FolderJob]:
        """Do jobs up to one that needs a transaction of its own; gives back those to do next."""
        from memoranda.stores.folder.leftovers import keep_late, take_touched
        from memoranda.stores.log.retention import DEFAULT_RETENTION
        from memoranda.stores.log.turn import Turn

        opened, now = self.opened, self.opened.clock.monotonic()
        db = opened.db
        touched = take_touched(opened)
        records, since = self._records.take(), opened.clock.now_ns()
        committed = False
        heads = opened.heads()
        try:
            db.execute("BEGIN IMMEDIATE")
            turn = Turn(opened.log, heads, since, archived=opened.archived)
            before = turn.tree.next_number - 1
            for each in touched:
                keep_late(turn, each)
            done, rest = self._run_all(turn, heads, jobs)
            write_into(turn, records)
            if turn.is_idle and opened.synced is None:
                db.execute("ROLLBACK")
                self._settle(done)
                return rest
            turn.finish(DEFAULT_RETENTION, opened.durable)
            opened.note_durable()
            self._commit(before)
            committed = True
        finally:
            opened.lingering.settled(touched, now)
            if not committed:
                roll_back(db)
                heads.forget()
                self._records.give_back(records, since)
        again: list[FolderJob] = []
        try:
            outcome = self._follow(before, heads)
            again = self._overtaken(done, outcome)
        finally:
            # They are committed, whatever interrupts us: nobody may do them a second time.
            self._settle([(job, error) for job, error in done if job not in again])
        return again + rest

    def _commit(self, before: int) -> None:
        """The durable point. What goes wrong right after it (SQLite cuts the write-ahead log to size)
        comes out of the same call, though the commit stands."""
        db = self.opened.db
        try:
            db.execute("COMMIT")
        except apsw.Error:
            if db.in_transaction or self.opened.log.last_seq() <= before:
                raise

    def _run_all(
        self, turn: Turn, heads: TreeHeads, jobs: list[FolderJob]
    ) -> tuple[list[Done], list[FolderJob]]:
        done: list[Done] = []
        for index, job in enumerate(jobs):
            error: Exception | None = None
            try:
                self._run_one(turn, heads, job)
            except _Postponed:
                return done, jobs[index:]
            except apsw.Error:
                raise  # the transaction itself is in doubt
            except OSError as fault:
                error = as_unavailable(fault)
                error.__cause__ = fault
            except Exception as refusal:  # noqa: BLE001 - an edit is its caller's code
                error = refusal
            done.append((job, error))
            if job.moves_things and error is None:
                return done, jobs[index + 1 :]
        return done, []

    def _run_one(self, turn: Turn, heads: TreeHeads, job: FolderJob) -> None:
        from memoranda.stores.folder.heads import PersonWasHere

        if job.adopts_all:
            if not turn.is_idle:
                raise _Postponed
            self._adoption(turn, heads).scan()
        while True:
            try:
                for path, reads in job.looks:
                    heads.look(turn, path, reads=reads)
                job.versions = job.work(turn)
            except PersonWasHere as found:
                job.runs += 1
                if job.runs > MOST_RUNS:
                    raise Conflict("The file keeps changing.") from found
                if not turn.is_idle:
                    raise _Postponed from found
                self._adoption(turn, heads).adopt(found.place)
                if job.moves_things and not turn.is_idle:
                    # What was adopted lies in the tree: it has to be in the log before it goes.
                    raise _Postponed from found
            else:
                break
        for path, _ in job.looks:
            heads.note(path)

    def _adoption(self, turn: Turn, heads: TreeHeads) -> Adoption:
        from memoranda.stores.folder.external_edits import Adoption

        return Adoption(turn, heads, self.opened.clock, self.opened.lag)

    @staticmethod
    def _settle(done: list[Done]) -> None:
        for job, error in done:
            job.error = job.error or error
            job.done = True

    # ---- removed directories

    def _reap(self, most: int) -> None:
        """Compare and unlink some files of removed directories."""
        from memoranda.stores.folder.leftovers import reap_trash, unlink_reaped
        from memoranda.stores.log.turn import Turn

        opened = self.opened
        heads = opened.heads()
        with opened.transaction():
            turn = Turn(opened.log, heads, opened.clock.now_ns())
            before = turn.tree.next_number - 1
            reaped = reap_trash(opened, turn, most)
            if not turn.is_idle:
                turn.finish()
        self._follow(before, heads)
        opened.has_trash = unlink_reaped(opened, reaped)

    # ---- after the commit

    def _follow(self, before: int, heads: TreeHeads) -> Outcome:
        from memoranda.stores.log.replay import tree_events

        opened = self.opened
        steps = list(tree_events(opened.log, before))
        outcome = opened.follower(before, heads.verified, heads.written).follow(steps)
        if outcome.lags:
            opened.keep_lags([*opened.lags, *outcome.lags])
        opened.set_applied(opened.log.last_seq())
        opened.unsynced += len(steps)
        return outcome

    def _overtaken(self, done: list[Done], outcome: Outcome) -> list[FolderJob]:
        """The jobs that have to run again on top of what people saved meanwhile."""
        again: list[FolderJob] = []
        if not outcome.overtaken:
            return again
        for job, error in done:
            versions = job.versions if error is None else ()
            mine = [each for each in versions if self._node_of(each) in outcome.overtaken]
            if not mine:
                continue
            if len(job.changes) > 1:
                self._put_on_top(job, mine)
            again.append(job)
        return again

    def _node_of(self, version: Version) -> int | None:
        from memoranda.stores.log import ids

        return ids.node_of(self.opened.log, version.memory_id)

    def _put_on_top(self, job: FolderJob, mine: list[Version]) -> None:
        """A batch is not run again: its texts go on top of theirs, and its answer stays."""
        from memoranda.stores.log import bodies

        log, versions = self.opened.log, job.versions
        puts = [
            Put(version.path, bodies.content(log, log.base + version.seq))
            for version in mine
            if version.path is not None and version.size_bytes is not None
        ]
        context = job.context

        def work(turn: Turn) -> tuple[Version, ...]:
            with contextlib.suppress(Refused):  # they made a directory of it
                turn.run(puts, context)
            return versions

        job.changes, job.work = puts, work
        job.looks = tuple((put.path, False) for put in puts)
