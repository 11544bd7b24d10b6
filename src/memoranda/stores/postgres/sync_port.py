"""The port that blocks, on psycopg's connections: its coroutines never suspend."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, TypeVar

import psycopg
import psycopg_pool

from memoranda.after_fork import renew
from memoranda.errors import Misuse, Unavailable
from memoranda.stores.patience import Lost
from memoranda.stores.postgres import address
from memoranda.stores.postgres.faults import translated
from memoranda.stores.postgres.port import COMMIT, ROLLBACK, Port, Row, Values, begin

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import LiteralString

    from memoranda.stores.postgres.address import Address

T = TypeVar("T")


class SyncPort(Port):
    """Connections of psycopg's in psycopg's pool; both are made when they are needed."""

    suspends: ClassVar[bool] = False

    def __init__(self, where: Address) -> None:
        self._where = where
        self._opening = Lock()  # guards the two below
        self._pool: psycopg_pool.ConnectionPool | None = None
        self._pid = 0
        self._is_closed = False
        renew(self)

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``; the pool is told by the process that made it."""
        self._opening = Lock()

    async def run(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        with self._lent() as connection:
            return _run(connection, statement, values)

    async def transact(
        self,
        work: Callable[[_Session], Awaitable[T]],
        store: int | None = None,
        *,
        snapshot: bool = False,
    ) -> T:
        with self._lent() as connection:
            _run(connection, begin(store, snapshot=snapshot), ())
            try:
                result = await work(_Session(connection))
            except BaseException:
                if not connection.broken:
                    _run(connection, ROLLBACK, ())
                raise
            _run(connection, COMMIT, ())
            return result

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - this colour blocks

    async def close(self) -> None:
        with self._opening:
            self._is_closed = True
            pool, self._pool = self._pool, None
        if pool is not None and self._pid == os.getpid():
            pool.close()

    @contextmanager
    def _lent(self) -> Generator[psycopg.Connection]:
        """A connection out of the pool; one that broke, or is amid something, is closed."""
        pool = self._opened()
        try:
            connection = pool.getconn()
        except psycopg_pool.PoolTimeout as error:
            raise Lost("The database can't be reached, or all connections are busy.") from error
        except psycopg.Error as error:
            raise Lost("The database can't be reached.") from error
        try:
            yield connection
        except Lost:
            # Those beside it most likely went the same way; each would cost a caller a failure.
            pool.putconn(connection)
            pool.drain()
            raise
        except BaseException:
            pool.putconn(connection)
            raise
        pool.putconn(connection)

    def _opened(self) -> psycopg_pool.ConnectionPool:
        pool = self._pool
        if pool is not None and self._pid == os.getpid():
            return pool
        with self._opening:
            if self._is_closed:
                raise Misuse("The backend is closed.")
            if self._pool is None or self._pid != os.getpid():
                # After a fork the parent's pool is the parent's: its threads are not here.
                self._pid = os.getpid()
                self._pool = psycopg_pool.ConnectionPool(
                    self._where.conninfo,
                    min_size=0,
                    max_size=self._where.pool_size,
                    kwargs={"autocommit": True, "prepare_threshold": None},
                    timeout=address.CONNECTION_SECONDS,
                    reconnect_timeout=address.CONNECTION_SECONDS,
                    open=True,
                    name="memoranda",
                )
            return self._pool


class _Session:
    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    async def run(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        return _run(self._connection, statement, values)


def _run(
    connection: psycopg.Connection, statement: LiteralString | bytes, values: Values
) -> list[Row]:
    try:
        cursor = connection.execute(statement, values or None, binary=bool(values))
        return cursor.fetchall() if cursor.description else []
    except psycopg.Error as error:
        raise translated(error, is_broken=connection.broken) from error
    except UnicodeEncodeError as error:
        raise Unavailable("A text that is no Unicode can't be stored.") from error
