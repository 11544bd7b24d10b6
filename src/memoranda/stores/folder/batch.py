"""Jobs in transactions: run, committed, and followed by the tree."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import apsw

from memoranda.errors import Conflict, Refused
from memoranda.stores.base import Put, Version
from memoranda.stores.folder.external_edits import Adoption
from memoranda.stores.folder.faults import as_unavailable

# Here, so that nothing has to be loaded between a commit and the steps that follow it.
from memoranda.stores.folder.follow import Outcome
from memoranda.stores.folder.heads import PersonWasHere, TreeHeads
from memoranda.stores.folder.jobs import FolderJob
from memoranda.stores.folder.leftovers import (
    forget_leftovers,
    keep_late,
    reap_trash,
    take_touched,
    unlink_reaped,
)
from memoranda.stores.folder.opened import OpenStore, roll_back
from memoranda.stores.folder.recovery import catch_up
from memoranda.stores.log import bodies, schema
from memoranda.stores.log.edit_failed import for_caller
from memoranda.stores.log.records import NOTHING_TAKEN, write_into
from memoranda.stores.log.redaction import redact
from memoranda.stores.log.replay import steps_of
from memoranda.stores.log.retention import DEFAULT_RETENTION
from memoranda.stores.log.turn import Turn

if TYPE_CHECKING:
    from memoranda.stores.base import Context
    from memoranda.stores.log.records import Records
    from memoranda.stores.log.replay import TreeStep

MOST_RUNS: Final = 5
"""How often a command runs again because a person was faster."""

Done: TypeAlias = tuple[FolderJob, Exception | None]
"""A job that was run, and why it was refused."""


class _Postponed(Exception):
    """The job has to wait for a transaction of its own: people's work has to be taken in first."""


class Batches:
    """Does jobs on an open store, within a turn."""

    def __init__(self, opened: OpenStore, records: Records) -> None:
        self.opened = opened
        self._records = records

    def run(self, jobs: Sequence[FolderJob]) -> None:
        """Do jobs, in as few transactions as may be, and write what waits in memory."""
        waiting = self._transaction(list(jobs), with_records=True)
        while waiting:
            # Without what was noted meanwhile: a job that needs a transaction of its own gets it.
            waiting = self._transaction(waiting, with_records=False)

    def _transaction(self, jobs: list[FolderJob], *, with_records: bool) -> list[FolderJob]:
        """Write records and do jobs, up to one that needs a transaction of its own; gives back
        those to do next."""
        opened, now = self.opened, self.opened.clock.monotonic()
        db = opened.db
        touched = take_touched(opened, now)
        records, since = NOTHING_TAKEN, opened.clock.now_ns()
        if with_records:
            records = self._records.take()
        committed = False
        heads = opened.heads()
        try:
            db.execute("BEGIN IMMEDIATE")
            remembered, opened.remembered = opened.remembered, None
            if remembered is None or not remembered.holds(opened.log):
                schema.check_still_ours(db)  # else nobody wrote since, so nobody changed it
            turn = Turn(opened.log, heads, since, archived=opened.archived, remembered=remembered)
            before = turn.last_seq
            if opened.lags or opened.word is None or before > opened.word.applied:
                db.execute("ROLLBACK")
                catch_up(opened)
                db.execute("BEGIN IMMEDIATE")
                heads = opened.heads()
                turn = Turn(opened.log, heads, since, archived=opened.archived)
                before = turn.last_seq
            for each in touched:
                keep_late(turn, each)
            write_into(turn, records)
            done, rest = self._run_all(turn, heads, jobs)
            if turn.is_idle and opened.synced is None:
                db.execute("ROLLBACK")
                opened.remembered = turn.remember()
                self._settle(done)
                return rest
            turn.finish(DEFAULT_RETENTION, opened.durable)
            opened.note_durable()
            self._commit(before)
            committed = True
            opened.remembered = turn.remember()
        finally:
            opened.lingering.settled(touched, now)
            if not committed:
                roll_back(db)
                heads.forget()
                self._records.give_back(records, since)
        again: list[FolderJob] = []
        try:
            # Where nothing moved, what was written tells all that there is to do.
            moves_things = any(job.moves_things for job, error in done if error is None)
            steps = steps_of(turn, before) if moves_things else heads.steps(turn)
            outcome = self._follow(before, turn, heads, steps)
            again = self._overtaken(turn, done, outcome)
        finally:
            # They are committed, whatever interrupts us: nobody may do them a second time.
            self._settle([(job, error) for job, error in done if job not in again])
        return again + rest

    def _commit(self, before: int) -> None:
        """The durable point. What goes wrong right after it (SQLite cuts the write-ahead log to size)
        comes out of the same call, though the commit stands."""
        opened, db = self.opened, self.opened.db
        opened.announce_commit()
        try:
            db.execute("COMMIT")
        except apsw.Error:
            if db.in_transaction or opened.log.last_seq() <= before:
                opened.withdraw_commit()
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
                error = for_caller(refusal)
            done.append((job, error))
            if job.moves_things and error is None:
                return done, jobs[index + 1 :]
        return done, []

    def _run_one(self, turn: Turn, heads: TreeHeads, job: FolderJob) -> None:
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
        return Adoption(turn, heads, self.opened.clock, self.opened.lag)

    @staticmethod
    def _settle(done: list[Done]) -> None:
        for job, error in done:
            job.error = job.error or error
            job.done = True

    # ---- redaction

    def redact(self, version_id: str, context: Context) -> Version:
        """Blank a version, and see that its bytes are gone from the disk."""
        opened = self.opened
        self.run([])
        now = opened.clock.now_ns()
        with opened.transaction():
            version, is_new = redact(opened.log, opened.heads(), version_id, context, now)
        if is_new:
            opened.set_applied(opened.log.last_seq())
            forget_leftovers(opened)
            opened.scrub()
        return version

    # ---- removed directories

    def reap(self, upto: int, most: int) -> None:
        """Compare and unlink some files of directories that were removed by event ``upto`` or
        before."""
        opened = self.opened
        heads = opened.heads()
        with opened.transaction():
            turn = Turn(opened.log, heads, opened.clock.now_ns())
            before = turn.last_seq
            reaped = reap_trash(opened, turn, upto, most)
            if not turn.is_idle:
                turn.finish()
        self._follow(before, turn, heads, [])
        opened.has_trash = unlink_reaped(opened, reaped)

    # ---- after the commit

    def _follow(self, before: int, turn: Turn, heads: TreeHeads, steps: list[TreeStep]) -> Outcome:
        """Bring the tree from event ``before`` to the turn's newest one."""
        opened = self.opened
        outcome = opened.follow(steps, before, verified=heads.verified, waiting=heads.written)
        if outcome.lags:
            opened.keep_lags([*opened.lags, *outcome.lags])
        opened.set_applied(turn.last_seq)
        opened.unsynced += len(steps)
        return outcome

    def _overtaken(self, turn: Turn, done: list[Done], outcome: Outcome) -> list[FolderJob]:
        """The jobs that have to run again on top of what people saved meanwhile."""
        again: list[FolderJob] = []
        if not outcome.overtaken:
            return again
        for job, error in done:
            versions = job.versions if error is None else ()
            mine = [each for each in versions if turn.node_of(each) in outcome.overtaken]
            if not mine:
                continue
            if len(job.changes) > 1:
                self._put_on_top(job, mine)
            again.append(job)
        return again

    def _put_on_top(self, job: FolderJob, mine: list[Version]) -> None:
        """A batch is not run again: its texts go on top of theirs, and its answer stays."""
        log, versions = self.opened.log, job.versions
        puts = [
            Put(version.path, bodies.content(log, log.base + version.seq))
            for version in mine
            if version.path is not None and version.size_bytes is not None
        ]
        context = job.context

        def work(turn: Turn) -> tuple[Version, ...]:
            with suppress(Refused):  # they made a directory of it
                turn.run(puts, context)
            return versions

        job.changes, job.work, job.moves_things = puts, work, False
        job.looks = tuple((put.path, False) for put in puts)
