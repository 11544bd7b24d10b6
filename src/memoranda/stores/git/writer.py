"""Writing to a store's repository: one turn at a time, threads by group commit, processes by lock.

In a turn the new objects become one pack, then the log's ref is swapped: from there on the batch
is durable and everybody sees it. The branch that people see follows at once; where its writer dies
before, the next turn moves it. Between the look at the branch and its move git's own lock of that
ref is held, so that a push comes before or after, never between.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import finalize

from memoranda.errors import Corrupt, MemorandaError, Unavailable, UnknownId
from memoranda.stores.git import adoption, batch, log, refs
from memoranda.stores.git.log import COMMITTER, LOG_REF, MAIN_REF
from memoranda.stores.git.repository import libgit2, pause
from memoranda.stores.group_commit import GroupCommit, Job
from memoranda.stores.log.records import NOTHING_TAKEN
from memoranda.stores.turnstile import LOCK, Turnstile

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from memoranda.stores.base import Change, Context, Version
    from memoranda.stores.git.log import Head
    from memoranda.stores.git.objects import Id, Objects
    from memoranda.stores.git.repository import Repository
    from memoranda.stores.log.records import Records, Taken

MOST_TRIES: Final = 32
RECENT: Final = 70
"""How far the branch may be behind the log while somebody writes: more than the jobs of a turn."""
PUSH_SECONDS: Final = 10.0
"""A push holds the lock of its ref for milliseconds; after so long its owner is taken for dead."""
PAUSE_SECONDS: Final = 0.01
TURNS: Final = "memoranda"
TIDY_EVERY: Final = 8


class ChangeJob(Job):
    """One caller's batch; without a context only the writing of what waits."""

    __slots__ = ("changes", "context", "holds", "records", "taken", "versions")

    def __init__(
        self, records: Records, changes: Sequence[Change], context: Context | None
    ) -> None:
        super().__init__()
        self.records = records
        self.changes = changes
        self.context = context
        self.holds: bytes | None = None
        """What is held from now on, as JSON; None leaves it as it is."""
        self.taken: Taken = NOTHING_TAKEN
        self.versions: Sequence[Version] = ()


class Writer:
    """The one in a process that writes to a repository; shared by all handles of its store.

    ``is_archived`` tells whether the store may still be written, and is asked within the turn.
    """

    def __init__(
        self,
        repository: Repository,
        store_id: str,
        now: Callable[[], int],
        is_archived: Callable[[], bool],
    ) -> None:
        self.repository = repository
        self._store_id = store_id
        self._now = now
        self._is_archived = is_archived
        self._group: GroupCommit[ChangeJob] = GroupCommit(self._lead)
        self._turnstile: Turnstile | None = None
        self._let_go: Callable[[], object] = _nothing
        self._head: Head | None = None
        self._making = Lock()  # guards making the turnstile
        self._pid = os.getpid()
        self._turns = 0

    # ---- reading

    def head(self) -> Head:
        """The state of the store, with what people pushed; raises ``UnknownId`` once it is erased."""
        for _ in range(MOST_TRIES):
            head = self._stored()
            main = self.repository.main()
            if main == head.main:
                return head
            if adoption.is_behind(self.repository.objects(), head, main, RECENT):
                return head
            if self._stored().commit == head.commit:
                self.settle()
        return self._stored()

    def _stored(self) -> Head:
        commit = self.repository.log()
        head = self._head
        if head is not None and head.commit == commit:
            return head
        if commit is None:
            raise self._not_there()
        try:
            head = log.read(self.repository.objects(), commit)
        except Corrupt:
            if not os.path.isdir(self.repository.path):
                raise self._not_there() from None
            raise
        if head.store_id != self._store_id:
            raise self._not_there()
        self._head = head
        return head

    def _not_there(self) -> UnknownId:
        self._head = None
        self.repository.forget()
        return UnknownId("store")

    # ---- writing

    def commit(self, job: ChangeJob) -> None:
        """Do a job, alone or with those of others; raises its error."""
        self._after_fork()
        self._group.run(job)

    def settle(self) -> None:
        """Take over what was pushed, and have the branch follow the log."""
        self._after_fork()
        with self._group.alone(), self.turn():
            self._settled(self.repository.objects())

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keep everybody else from writing; not for who leads a batch."""
        self._after_fork()
        with self._group.alone(), self.turn():
            yield

    @contextmanager
    def turn(self) -> Generator[None]:
        """Keep other processes from writing."""
        turnstile = self._opened()
        try:
            turnstile.enter()
        except OSError as error:
            raise Unavailable("The repository can't be locked.") from error
        try:
            if self._is_gone():
                raise self._not_there()
            yield
        except OSError as error:
            raise Unavailable("The repository can't be written.") from error
        finally:
            turnstile.leave()

    def close(self) -> None:
        """Let go of the lock files and of what libgit2 has open."""
        with self._making:
            self._let_go()
            self._turnstile = None
        self.repository.forget()

    def _opened(self) -> Turnstile:
        with self._making:
            if self._turnstile is None:
                try:
                    self._turnstile = Turnstile(os.path.join(self.repository.path, TURNS))
                except FileNotFoundError:
                    raise self._not_there() from None
                except OSError as error:
                    raise Unavailable("The repository can't be opened.") from error
                # Whoever opens many stores in turn would run out of descriptors.
                self._let_go = let_go = finalize(self, self._turnstile.close)
                let_go.atexit = False  # what waits is written at the end of the process, too
            return self._turnstile

    def _is_gone(self) -> bool:
        """Whether the lock is one of a repository that was erased."""
        try:
            there = os.stat(os.path.join(self.repository.path, TURNS + LOCK))
        except FileNotFoundError:
            return True
        assert self._turnstile is not None  # its lock is held
        return not self._turnstile.is_at(there)

    def _after_fork(self) -> None:
        """In the child of a fork: a lock of the parent's would be the child's as well."""
        if os.getpid() == self._pid:
            return
        self._pid = os.getpid()
        self._making = Lock()
        self._group = GroupCommit(self._lead)
        self._let_go()
        self._turnstile = None
        self.repository.forget()

    # ---- a turn

    def _lead(self, jobs: Sequence[ChangeJob]) -> None:
        try:
            with self.turn():
                self._do(jobs)
        except MemorandaError as error:
            for job in jobs:
                self._give_back(job)
                if not job.done:
                    job.error, job.done = error, True
        except BaseException:
            for job in jobs:
                self._give_back(job)
            raise
        self._turns += 1
        if self._turns % TIDY_EVERY == 0:
            self._tidy()

    def _do(self, jobs: Sequence[ChangeJob]) -> None:
        for _ in range(MOST_TRIES):
            objects = self.repository.objects()
            before = self._settled(objects)
            objects.new.clear()
            after = before
            is_archived = self._is_archived()
            for job in jobs:
                after = self._do_one(objects, after, job, is_archived=is_archived)
            if after is before or self._publish(objects, before, after):
                for job in jobs:
                    job.taken, job.done = NOTHING_TAKEN, True
                return
        raise Unavailable("The branch is being pushed to all the time.")

    def _do_one(self, objects: Objects, head: Head, job: ChangeJob, *, is_archived: bool) -> Head:
        if job.taken is NOTHING_TAKEN:
            job.taken = job.records.take()
        job.error = None
        try:
            after, job.versions = batch.run(
                objects, head, job.changes, job.context, job.taken, self._now(),
                is_archived=is_archived, holds=job.holds,
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - an edit is a caller's code; it is raised there
            job.error = error
            self._give_back(job)
            return head
        return after

    def _give_back(self, job: ChangeJob) -> None:
        if job.taken is not NOTHING_TAKEN:
            job.records.give_back(job.taken, self._now())
            job.taken = NOTHING_TAKEN

    def _publish(self, objects: Objects, before: Head, after: Head) -> bool:
        """Make the new state the store's; False if somebody pushed since it was looked at."""
        repository = self.repository
        repository.save(objects.new)
        if after.main is None or after.main == before.main:
            self._swap_log(after)
            return True
        main = self._lock_main(after.main)
        try:
            if main.present != before.main:
                main.let_go()
                return False
            self._swap_log(after)
        except BaseException:
            main.let_go()
            raise
        try:
            main.swap(is_synced=False)
        except OSError:
            return True  # it is durable by now; the next turn has the branch follow
        return True

    def _swap_log(self, after: Head) -> None:
        refs.break_lock(self.repository.path, LOG_REF)  # only who has the turn ever takes it
        refs.LockedRef(self.repository.path, LOG_REF, after.commit).swap()
        self._head = after

    def _lock_main(self, new: Id) -> refs.LockedRef:
        """Lock the branch; a lock that a dead one of us left is broken, git's own is waited for."""
        path = self.repository.path
        began = time.monotonic()
        while True:
            try:
                return refs.LockedRef(path, MAIN_REF, new)
            except FileExistsError:
                left = refs.lock_left(path, MAIN_REF)
            if left is None:
                continue
            if self._is_ours(left[0]) or time.monotonic() - began > PUSH_SECONDS:
                refs.break_lock(path, MAIN_REF)
            else:
                pause(PAUSE_SECONDS)

    def _is_ours(self, text: bytes) -> bool:
        """Whether a lock of the branch was for a commit of ours: only who has the turn takes one."""
        try:
            commit = bytes.fromhex(text.strip().decode("ascii", "replace"))
            found = self.repository.objects().read_commit(commit)
        except (ValueError, Corrupt):
            return False
        return f"\ncommitter {COMMITTER.line(0)[:-8]}" in f"\n{found.header}"

    def _settled(self, objects: Objects) -> Head:
        """The state to go on from: the branch is where the log has it."""
        for _ in range(MOST_TRIES):
            head = self._stored()
            main = self.repository.main()
            if main == head.main:
                return head
            objects.new.clear()
            if adoption.is_behind(objects, head, main, RECENT):
                if head.main is not None and self._follow(main, head.main):
                    return head
                continue
            if main is None:
                after = None
            else:
                after = adoption.adopt(objects, head, main, self._now())
            if after is None:
                if head.main is not None and self._follow(main, head.main):
                    return head
            elif self._take_over(objects, main, after):
                return after
        raise Unavailable("The branch is being pushed to all the time.")

    def _follow(self, seen: Id | None, target: Id) -> bool:
        """Move the branch to where the log has it, if it is where it was seen."""
        main = self._lock_main(target)
        if main.present != seen:
            main.let_go()
            return False
        main.swap()
        return True

    def _take_over(self, objects: Objects, seen: Id | None, after: Head) -> bool:
        assert after.main is not None  # it was pushed
        self.repository.save(objects.new)
        main = self._lock_main(after.main)
        if main.present != seen:
            main.let_go()
            return False
        self._swap_log(after)
        main.swap()
        return True

    def _tidy(self) -> None:
        """Housekeeping that no caller waits for an outcome of."""
        pygit2 = libgit2()
        try:
            self.repository.tidy()
        except (OSError, pygit2.GitError, MemorandaError):
            import logging

            logging.getLogger("memoranda").warning("Packs could not be put together.")


def _nothing() -> None:
    """There is no lock file to let go of."""
