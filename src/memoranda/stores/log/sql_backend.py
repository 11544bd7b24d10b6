"""The backend of RAM and SQLite: many stores in one database.

A ``Database`` (a port; ``ram.py`` and ``sqlite.py`` have one each) knows how to get at a
connection; this knows what to do with it.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, ClassVar, TypeVar
from weakref import WeakValueDictionary

import apsw

from memoranda.errors import Corrupt, Held, MemorandaError, Misuse, Unavailable, UnknownId
from memoranda.stores import control
from memoranda.stores.base import Report, StorePage
from memoranda.stores.companions import erase_proposals
from memoranda.stores.controlled import ControlledBackend
from memoranda.stores.group_commit import GroupCommit
from memoranda.stores.log import check, holds
from memoranda.stores.log.database import FOREIGN, as_ours
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.records import Records, warn_of_loss
from memoranda.stores.log.redaction import redact
from memoranda.stores.log.retention import DEFAULT_RETENTION
from memoranda.stores.log.sql_batch import Batch, ChangeJob, Place, find, make, take_up
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.sql_store import SqlStore
from memoranda.stores.log.turn import Turn
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from memoranda.stores.base import Context, Origin, Retention, StoreInfo, Version
    from memoranda.stores.log.connection import Connection
    from memoranda.stores.log.transaction import Database, Transaction

T = TypeVar("T")


class SqlBackend(ControlledBackend):
    """Stores in one database. Safe to use from many threads at once.

    ``clock`` gives nanoseconds since 1970; ``retention`` says how much history stays.
    """

    store_class: ClassVar[type[SqlStore]] = SqlStore

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], int] = time.time_ns,
        retention: Retention = DEFAULT_RETENTION,
    ) -> None:
        self.database = database
        self._retention = retention
        self.now = clock
        self.is_closed = False
        self._places: WeakValueDictionary[tuple[str, str], Place] = WeakValueDictionary()
        self._waiting: set[Place] = set()
        self._group: GroupCommit[ChangeJob] = GroupCommit(self._lead)
        self._held = ExitStack()

    # ---- stores

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> SqlStore:
        tenant = check_tenant(user, workspace)
        self._check_open()
        key = (tenant.workspace, tenant.user)
        place = self._places.get(key)
        if place is not None and not self._is_there(place):
            self._places.pop(key, None)
            place = None
        if place is None:
            place = Place(new_store_id(self.now()), *key)
            place = self._places.setdefault(key, place)
        return self.store_class(self, place)

    def _is_there(self, place: Place) -> bool:
        """Whether a place is still good: not that of a store that was made and then erased."""
        if place.made is None:
            return True
        with self.looking() as db:
            return db is not None and find(db, place) is not None

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> SqlStore:
        info = await self.info(store_id, workspace)
        place = Place(info.id, info.workspace, None)
        return self.store_class(self, self._places.setdefault((workspace, store_id), place))

    def _make(self, info: StoreInfo) -> None:
        with self.changing() as db:
            make(db, info)

    async def take_up(self, info: StoreInfo, origin: Origin) -> SqlStore:
        with self.changing() as db:
            take_up(db, info._replace(archived_at_ns=None), origin)
        return await self.open(info.id, info.workspace)

    async def workspaces(self) -> tuple[str, ...]:
        with self.looking() as db:
            return () if db is None else control.workspaces(db)

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        tenant = check_tenant(user, workspace)
        with self.looking() as db:
            return None if db is None else control.of_user(db, tenant.user, tenant.workspace)

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        with self.looking() as db:
            if db is None:
                raise UnknownId("store")
            return control.get(db, store_id, workspace)

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        with self.looking() as db:
            if db is None:
                return StorePage((), None)
            return control.page(db, workspace, after, limit, include_archived=include_archived)

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        await self.info(store_id, workspace)
        with self.changing() as db:
            return control.archive(db, store_id, workspace, self.now())

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        info = await self.info(store_id, workspace)
        with self.changing() as db:
            control.get(db, store_id, workspace)
            found = find(db, Place(store_id, workspace, None))
            if found is not None:
                if holds.of_store(found[0]):
                    raise Held
                found[0].erase()
            control.remove(db, store_id)
            control.audit(db, store_id, context, self.now())
        self._scrub()
        await erase_proposals(self, info, context)

    async def close(self) -> None:
        if self.is_closed:
            return
        try:
            for place in tuple(self._waiting):
                try:
                    self.flush(place)
                except (
                    Unavailable,
                    Corrupt,
                ):  # changes are written long since: only entries of views wait
                    warn_of_loss()
        finally:
            self.is_closed = True
            with self._group.alone():
                self.database.close()

    # ---- what its stores use

    def commit(self, job: ChangeJob) -> None:
        """Do a job, alone or with those of others; raises its error."""
        self._waiting.discard(job.place)
        try:
            self._group.run(job)
        finally:
            # Given back, or noted by another thread after the job had taken what there was.
            if job.place.records.are_waiting:
                self._waiting.add(job.place)

    def wait(self, place: Place, *, is_due: bool) -> None:
        """Records wait at a place: write them if it is time. What was noted of a store that is not
        made yet has nowhere to be kept."""
        self._waiting.add(place)
        if is_due:
            if place.made is None:
                place.records.take()
            else:
                self.flush(place)

    def flush_if_due(self, place: Place) -> None:
        """Write records that have waited long enough."""
        if place.made is not None and place.records.are_due(self.now()):
            self.flush(place)

    def flush(self, place: Place) -> None:
        """Write what waits for a store; a store that was never made has nothing to keep."""
        if place.records.are_waiting:
            self.commit(ChangeJob(place, (), None))

    def redact(self, place: Place, version_id: str, context: Context) -> Version:
        """See ``Store.redact``."""
        with self.changing() as db:
            found = find(db, place)
            if found is None:
                raise UnknownId("version")
            log = found[0]
            version, _ = redact(log, SqlHeads(log), version_id, context, self.now())
        self._scrub()  # also if it was blanked before: then that one's may have failed
        return version

    def in_turn(self, place: Place, work: Callable[[Turn], T]) -> T:
        """Do work on a store in a transaction that no batch shares."""
        with self.changing() as db:
            found = find(db, place)
            if found is None:
                raise UnknownId("store")
            turn = Turn(found[0], SqlHeads(found[0]), self.now())
            done = work(turn)
            turn.finish()
        return done

    def check(self) -> Report:
        """What the database says of itself, whatever stores are in it."""
        with self.looking() as db:
            return Report((), (), 0, 0) if db is None else check.database(db)

    # ---- the database

    def _now_ns(self) -> int:
        return self.now()

    def before_fork(self, seconds: float) -> bool:
        """See ``forks.Watched``: wait until nobody writes, and let nobody begin."""
        try:
            self._held.enter_context(self._group.alone(seconds))
        except TimeoutError:
            return False
        return True

    def after_fork_in_parent(self) -> None:
        """Let writers go on."""
        self._held.close()

    def after_fork_in_child(self, *, is_quiet: bool) -> None:
        """Nothing of what the parent's threads held is held by anybody."""
        del is_quiet  # what is in memory is whole, or nobody's any more
        self._held.pop_all()
        self._group = GroupCommit(self._lead)
        for place in tuple(self._places.values()):
            place.records = Records()  # what waits is the parent's to write

    def _lead(self, jobs: Sequence[ChangeJob]) -> None:
        batch = Batch(jobs, self.now(), self._retention)
        transaction: Transaction | None = None
        try:
            self._check_open()  # else the database would open anew, and nobody closed it
            transaction = self.database.writing()
            transaction.stands = batch.stands
            with transaction as db:
                batch.run(db)
                transaction.wanted = batch.has_changes
        except FOREIGN as error:
            ours = as_ours(error)
            ours.__cause__ = error
            batch.fail(ours)
        except MemorandaError as error:
            batch.fail(error)
        finally:
            batch.settle(is_done=transaction is not None and transaction.is_done)

    def _check_open(self) -> None:
        if self.is_closed:
            raise Misuse("The backend is closed.")

    @contextmanager
    def looking(self) -> Generator[Connection | None]:
        """The database as one reader sees it; None while nothing was ever written."""
        self._check_open()
        try:
            with self.database.reading() as db:
                yield db
        except FOREIGN as error:
            raise as_ours(error) from error

    @contextmanager
    def changing(self) -> Generator[Connection]:
        """A transaction that no batch shares."""
        self._check_open()
        try:
            with self._group.alone(), self.database.writing() as db:
                yield db
        except FOREIGN as error:
            raise as_ours(error) from error

    def _scrub(self) -> None:
        try:
            with self._group.alone():
                self.database.scrub()
        except apsw.Error as error:
            raise as_ours(error) from error
