"""Records in a table of PostgreSQL (``migrations/0002_records.sql``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.errors import Conflict
from memoranda.stores.records import ABSENT, CHANGED, Record, Records

if TYPE_CHECKING:
    from memoranda.stores.postgres.backend import PostgresBackend
    from memoranda.stores.postgres.port import Session


class PostgresRecords(Records):
    """The records of one kind."""

    def __init__(self, backend: PostgresBackend, kind: str) -> None:
        self._backend = backend
        self._kind = kind

    async def get(self, key: str) -> Record | None:
        return await self._backend.transact(lambda session: self._get(session, key))

    async def list(self, after: str = "", limit: int = 1000) -> tuple[Record, ...]:
        async def work(session: Session) -> tuple[Record, ...]:
            rows = await session.run(
                "SELECT key, value, revision FROM memoranda.record WHERE kind = %s AND key > %s"
                " ORDER BY key LIMIT %s",
                (self._kind, after, limit),
            )
            return tuple(Record(key, value, str(revision)) for key, value, revision in rows)

        return await self._backend.transact(work)

    async def put(self, key: str, value: str, expect: str | None = None) -> Record:
        async def work(session: Session) -> Record:
            found = await self._get(session, key)
            if found is not None and found.value == value:
                return found
            there = ABSENT if found is None else found.revision
            if expect not in {None, there}:
                raise Conflict(CHANGED)
            # Of two who came at once with the same revision the second one changes no row.
            rows = await session.run(
                "INSERT INTO memoranda.record AS r(kind, key, value, revision)"
                " VALUES (%(kind)s, %(key)s, %(value)s, %(there)s + 1)"
                " ON CONFLICT (kind, key) DO UPDATE"
                " SET value = excluded.value, revision = r.revision + 1"
                " WHERE r.revision = %(there)s OR %(any)s RETURNING revision",
                {
                    "kind": self._kind,
                    "key": key,
                    "value": value,
                    "there": int(there or 0),
                    "any": expect is None,
                },
            )
            if not rows:
                raise Conflict(CHANGED)
            return Record(key, value, str(rows[0][0]))

        return await self._backend.transact(work)

    async def remove(self, key: str) -> bool:
        async def work(session: Session) -> bool:
            return bool(
                await session.run(
                    "DELETE FROM memoranda.record WHERE kind = %s AND key = %s RETURNING 1",
                    (self._kind, key),
                )
            )

        return await self._backend.transact(work)

    async def _get(self, session: Session, key: str) -> Record | None:
        rows = await session.run(
            "SELECT key, value, revision FROM memoranda.record WHERE kind = %s AND key = %s",
            (self._kind, key),
        )
        return Record(rows[0][0], rows[0][1], str(rows[0][2])) if rows else None
