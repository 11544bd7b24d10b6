"""The commands that one transaction of a ``SqlBackend`` does, for any of its stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from memoranda.errors import StoreExists, Unavailable, UnknownId
from memoranda.stores import control
from memoranda.stores.base import Put, StoreInfo
from memoranda.stores.group_commit import Job
from memoranda.stores.log.edit_failed import for_caller
from memoranda.stores.log.records import Records, write_into
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.log.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.base import Change, Context, Origin, Retention, Version
    from memoranda.stores.log.connection import Connection
    from memoranda.stores.log.records import Taken


class Place:
    """Where a store is, or will be once its user changes anything; shared by all its handles.

    ``id`` of a user's store that is not made yet is the one that it will get, unless another
    process makes it first.
    """

    __slots__ = ("__weakref__", "id", "made", "records", "user", "workspace")

    def __init__(self, store_id: str, workspace: str, user: str | None) -> None:
        self.id = store_id
        self.workspace = workspace
        self.user = user
        self.made: tuple[int, bytes] | None = None
        """Number and secret, once it is known to exist."""
        self.records = Records()

    def bind(self, log: StoreLog) -> None:
        """The store exists."""
        self.id = log.id
        self.made = log.number, log.secret

    def log(self, db: Connection) -> StoreLog | None:
        """The store's log on a connection; None while it is not known to exist."""
        return None if self.made is None else StoreLog(db, self.made[0], self.id, self.made[1])


class ChangeJob(Job):
    """One ``apply`` on its way through group commit; without a context it only writes what is
    buffered."""

    __slots__ = ("changes", "context", "place", "versions")

    def __init__(self, place: Place, changes: Sequence[Change], context: Context | None) -> None:
        super().__init__(sum(len(one.content) for one in changes if isinstance(one, Put)))
        self.place = place
        self.changes = changes
        self.context = context
        self.versions: tuple[Version, ...] = ()


class _Opened:
    """A store that takes part in the transaction, and the places whose records are in it."""

    __slots__ = ("is_new", "log", "taken", "turn")

    def __init__(self, log: StoreLog, turn: Turn, *, is_new: bool) -> None:
        self.log = log
        self.turn = turn
        self.is_new = is_new
        self.taken: dict[Place, Taken] = {}

    def take_records(self, place: Place) -> None:
        """Write what waits at a place."""
        taken = self.taken[place] = place.records.take()
        write_into(self.turn, taken)


class Batch:
    """Jobs that share one transaction: ``run`` inside it, ``settle`` after it."""

    def __init__(self, jobs: Sequence[ChangeJob], now_ns: int, retention: Retention) -> None:
        self._jobs = jobs
        self._now = now_ns
        self._retention = retention
        self._opened: dict[int, _Opened] = {}  # by the store's number: it may have two places
        self._failure: Exception | None = None
        self.has_changes = False

    def run(self, db: Connection) -> None:
        """Do all jobs; a refused one leaves nothing behind and the others go on."""
        places: dict[Place, _Opened] = {}
        for job in self._jobs:
            job.error = None
            try:
                opened = places.get(job.place) or self._open(db, job)
                if opened is not None:
                    places[job.place] = opened
                    if job.context is not None:
                        job.versions = opened.turn.run(job.changes, job.context)
            except apsw.Error:
                raise  # the transaction itself is in doubt
            except Exception as error:  # noqa: BLE001 - an edit is a caller's code: its error is that caller's
                job.error = for_caller(error)
        for opened in self._opened.values():
            if not opened.turn.is_idle:
                opened.turn.finish(self._retention)
                self.has_changes = True
            elif opened.is_new:
                opened.log.erase()
                control.remove(db, opened.log.id)

    def stands(self) -> bool:
        """Whether the events of the transaction are in the database."""
        return any(opened.turn.is_written for opened in self._opened.values())

    def fail(self, error: Exception) -> None:
        """The transaction failed as a whole."""
        self._failure = error

    def settle(self, *, is_done: bool) -> None:
        """Tell the jobs what became of them; those of a transaction that was interrupted stay
        open, so that the next one does them."""
        for opened in self._opened.values():
            for place, taken in opened.taken.items():
                if not is_done:
                    place.records.give_back(taken, self._now)
                elif not opened.turn.is_idle:
                    place.bind(opened.log)
        if is_done or self._failure is not None:
            for job in self._jobs:
                job.error = job.error if is_done else self._failure
                job.done = True

    def _open(self, db: Connection, job: ChangeJob) -> _Opened | None:
        """The store of a job; None if it has nothing to do there."""
        place = job.place
        row = find(db, place)
        is_new = row is None
        archived = False
        if row is not None:
            log, archived = row
        elif place.made is not None or place.user is None:
            place.records.take()  # of a store that was erased: nobody can have them
            if job.context is None:
                return None
            raise UnknownId("store")
        elif not job.changes:
            return None
        else:
            now = self._now
            info = StoreInfo(
                place.id, place.workspace, place.user, place.user,
                created_at_ns=now, updated_at_ns=now,
            )  # fmt: skip
            log = make(db, info)
        opened = self._opened.get(log.number)
        if opened is None:
            turn = Turn(log, SqlHeads(log), self._now, archived=archived)
            opened = self._opened[log.number] = _Opened(log, turn, is_new=is_new)
        opened.take_records(place)
        return opened


def find(db: Connection, place: Place) -> tuple[StoreLog, bool] | None:
    """The log of a store and whether it is archived; None if it is not there."""
    if place.made is None and place.user is not None:
        where, values = "control.workspace = ? AND control.user = ?", (place.workspace, place.user)
    else:
        where, values = "control.id = ? AND control.workspace = ?", (place.id, place.workspace)
    row = db.execute(
        "SELECT store.number, store.id, store.secret, control.archived"
        f" FROM control JOIN store ON store.id = control.id WHERE {where}",
        values,
    ).fetchone()
    return None if row is None else (StoreLog(db, *row[:3]), row[3] is not None)


def take_up(db: Connection, info: StoreInfo, origin: Origin) -> None:
    """A new store that another one's history is to come into."""
    if control.is_taken(db, info):
        raise StoreExists
    begin(make(db, info, origin.id_key), origin, info.created_at_ns)


def begin(log: StoreLog, origin: Origin, at_ns: int) -> None:
    """Write the first entry of a store that takes over a history."""
    turn = Turn(log, SqlHeads(log), at_ns, above=origin.above)
    turn.audit(origin.context, at_ns)
    turn.finish()


def make(db: Connection, info: StoreInfo, secret: bytes | None = None) -> StoreLog:
    """A new store; its number was never another's."""
    number = db.execute(
        "INSERT INTO meta VALUES('stores', 1) ON CONFLICT DO UPDATE SET v = v + 1 RETURNING v"
    ).get
    if number >= MOST_STORES:
        raise Unavailable("The database has used up its numbers for stores; begin a new one.")
    control.add(db, info)
    return StoreLog.make(db, number, info.id, info.created_at_ns, secret)


MOST_STORES = 2**27
"""A store's number and the numbers within it have to fit into 63 bits."""
