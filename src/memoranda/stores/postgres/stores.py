"""What a database knows of its stores: names, users, archiving; and its own audit."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Held, Misuse, UnknownId, Unsupported
from memoranda.lazy_pattern import lazy_pattern
from memoranda.stores.base import StoreInfo, StorePage
from memoranda.stores.sealing import audit_text, clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memoranda.stores.base import Context
    from memoranda.stores.postgres.place import Made, Place
    from memoranda.stores.postgres.port import Port, Row, Session

_STORE_ID: Final = lazy_pattern(r"memstore_[A-Za-z0-9]{1,64}")
_COLUMNS: Final = "id, workspace, user_name, about, created, updated, archived"
_FIND: Final = "SELECT * FROM memoranda.find_store(%s, %s, %s)"
_MAKE: Final = "SELECT * FROM memoranda.make_store(%s, %s, %s, %s, %b, %s)"
_IS_OPERATOR: Final = (
    "SELECT pg_has_role(nspowner, 'MEMBER') FROM pg_namespace WHERE nspname = 'memoranda'"
)
_OPERATOR: Final = "SELECT set_config('memoranda.operator', 'workspaces', true)"
_WORKSPACES: Final = "SELECT DISTINCT workspace FROM memoranda.store ORDER BY workspace"
_WORKSPACE: Final = "SELECT set_config('memoranda.workspace', %s, true)"


async def made(port: Port, place: Place) -> Made | None:
    """What is known of a place's store, asked for if it has to be; None: nobody made it."""
    if place.made is not None:
        return place.made
    rows = await find(port, place)
    return place.bind(rows[0]) if rows else None


async def find(port: Port, place: Place) -> list[Row]:
    """Number, id and secret of a place's store, as a row; none if it is not there."""
    if place.made is not None or place.user is None:
        return await port.run(_FIND, (place.workspace, None, place.id))
    return await port.run(_FIND, (place.workspace, place.user, None))


async def make(session: Session, info: StoreInfo, secret: bytes) -> Row:
    """Make a store; gives number, id and secret of it, or of the one that its user has by now."""
    (row,) = await make_if_free(session, info, secret)
    return row


async def make_if_free(session: Session, info: StoreInfo, secret: bytes) -> list[Row]:
    """The same; no row where a store of another workspace has the id."""
    return await session.run(
        _MAKE, (info.id, clean(info.workspace), info.user, _about(info), secret, info.created_at_ns)
    )


def new_secret() -> bytes:
    """What a new store's ids and digests are keyed with."""
    return os.urandom(32)


async def workspaces(session: Session) -> tuple[str, ...]:
    """The workspaces that have stores, sorted, as the owner of the schema sees them; raises
    ``Unsupported`` for every other role: applications' tenants are kept apart."""
    ((is_operator,),) = await session.run(_IS_OPERATOR)
    if not is_operator:
        raise Unsupported("listing the workspaces")
    await session.run(_OPERATOR)
    return tuple([workspace for (workspace,) in await session.run(_WORKSPACES)])


class Stores:
    """The stores of one workspace, in one transaction."""

    def __init__(self, session: Session, workspace: str) -> None:
        self._session = session
        self._workspace = workspace

    @classmethod
    async def of(cls, session: Session, workspace: str) -> Stores:
        """The stores of a workspace; names it to the second wall."""
        await session.run(_WORKSPACE, (clean(workspace) or " ",))
        return cls(session, workspace)

    async def get(self, store_id: str, *, lock: bool = False) -> StoreInfo:
        """What is known of a store; raises ``UnknownId``, also for one of another workspace."""
        if not _STORE_ID.fullmatch(store_id):
            raise UnknownId("store")
        statement = (
            f"SELECT {_COLUMNS} FROM memoranda.store WHERE id = %s AND workspace = %s FOR UPDATE"
            if lock
            else f"SELECT {_COLUMNS} FROM memoranda.store WHERE id = %s AND workspace = %s"
        )
        rows = await self._session.run(statement, (store_id, clean(self._workspace)))
        if not rows:
            raise UnknownId("store")
        return _info(rows[0])

    async def of_user(self, user: str) -> StoreInfo | None:
        """What is known of a user's store."""
        rows = await self._session.run(
            f"SELECT {_COLUMNS} FROM memoranda.store WHERE user_name = %s AND workspace = %s",
            (user, self._workspace),
        )
        return _info(rows[0]) if rows else None

    async def page(self, after: str | None, limit: int, *, include_archived: bool) -> StorePage:
        """Newest first, then by id; see ``Backend.list``."""
        created, store_id = _position(after)
        rows = await self._session.run(
            f"SELECT {_COLUMNS} FROM memoranda.store WHERE workspace = %s"
            " AND (created < %s OR created = %s AND id > %s) AND (%s OR archived IS NULL)"
            " ORDER BY created DESC, id LIMIT %s",
            (clean(self._workspace), created, created, store_id, include_archived, limit + 1),
        )
        found = tuple(_info(row) for row in rows[:limit])
        more = len(rows) > limit and bool(found)
        return StorePage(found, f"{found[-1].created_at_ns}.{found[-1].id}" if more else None)

    async def update(
        self,
        store_id: str,
        now_ns: int,
        *,
        name: str | None,
        description: str | None,
        metadata: Mapping[str, str] | None,
    ) -> StoreInfo:
        """Change what is given; the time only if anything changes."""
        before = await self.get(store_id, lock=True)
        after = before._replace(
            name=before.name if name is None else name,
            description=before.description if description is None else description,
            metadata=before.metadata if metadata is None else dict(metadata),
        )
        if after == before:
            return before
        after = after._replace(updated_at_ns=max(now_ns, before.updated_at_ns))
        await self._session.run(
            "UPDATE memoranda.store SET about = %s, updated = %s WHERE id = %s",
            (_about(after), after.updated_at_ns, store_id),
        )
        return after

    async def archive(self, store_id: str, now_ns: int) -> StoreInfo:
        """Archive a store for good; again changes nothing."""
        info = await self.get(store_id, lock=True)
        if info.archived_at_ns is not None:
            return info
        now_ns = max(now_ns, info.updated_at_ns)
        ((number,),) = await self._session.run(
            "UPDATE memoranda.store SET archived = %s, updated = %s WHERE id = %s RETURNING number",
            (now_ns, now_ns, store_id),
        )
        await self._session.run("SELECT set_config('memoranda.store', %s, true)", (str(number),))
        await self._session.run(
            "UPDATE memoranda.state SET archived = true WHERE store = %s", (number,)
        )
        return info._replace(archived_at_ns=now_ns, updated_at_ns=now_ns)

    async def erase(self, store_id: str, context: Context, now_ns: int) -> None:
        """Remove every row of a store, and note in the database's own audit that it happened;
        raises ``Held``."""
        await self.get(store_id, lock=True)
        ((number,),) = await self._session.run(
            "DELETE FROM memoranda.store WHERE id = %s RETURNING number", (store_id,)
        )
        await self._session.run("SELECT set_config('memoranda.store', %s, true)", (str(number),))
        if await self._session.run(_HELD, (number,)):
            raise Held
        for statement in _ERASE:
            await self._session.run(statement, (number,))
        trace = None if context.trace_id is None else clean(context.trace_id)
        await self._session.run(
            "INSERT INTO memoranda.store_audit(at, actor, command, trace, workspace, store, audit)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (now_ns, clean(context.actor), clean(context.command), trace,
             clean(self._workspace), store_id, audit_text(context)),
        )  # fmt: skip


_HELD: Final = "SELECT 1 FROM memoranda.state WHERE store = %s AND holds IS NOT NULL FOR UPDATE"
# The state first: who waits for its lock finds no store, and writes nothing after us.
_ERASE: Final = (
    "DELETE FROM memoranda.state WHERE store = %s",
    "DELETE FROM memoranda.memory WHERE store = %s",
    "DELETE FROM memoranda.event WHERE store = %s",
    "DELETE FROM memoranda.content WHERE store = %s",
)


def as_json(value: Any) -> str:
    """A value as JSON in ASCII: it holds what PostgreSQL's texts can't."""
    return json.dumps(value)


def _about(info: StoreInfo) -> str:
    return as_json(
        {"name": info.name, "description": info.description, "metadata": dict(info.metadata)}
    )


def _info(row: Row) -> StoreInfo:
    store_id, workspace, user, about, created, updated, archived = row
    said = json.loads(about)
    return StoreInfo(
        store_id, workspace, said["name"], user, said["description"], said["metadata"],
        created, updated, archived,
    )  # fmt: skip


def _position(after: str | None) -> tuple[int, str]:
    if after is None:
        return 2**63 - 1, ""
    created, dot, store_id = after.partition(".")
    if (
        not dot
        or not (created.isascii() and created.isdigit() and len(created) <= 19)
        or int(created) >= 2**63
        or not _STORE_ID.fullmatch(store_id)
    ):
        raise Misuse("This is no position in a list of stores.")
    return int(created), store_id
