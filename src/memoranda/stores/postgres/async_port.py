"""The port on an event loop, on psycopg's asynchronous connections."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import psycopg
import psycopg_pool

from memoranda.errors import Misuse, Unavailable
from memoranda.stores.patience import Lost
from memoranda.stores.postgres import address
from memoranda.stores.postgres.faults import translated
from memoranda.stores.postgres.port import COMMIT, ROLLBACK, Port, Row, Values, begin

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import LiteralString

    from memoranda.stores.postgres.address import Address

T = TypeVar("T")


class AsyncPort(Port):
    """Asynchronous connections in psycopg's pool, one pool for each event loop that comes.

    A loop that ended leaves its pool behind: its sockets are closed when it is forgotten, with the
    next loop that comes.
    """

    suspends: ClassVar[bool] = True

    def __init__(self, where: Address) -> None:
        self._where = where
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}
        self._is_closed = False

    async def run(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        async with self._lent() as connection:
            return await _run(connection, statement, values)

    async def transact(
        self,
        work: Callable[[_Session], Awaitable[T]],
        store: int | None = None,
        *,
        snapshot: bool = False,
    ) -> T:
        async with self._lent() as connection:
            await _run(connection, begin(store, snapshot=snapshot), ())
            try:
                result = await work(_Session(connection))
            except Exception:  # raised again; a cancelled task's transaction is the pool's to end
                if not connection.broken:
                    await _run(connection, ROLLBACK, ())
                raise
            await _run(connection, COMMIT, ())
            return result

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        self._is_closed = True
        own = self._pools.pop(asyncio.get_running_loop(), None)
        self._pools.clear()
        if own is not None and own.pid == os.getpid():
            await own.pool.close()

    @asynccontextmanager
    async def _lent(self) -> AsyncGenerator[psycopg.AsyncConnection]:
        """A connection out of the pool; one that broke, or is amid something, is closed."""
        pool = await self._opened()
        try:
            connection = await pool.getconn()
        except psycopg_pool.PoolTimeout as error:
            raise Lost("The database can't be reached, or all connections are busy.") from error
        except psycopg.Error as error:
            raise Lost("The database can't be reached.") from error
        try:
            yield connection
        except Lost:
            # Those beside it most likely went the same way; each would cost a caller a failure.
            await pool.putconn(connection)
            await pool.drain()
            raise
        except asyncio.CancelledError:
            # The driver asked the server to stop; who can't wait for the answer can't know it.
            await connection.close()
            await pool.putconn(connection)
            raise
        except BaseException:
            await pool.putconn(connection)
            raise
        await pool.putconn(connection)

    async def _opened(self) -> psycopg_pool.AsyncConnectionPool:
        if self._is_closed:
            raise Misuse("The backend is closed.")
        loop = asyncio.get_running_loop()
        found = self._pools.get(loop)
        if found is not None and found.pid == os.getpid():
            return found.pool
        for ended in [other for other in self._pools if other.is_closed()]:
            del self._pools[ended]
        pool: psycopg_pool.AsyncConnectionPool = psycopg_pool.AsyncConnectionPool(
            self._where.conninfo,
            min_size=0,
            max_size=self._where.pool_size,
            kwargs={"autocommit": True, "prepare_threshold": None},
            timeout=address.CONNECTION_SECONDS,
            reconnect_timeout=address.CONNECTION_SECONDS,
            open=False,
            name="memoranda",
        )
        # Known before anything is awaited: a task that comes meanwhile takes the same one.
        self._pools[loop] = _Pool(pool, os.getpid())
        await pool.open()
        return pool


class _Pool(NamedTuple):
    """A pool and the process that made it: after a fork it is still the parent's."""

    pool: psycopg_pool.AsyncConnectionPool
    pid: int


class _Session:
    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection

    async def run(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        return await _run(self._connection, statement, values)


async def _run(
    connection: psycopg.AsyncConnection, statement: LiteralString | bytes, values: Values
) -> list[Row]:
    try:
        cursor = await connection.execute(statement, values or None, binary=bool(values))
        return await cursor.fetchall() if cursor.description else []
    except psycopg.Error as error:
        raise translated(error, is_broken=connection.broken) from error
    except UnicodeEncodeError as error:
        raise Unavailable("A text that is no Unicode can't be stored.") from error
