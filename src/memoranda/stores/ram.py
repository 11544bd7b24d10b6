"""The RAM backend: the same engine on an in-memory database, for tests and demos.

``memory:`` is a fresh, private database each time it is opened; ``memory:name`` is one database
for the whole process, and stays until the process ends. A forked child has a copy of its own.
"""

from __future__ import annotations

import time
from threading import RLock
from typing import TYPE_CHECKING, ClassVar

from memoranda.errors import Misuse
from memoranda.stores import control, forks
from memoranda.stores.base import Capabilities, Retention
from memoranda.stores.log import schema
from memoranda.stores.log.database import open_connection
from memoranda.stores.log.retention import DEFAULT_RETENTION
from memoranda.stores.log.sql_backend import SqlBackend
from memoranda.stores.log.sql_store import SqlStore
from memoranda.stores.log.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from memoranda.stores.log.connection import Connection

IN_RAM = Capabilities(durable=False, shared_by_processes=False, audits=True, takes_history=True)


class RamStore(SqlStore):
    """A store of a ``RamBackend``."""

    capabilities: ClassVar[Capabilities] = IN_RAM


class RamBackend(SqlBackend):
    """Stores in memory; gone when the process ends."""

    capabilities: ClassVar[Capabilities] = IN_RAM
    store_class: ClassVar[type[SqlStore]] = RamStore

    def __init__(
        self,
        name: str = "",
        *,
        clock: Callable[[], int] = time.time_ns,
        retention: Retention = DEFAULT_RETENTION,
    ) -> None:
        self._ram = _shared(name) if name else RamDatabase()
        super().__init__(self._ram, clock=clock, retention=retention)
        forks.watch(self)

    def before_fork(self, seconds: float) -> bool:
        # The baton first: who holds it waits for the database, never the other way round.
        return super().before_fork(seconds) and self._ram.hold(seconds)

    def after_fork_in_parent(self) -> None:
        self._ram.let_go()
        super().after_fork_in_parent()

    def after_fork_in_child(self, *, is_quiet: bool) -> None:
        super().after_fork_in_child(is_quiet=is_quiet)
        self._ram.after_fork(is_quiet=is_quiet)


class RamDatabase:
    """One connection to a database in memory; readers and writers take turns."""

    def __init__(self) -> None:
        self._turn = RLock()  # guards the connection
        self._holds = 0
        self._copied_at_work = False
        self._db = open_connection(":memory:")
        self._db.pragma("secure_delete", 1)
        with Transaction(self._db) as db:
            schema.create(db)
            db.execute(control.TABLES)

    def hold(self, seconds: float) -> bool:
        """Have nobody use the connection; whether that was possible within so many seconds."""
        if not self._turn.acquire(timeout=seconds):
            return False
        self._holds += 1  # several backends may share the database
        return True

    def let_go(self) -> None:
        """Let others use it again, once for each ``hold``."""
        if self._holds:
            self._holds -= 1
            self._turn.release()

    def after_fork(self, *, is_quiet: bool) -> None:
        """In the child: the copy is its own, if it was whole."""
        self._turn = RLock()  # the old one is held by a thread that is not there
        self._holds = 0
        self._copied_at_work |= not is_quiet

    def _check_whole(self) -> None:
        if self._copied_at_work:
            raise Misuse("This process was forked off amid work on the memory; it can't use it.")

    def reading(self) -> _RamReading:
        """The connection; nobody writes meanwhile."""
        self._check_whole()
        return _RamReading(self._db, self._turn)

    def writing(self) -> Transaction:
        """A transaction; nobody reads meanwhile."""
        self._check_whole()
        return _RamTransaction(self._db, self._turn)

    def scrub(self) -> None:
        """Nothing to do: freed pages are overwritten, and there is no file."""

    def close(self) -> None:
        """Nothing to do: a private database goes with its last reference."""


class _RamReading:
    """The context in which nobody else uses the connection; a class, for its speed."""

    __slots__ = ("_db", "_turn")

    def __init__(self, db: Connection, turn: RLock) -> None:
        self._db = db
        self._turn = turn

    def __enter__(self) -> Connection:
        self._turn.acquire()
        return self._db

    def __exit__(self, *_: object) -> None:
        self._turn.release()


class _RamTransaction(Transaction):
    def __init__(self, db: Connection, turn: RLock) -> None:
        super().__init__(db)
        self._turn = turn

    def __enter__(self) -> Connection:
        self._turn.acquire()
        try:
            return super().__enter__()
        except BaseException:
            self._turn.release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        finally:
            self._turn.release()


_databases: dict[str, RamDatabase] = {}


def _shared(name: str) -> RamDatabase:
    # No lock, which a fork could copy while it is held: at worst one is made in vain.
    return _databases.get(name) or _databases.setdefault(name, RamDatabase())
