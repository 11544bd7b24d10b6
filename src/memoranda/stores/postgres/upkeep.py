"""Redaction, retention and verification of one store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memoranda.digests import sha256
from memoranda.errors import NotRedactable, Unavailable, UnknownId
from memoranda.light_dataclasses import replace
from memoranda.stores.base import Context, Problem, Report
from memoranda.stores.log import ids
from memoranda.stores.log.forgetting import without
from memoranda.stores.log.gone import BLANKED, Gone, draft_of
from memoranda.stores.log.retention import ACTOR
from memoranda.stores.postgres import audit, history, holds, writing
from memoranda.stores.postgres.listing import path_of
from memoranda.stores.sealing import EVENT_BYTES, NO_CHAIN, chained, clean, digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Retention, Version
    from memoranda.stores.postgres.place import Made
    from memoranda.stores.postgres.port import Port, Row, Session

DAY_NS: Final = 86_400 * 1_000_000_000
LOOKED_AT: Final = 256
"""How many events one look at old history takes in."""

_LET_GO: Final = "SELECT * FROM memoranda.let_go(%s, %s, %s, %s, %s, %s::text[])"
_LOCK: Final = "SELECT FROM memoranda.state WHERE store = %s FOR UPDATE"
_EVENT: Final = (
    f"SELECT {history.COLUMNS}, e.digest, e.redacted_at FROM memoranda.event e"
    " WHERE e.store = %s AND e.seq = %s"
)
_BLANK_AUDIT: Final = (
    "UPDATE memoranda.event SET audit = %s, digest = coalesce(digest, %b)"
    " WHERE store = %s AND seq = %s"
)
_DRAFTS: Final = (
    f"SELECT {history.COLUMNS} FROM memoranda.event e"
    " WHERE e.store = %s AND e.audit IS NOT NULL ORDER BY e.seq"
)
_BLANK: Final = (
    "UPDATE memoranda.event SET path = NULL, size = NULL, sha = NULL, body = NULL,"
    " redacted_at = %s, redacted_by = %s, digest = coalesce(digest, %b)"
    " WHERE store = %s AND seq = %s"
)
_BLANK_CONTENT: Final = (
    "WITH gone AS (DELETE FROM memoranda.content c WHERE c.store = %(store)s"
    " AND c.number = %(body)s AND NOT EXISTS (SELECT FROM memoranda.event e"
    "  WHERE e.store = %(store)s AND e.memory = %(memory)s AND e.body = %(body)s)"
    " RETURNING length(c.data) AS size)"
    " UPDATE memoranda.state SET history = history - gone.size FROM gone"
    " WHERE store = %(store)s"
)
_PAGE: Final = 200
_EVENTS: Final = (
    f"SELECT {history.COLUMNS}, e.chain, e.link, e.digest, c.data FROM memoranda.event e"
    " LEFT JOIN memoranda.content c ON c.store = e.store AND c.number = e.seq"
    " WHERE e.store = %s AND e.seq > %s ORDER BY e.seq LIMIT %s"
)
_RESTORE: Final = "Restore the store from a backup; what other versions hold is still good."
_RECOUNT: Final = "Copy the store to a new one; contents and history are good."


async def thin(port: Port, made: Made, retention: Retention, now_ns: int, before_ns: int) -> None:
    """Let old history go, a little. ``before_ns`` is the time of the newest event before: after a
    jump of the clock by more than ``keep_days`` age counts for nothing.

    What can't be done now is done another time: the write that led here is done already.
    """
    keep_ns = retention.keep_days * DAY_NS
    cutoff = now_ns - keep_ns if keep_ns and now_ns - before_ns <= keep_ns else -1

    async def work(session: Session) -> None:
        held = [hold.path for hold in await holds.of_store(session, made.number, lock=True)]
        if any(path.is_root for path in held):
            return
        values = (
            made.number, cutoff, retention.keep_newest, retention.budget_bytes, LOOKED_AT,
            [path.store_path for path in held],
        )  # fmt: skip
        rows = await session.run(_LET_GO, values)
        if rows:
            await _say(session, made, rows, now_ns)

    try:
        await port.transact(work, made.number)
    except Unavailable:
        return


async def _say(session: Session, made: Made, rows: Sequence[Row], now_ns: int) -> None:
    """Write the entry of the audit that says what went."""
    gone = Gone()
    for start, end, said in rows:
        if said is None:
            gone.dropped.append((start, end))
        else:
            gone.read(said)
    draft = gone.draft(await audit.rests(session, made, list(gone.blanked)))
    await writing.note(session, made, Context(ACTOR, ACTOR, audit=draft), now_ns)


async def redact(
    session: Session, made: Made, version_id: str, context: Context, now_ns: int
) -> Version:
    """What ``Store.redact`` promises; in a transaction for this store."""
    numbers = ids.event_of(made, version_id)
    if numbers is None:
        raise UnknownId("version")
    seq, memory = numbers
    await session.run(_LOCK, (made.number,))
    rows = await session.run(_EVENT, (made.number, seq))
    if not rows or rows[0][2] != memory:
        raise UnknownId("version")
    event = history.event_of(rows[0])
    if rows[0][-1] is not None:
        return await history.one(session, made, version_id)
    live = await session.run(
        "SELECT 1 FROM memoranda.memory WHERE store = %s AND id = %s AND head = %s"
        " AND path IS NOT NULL",
        (made.number, memory, seq),
    )
    if live:
        raise NotRedactable
    for row in await session.run(_EVENT, (made.number, event.batch)):
        first = history.event_of(row)
        if first.audit is not None:
            digest = digest_of(first, made.secret)
            await session.run(_BLANK_AUDIT, (None, digest, made.number, first.seq))
    digest = digest_of(event, made.secret)
    await session.run(
        _BLANK, (max(now_ns, event.at), clean(context.actor), digest, made.number, seq)
    )
    if event.body is not None:
        await session.run(
            _BLANK_CONTENT, {"store": made.number, "memory": memory, "body": event.body}
        )
    said = await audit.rests(session, made, (seq, event.batch))
    await _note_blanked(
        session,
        made,
        replace(context, audit={**context.audit, "version": version_id}),
        said,
        now_ns,
    )
    return await history.one(session, made, version_id)


async def forget(
    session: Session, made: Made, path: MemoryPath, context: Context, now_ns: int
) -> int:
    """What ``Store.forget`` promises; in a transaction for this store."""
    await session.run(_LOCK, (made.number,))
    blanked: list[int] = []
    for row in await session.run(_DRAFTS, (made.number,)):
        event = history.event_of(row)
        draft = draft_of(event.audit)
        left = without(draft, path.text)
        if left != draft:
            digest = digest_of(event, made.secret)
            await session.run(_BLANK_AUDIT, (json.dumps(left), digest, made.number, event.seq))
            blanked.append(event.seq)
    if blanked:
        said = await audit.rests(session, made, blanked)
        await _note_blanked(session, made, context, said, now_ns)
    return len(blanked)


async def _note_blanked(
    session: Session, made: Made, context: Context, rests: Mapping[int, str], now_ns: int
) -> None:
    """Write the entry that says what is left of events that were blanked."""
    said = {BLANKED: {str(seq): rest for seq, rest in rests.items()}}
    noted = replace(context, audit={**context.audit, **said})
    await writing.note(session, made, noted, now_ns)


async def verify(session: Session, made: Made) -> Report:
    """What ``Store.verify`` promises; in a transaction that sees one moment."""
    return await _Check(session, made).run()


class _Check:
    def __init__(self, session: Session, made: Made) -> None:
        self._session = session
        self._made = made
        self._problems: list[Problem] = []
        self._heads: dict[int, tuple[Any, ...]] = {}
        self._versions = 0
        self._history = 0

    async def run(self) -> Report:
        rows = await self._session.run(
            "SELECT chain, files, bytes, versions, history FROM memoranda.state WHERE store = %s",
            (self._made.number,),
        )
        if not rows:
            raise UnknownId("store")
        chain, files, total, versions, taken = rows[0]
        if await self._check_events() != bytes(chain):
            self._problem("chain", "The end of the history is not where it was.", _RESTORE)
        ((stored,),) = await self._session.run(
            "SELECT coalesce(sum(length(data)), 0) FROM memoranda.content WHERE store = %s",
            (self._made.number,),
        )
        if (self._versions, self._history + stored) != (versions, taken):
            self._problem("counter", "The history's counters are wrong.", _RECOUNT)
        if await self._check_memories() != (files, total):
            self._problem("counter", "The store's counters are wrong.", _RECOUNT)
        return Report(tuple(self._problems), (), files, versions)

    def _problem(self, code: str, message: str, remedy: str, path: str | None = None) -> None:
        where = None if path is None else path_of(path)
        self._problems.append(Problem(code, message, remedy, where))

    async def _check_events(self) -> bytes:
        """Follow the hash chain, count, and compare each content with its hash."""
        before, at, seq = NO_CHAIN, 0, 0
        while True:
            rows = await self._session.run(_EVENTS, (self._made.number, seq, _PAGE))
            for row in rows:
                before = self._check_event(row, before, at)
                seq, at = row[0], row[5]
            if len(rows) < _PAGE:
                return before

    def _check_event(self, row: Row, before: bytes, at: int) -> bytes:
        event = history.event_of(row)
        chain, link, digest, data = (None if one is None else bytes(one) for one in row[-4:])
        if digest is None:
            digest = digest_of(event, self._made.secret)
        if chain != chained(event, digest, link or before):
            self._problem("chain", "An entry of the history was changed from outside.", _RESTORE)
        if event.at < at:
            self._problem("time", "Time goes back within the history.", _RESTORE)
        if event.body == event.seq and (
            data is None or len(data) != event.size or sha256(data).digest() != event.sha
        ):
            self._problem("version", "The content of a version is damaged.", _RESTORE)
        self._history += EVENT_BYTES
        if event.memory is not None:
            self._versions += 1
            self._heads[event.memory] = (event.seq, event.path, event.size, event.sha, event.body)
        return chain or before

    async def _check_memories(self) -> tuple[int, int]:
        """Compare each memory with its newest version; gives how many are live, and their bytes."""
        rows = await self._session.run(
            "SELECT id, head, path, size, sha, body FROM memoranda.memory WHERE store = %s",
            (self._made.number,),
        )
        files = total = 0
        for number, *kept in rows:
            head, path, size, sha, body = kept
            found = self._heads.pop(number, None)
            if path is None:
                if found is not None and found[0] != head:
                    self._problem("head", "A removed memory has a newer version.", _RESTORE)
                continue
            files, total = files + 1, total + size
            if found != (head, path, size, None if sha is None else bytes(sha), body):
                self._problem("head", "A memory differs from its newest version.", _RESTORE, path)
        if self._heads:
            self._problem("orphan", "A version belongs to no memory.", _RESTORE)
        return files, total
