"""Versions and moments: what the history shows of the events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Corrupt, UnknownId
from memoranda.stores.base import Moment, Version, VersionFilter, VersionPage
from memoranda.stores.log import ids
from memoranda.stores.postgres.listing import beneath, path_of
from memoranda.stores.sealing import CREATED, DELETED, MODIFIED, Event, clean, version_of

if TYPE_CHECKING:
    from typing import LiteralString

    from memoranda.stores.postgres.place import Made
    from memoranda.stores.postgres.port import Row, Session

COLUMNS: Final = (
    "e.seq, e.batch, e.memory, e.op, e.path, e.at, e.actor, e.command, e.trace, e.size, e.sha,"
    " e.body, e.audit"
)
_SELECT: Final = f"SELECT {COLUMNS}, e.redacted_at, e.redacted_by"
_FROM: Final = " FROM memoranda.event e"
_WITH_DATA: Final = (
    ", c.data FROM memoranda.event e"
    " LEFT JOIN memoranda.content c ON c.store = e.store AND c.number = e.body"
)
_WHERE: Final = (
    " WHERE e.store = %(store)s AND e.memory IS NOT NULL AND e.seq < %(before)s"
    " AND (%(from)s::bigint IS NULL OR e.at >= %(from)s)"
    " AND (%(to)s::bigint IS NULL OR e.at <= %(to)s)"
    " AND (%(op)s::smallint IS NULL OR e.op = %(op)s)"
    " AND (%(actor)s::text IS NULL OR e.actor = %(actor)s)"
)
_OF_MEMORY: Final = " AND e.memory = %(memory)s"
_EVER_AT: Final = (
    " AND e.memory IN (SELECT p.memory FROM memoranda.event p WHERE p.store = %(store)s"
    " AND (p.path = %(path)s OR p.path > %(low)s AND p.path < %(high)s))"
)
_NEWEST_FIRST: Final = " ORDER BY e.seq DESC LIMIT %(limit)s"
_OPS: Final = {"created": CREATED, "modified": MODIFIED, "deleted": DELETED}
_END: Final = 2**62


async def versions(
    session: Session,
    made: Made,
    where: VersionFilter,
    after: str | None,
    limit: int,
    *,
    content: bool,
) -> VersionPage:
    """What ``Store.versions`` promises; ``after`` is the id of the last version of the page before,
    and ``UnknownId`` is raised for one that this store never gave."""
    values: dict[str, Any] = {
        "store": made.number, "before": _END, "limit": limit + 1, "from": where.from_ns,
        "to": where.to_ns, "op": None if where.operation is None else _OPS[where.operation],
        "actor": None if where.actor is None else clean(where.actor),
    }  # fmt: skip
    if after is not None:
        numbers = ids.event_of(made, after)
        if numbers is None:
            raise UnknownId("version")
        values["before"] = numbers[0]
    statement: LiteralString = _SELECT + (_WITH_DATA if content else _FROM) + _WHERE
    if where.memory_id is not None:
        values["memory"] = ids.node_of(made, where.memory_id) or 0
        statement += _OF_MEMORY
    if where.path is not None and not where.path.is_root:
        values["low"], values["high"] = beneath(where.path)
        values["path"] = where.path.store_path
        statement += _EVER_AT
    rows = await session.run(statement + _NEWEST_FIRST, values)
    found = tuple(_version(made, row) for row in rows[:limit])
    return VersionPage(found, found[-1].id if len(rows) > limit and found else None)


async def one(session: Session, made: Made, version_id: str) -> Version:
    """What ``Store.version`` promises."""
    numbers = ids.event_of(made, version_id)
    if numbers is not None:
        rows = await session.run(
            _SELECT + _WITH_DATA + " WHERE e.store = %s AND e.seq = %s AND e.memory = %s",
            (made.number, *numbers),
        )
        if rows:
            return _version(made, rows[0])
    raise UnknownId("version")


async def moment(session: Session, made: Made, at_ns: int) -> Moment:
    """What ``Store.moment`` promises."""
    rows = await session.run(
        "SELECT e.seq FROM memoranda.event e WHERE e.store = %s AND e.at <= %s"
        " AND e.memory IS NOT NULL ORDER BY e.seq DESC LIMIT 1",
        (made.number, max(-(2**63), min(at_ns, 2**63 - 1))),
    )
    return Moment(rows[0][0] if rows else 0)


def event_of(row: Row) -> Event:
    """A row's first columns (``COLUMNS``) as an event."""
    event = Event._make(row[: len(Event._fields)])
    return event if event.sha is None else event._replace(sha=bytes(event.sha))


def _version(made: Made, row: Row) -> Version:
    event = event_of(row)
    version = version_of(made, event, None if event.path is None else path_of(event.path))
    redacted_at, redacted_by, *data = row[len(Event._fields) :]
    if redacted_at is not None:
        return version._replace(redacted_at_ns=redacted_at, redacted_by=redacted_by)
    if data and event.body is not None:
        if data[0] is None:
            raise Corrupt("The content of a version is missing.")
        return version._replace(content=bytes(data[0]))
    return version
