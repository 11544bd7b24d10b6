"""A store of RAM or SQLite: everything, contents too, lies in one database."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from memoranda.errors import Corrupt, Misuse
from memoranda.stores.base import Capabilities, Report
from memoranda.stores.log import check
from memoranda.stores.log.database import FOREIGN, as_ours
from memoranda.stores.log.log_store import LogStore
from memoranda.stores.log.sql_batch import ChangeJob, find
from memoranda.stores.log.sql_heads import SqlHeads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Context, Version
    from memoranda.stores.log.sql_backend import SqlBackend
    from memoranda.stores.log.sql_batch import Place
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.turn import Turn

T = TypeVar("T")


class SqlStore(LogStore):
    """A handle on one store of a ``SqlBackend``."""

    capabilities: ClassVar[Capabilities] = Capabilities(audits=True, takes_history=True)

    def __init__(self, backend: SqlBackend, place: Place) -> None:
        self._backend = backend
        self._place = place
        self._closed = False

    @property
    def id(self) -> str:
        """The store's id. A user's store that nobody has made yet has the one that it will get
        unless another process makes it first."""
        if self._place.made is None and not (self._closed or self._backend.is_closed):
            with self._reading():
                pass
        return self._place.id

    def _reading(self) -> _Reading:
        return _Reading(self._open(), self._place)

    def _open(self) -> SqlBackend:
        """The backend, if neither it nor the store is closed."""
        if self._closed or self._backend.is_closed:
            raise Misuse("The store is closed.")
        return self._backend

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        job = ChangeJob(self._place, changes, context)
        self._open().commit(job)
        return job.versions

    async def record(self, context: Context) -> None:
        backend = self._open()
        is_due = self._place.records.note(context, backend.now())
        backend.wait(self._place, is_due=is_due)

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        backend = self._open()
        records, now = self._place.records, backend.now()
        records.use(paths, at_ns, now)
        backend.wait(self._place, is_due=records.are_due(now))

    async def flush(self) -> None:
        self._open().flush(self._place)

    def _in_turn(self, work: Callable[[Turn], T]) -> T:
        return self._open().in_turn(self._place, work)

    async def redact(self, version_id: str, context: Context) -> Version:
        return self._open().redact(self._place, version_id, context)

    async def verify(self) -> Report:
        try:
            with self._reading() as log:
                if log is not None:
                    return check.Check(log, SqlHeads(log).read).run()
            return self._backend.check()  # nothing was written yet, or damage hides that it was
        except Corrupt as error:  # it can't even be opened
            return check.unreadable(error)

    async def close(self) -> None:
        try:
            if not (self._closed or self._backend.is_closed):
                self._backend.flush(self._place)
        finally:
            self._closed = True


class _Reading:
    """One store's log on a reading connection, for as long as the context is open."""

    __slots__ = ("_backend", "_connected", "_place")

    def __init__(self, backend: SqlBackend, place: Place) -> None:
        self._backend = backend
        self._place = place
        self._connected = backend.database.reading()

    def __enter__(self) -> StoreLog | None:
        place = self._place
        if place.records.are_waiting:
            self._backend.flush_if_due(place)
        try:
            db = self._connected.__enter__()
            if db is None:
                return None
            if place.made is None:
                found = find(db, place)
                if found is None:
                    return None  # whoever makes it meanwhile: this connection sees what was before
                place.bind(found[0])
            return place.log(db)
        except FOREIGN as error:
            raise as_ours(error) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._connected.__exit__(kind, error, trace)
        except FOREIGN as raised:  # the one that came, or one of letting go
            raise as_ours(raised) from raised
        if isinstance(error, FOREIGN):
            raise as_ours(error) from error
