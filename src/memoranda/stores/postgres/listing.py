"""Listings: the outline that a view shows, pages of entries, present and past; search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from memoranda.errors import NotFound, UnknownId
from memoranda.path import ROOT_TEXT, MemoryPath
from memoranda.stores.base import BESIDE_PATH_CHARS, Directory, Entry, Hit, Outline, Page
from memoranda.stores.log import ids, search
from memoranda.stores.sealing import clean

if TYPE_CHECKING:
    from memoranda.stores.base import Moment
    from memoranda.stores.postgres.place import Made
    from memoranda.stores.postgres.port import Port, Row, Session

_OUTLINE: Final = "SELECT * FROM memoranda.outline(%s, %s, %s, %s)"
_MOST_CHARS: Final = 2**31 - 1

# What was at a moment: each memory's newest event up to it, unless that removed it or was redacted.
_PAST: Final = (
    "WITH found AS (SELECT e.path, m.id, e.seq AS head, e.size, e.sha, m.created, e.at AS updated"
    " FROM memoranda.memory m CROSS JOIN LATERAL ("
    "  SELECT * FROM memoranda.event v WHERE v.store = m.store AND v.memory = m.id"
    "  AND v.seq <= %(seq)s ORDER BY v.seq DESC LIMIT 1) e"
    " WHERE m.store = %(store)s AND e.op <> 3 AND e.path > %(low)s AND e.path < %(high)s)"
)
_PRESENT: Final = (
    "WITH found AS (SELECT path, id, head, size, sha, created, updated FROM memoranda.memory"
    " WHERE store = %(store)s AND path > %(low)s AND path < %(high)s)"
)
_ALL: Final = " SELECT * FROM found ORDER BY path LIMIT %(limit)s"
_CHILDREN: Final = (
    " SELECT * FROM ("
    "  SELECT path, id, head, size, sha, created, updated FROM found"
    "  WHERE position('/' IN substr(path, %(from)s)) = 0"
    "  UNION ALL"
    "  SELECT %(prefix)s::text || split_part(substr(path, %(from)s), '/', 1) || '/',"
    "   NULL, NULL, sum(size), NULL, NULL, NULL FROM found"
    "  WHERE position('/' IN substr(path, %(from)s)) > 0 GROUP BY 1"
    ' ) child ORDER BY path COLLATE "C" LIMIT %(limit)s'
)
_HORIZON: Final = "SELECT horizon FROM memoranda.state WHERE store = %s"
_CONTENTS: Final = (
    "SELECT m.path, c.data FROM memoranda.memory m"
    " JOIN memoranda.content c ON c.store = m.store AND c.number = m.body"
    " WHERE m.store = %s AND m.path > %s AND m.path < %s ORDER BY m.path LIMIT %s"
)
SEARCHED_AT_ONCE: Final = 50


class Span(NamedTuple):
    """What lies beneath a prefix, in the order of the tables: between two paths, both exclusive."""

    low: str
    high: str


def beneath(prefix: MemoryPath) -> Span:
    """Everything beneath a directory: ``0`` follows the slash in code point order."""
    text = "" if prefix.is_root else prefix.store_path
    return Span(text + "/", text + "0")


async def outline(port: Port, made: Made, directory: MemoryPath, line_chars: int) -> Outline:
    """What ``Store.outline`` promises: one round trip, whatever is beneath."""
    text = "" if directory.is_root else directory.store_path
    beside = len(ROOT_TEXT) + len(text) + 1 + BESIDE_PATH_CHARS
    rows = await port.run(
        _OUTLINE, (made.number, text, beside, max(0, min(line_chars, _MOST_CHARS)))
    )
    n, shown, total, _, _ = rows[0]
    if not n and not directory.is_root:
        raise NotFound(directory)
    items = tuple((name, int(size)) for *_, name, size in rows if name)
    return Outline(int(shown), items, total)


async def page(
    session: Session,
    made: Made,
    prefix: MemoryPath,
    depth: Literal[0, 1],
    after: str | None,
    limit: int,
    at: Moment | None,
) -> Page:
    """What ``Store.list`` promises; in a transaction for this store.

    Raises ``UnknownId`` for a moment that retention does not keep whole any more.
    """
    if at is not None:
        rows = await session.run(_HORIZON, (made.number,))
        if rows and at.seq < rows[0][0]:
            raise UnknownId("moment")
    low, high = beneath(prefix)
    # What follows a NUL decides nothing: no path holds one.
    start = _start(low, clean((after or "").partition("\0")[0]), depth)
    if start >= high:
        return Page((), None)
    values: dict[str, Any] = {
        "store": made.number, "low": start, "high": high, "limit": limit + 1,
        "from": len(low) + 1, "prefix": low, "seq": 0 if at is None else at.seq,
    }  # fmt: skip
    if at is None:
        statement = _PRESENT + _CHILDREN if depth else _PRESENT + _ALL
    else:
        statement = _PAST + _CHILDREN if depth else _PAST + _ALL
    rows = await session.run(statement, values)
    entries = tuple(_entry(made, row) for row in rows[:limit])
    more = len(rows) > limit and bool(entries)
    return Page(entries, rows[limit - 1][0] if more else None)


def _start(low: str, after: str, depth: Literal[0, 1]) -> str:
    """The position after which a page begins, not before the directory itself."""
    if after <= low:
        return low
    if depth and after.startswith(low):
        name, slash, _ = after[len(low) :].partition("/")
        if slash:  # after a directory: past all that lies in it
            return f"{low}{name}/\U0010ffff"
    return after


def _entry(made: Made, row: Row) -> Entry | Directory:
    path, number, head, size, sha, created, updated = row
    if number is None:
        return Directory(path_of(path), int(size))
    return entry(made, path_of(path), number, head, size, sha, created, updated)


def entry(
    made: Made,
    path: MemoryPath,
    number: int,
    head: int,
    size: int,
    sha: bytes,
    created: int,
    updated: int,
) -> Entry:
    """A live memory's row as callers see it."""
    return Entry(
        path, ids.memory_id(made, number), ids.version_id(made, head, number), int(size),
        bytes(sha).hex(), created, updated,
    )  # fmt: skip


def path_of(text: str) -> MemoryPath:
    """A path as the tables spell it; a directory's may end with a slash."""
    return MemoryPath.of(tuple(text[1:].removesuffix("/").split("/")))


async def hits(
    port: Port, made: Made, query: str, prefix: MemoryPath, limit: int
) -> tuple[Hit, ...]:
    """What ``Store.search`` promises, from the contents themselves, some at a time.

    Costs the bytes beneath ``prefix`` as far as hits are wanted.
    """
    words = search.words_of(query)
    found: list[Hit] = []
    low, high = beneath(prefix)
    while words and len(found) < limit:
        position = low

        async def some(session: Session, position: str = position) -> list[Row]:
            return await session.run(_CONTENTS, (made.number, position, high, SEARCHED_AT_ONCE))

        rows = await port.transact(some, made.number)
        contents = ((path_of(path), bytes(data)) for path, data in rows)
        found += search.hits(words, contents, limit - len(found))
        if len(rows) < SEARCHED_AT_ONCE:
            break
        low = rows[-1][0]
    return tuple(found)
