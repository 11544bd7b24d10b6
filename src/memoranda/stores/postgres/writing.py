"""A batch on its way to the server: look, plan, write; again under a lock where somebody was faster.

The first try takes no lock: one round trip to look, one to write, and the write counts only if the
store is still where it was seen. Who wrote to the store last may know enough to plan without looking
(``memo.py``): one round trip. A store that is written by many at once is then planned on under
the lock of its own row, one after the other, so that nobody starves.

A write whose answer got lost is never done twice and never forgotten: each batch carries a token,
the next try looks for it under the lock first.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.errors import UnknownId
from memoranda.path import MemoryPath
from memoranda.stores.base import Ceiling, StoreInfo
from memoranda.stores.log.packs import packed
from memoranda.stores.patience import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    PATIENCE_SECONDS,
    Again,
    Lost,
)
from memoranda.stores.planning import (
    EMPTY,
    ContentWanted,
    Item,
    Plan,
    Seen,
    State,
    Wanted,
    parents,
)
from memoranda.stores.postgres import stores
from memoranda.stores.postgres.memo import after
from memoranda.stores.postgres.place import Made
from memoranda.stores.postgres.rows import paths_of, rows_of
from memoranda.stores.sealing import Sealed, seal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.base import Change, Context, Version
    from memoranda.stores.log.records import Taken
    from memoranda.stores.postgres.place import Place
    from memoranda.stores.postgres.port import Port, Row, Session

THIN_EVERY: Final = 64
"""Old history is looked at once in so many events of a store."""

_LOOK: Final = (
    "SELECT * FROM memoranda.look("
    "%s, %s, %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[])"
)
_WRITE: Final = (
    "SELECT memoranda.write(%s, %s, %s, %b, %s::bigint[], %s::json, %s::json, %s::bigint[],"
    " %s::json, %s::json, %b::bytea[], %s::text[], %s::text[])"
)
_SETTLED: Final = (
    "SELECT seq FROM memoranda.event WHERE store = %s AND seq = ANY(%s::bigint[]) AND token = %b"
)
_DONE: Final = 0
_NO_STORE: Final = -2


class Planned(NamedTuple):
    """A plan, and what is written for it."""

    plan: Plan
    sealed: Sealed


class Batch:
    """One ``apply`` (or, without changes, the writing of what waits), until it is done."""

    def __init__(
        self,
        port: Port,
        place: Place,
        changes: Sequence[Change],
        context: Context | None,
        now_ns: int,
    ) -> None:
        self._port = port
        self._place = place
        self._changes = changes
        self._context = context
        self._now = now_ns
        self._token = os.urandom(16)
        self._tried: dict[int, tuple[Version, ...]] = {}
        """What a try whose answer got lost may have written: its first event, and its versions."""
        self._taken: Taken = place.records.take()
        self._ids: set[int] = set()
        self._may_guess = bool(changes)
        self.before = EMPTY
        """The store's state before the batch."""
        self.after: State | None = None
        """The state after it, once it is written."""

    async def run(self) -> tuple[Version, ...]:
        """Do it; returns the versions. Raises as ``Store.apply`` does."""
        until = time.monotonic() + PATIENCE_SECONDS
        pause = FIRST_PAUSE_SECONDS
        is_written = False
        locked = False
        try:
            while True:
                try:
                    versions = await (self._under_lock() if locked else self._hopefully())
                except ContentWanted as wanted:
                    self._ids.add(wanted.number)
                    continue
                except (Lost, Again):
                    if time.monotonic() + pause > until:
                        raise
                    await self._port.pause(pause)
                    pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                    locked = locked or bool(self._tried)
                    continue
                if versions is not None:
                    is_written = True
                    return versions
                locked = True
        finally:
            if not is_written:
                self._place.records.give_back(self._taken, self._now)

    @property
    def is_time_to_thin(self) -> bool:
        """Whether the batch crossed one of the marks at which old history is looked at."""
        return (
            self.after is not None and self.after.seq // THIN_EVERY > self.before.seq // THIN_EVERY
        )

    # ---- the ways to do it

    async def _hopefully(self) -> tuple[Version, ...] | None:
        """Without a lock; None if somebody was faster."""
        made = await stores.made(self._port, self._place)
        if made is None:
            return await self._at_first()
        memo, self._may_guess = self._place.memo if self._may_guess else None, False
        guess = None if memo is None else memo.guess(self._changes)
        planned = None if guess is None else self._guessed(made, guess.seen)
        if guess is not None and planned is not None:
            versions = await self._send(self._port, made, planned, guess.free)
            if versions is None:
                self._place.memo = None
            return versions
        wanted = self._wanted(made)
        rows = await self._port.run(_LOOK, _look_values(made, wanted, lock=False))
        planned = self._planned(made, wanted, rows)
        return () if planned is None else await self._send(self._port, made, planned)

    async def _under_lock(self) -> tuple[Version, ...] | None:
        """While nobody else can write to the store; None only if it was just made or archived."""
        made = await stores.made(self._port, self._place)
        if made is None:
            return await self._at_first()

        async def work(session: Session) -> tuple[Version, ...] | None:
            wanted = self._wanted(made)
            rows = await session.run(_LOOK, _look_values(made, wanted, lock=True))
            if self._tried:
                values = (made.number, list(self._tried), self._token)
                for (seq,) in await session.run(_SETTLED, values):
                    return self._tried[seq]
            planned = self._planned(made, wanted, rows)
            return () if planned is None else await self._send(session, made, planned)

        return await self._port.transact(work)

    async def _at_first(self) -> tuple[Version, ...] | None:
        """Make the user's store together with its first batch; None if somebody else made it."""
        place = self._place
        if place.user is None:
            raise UnknownId("store")
        mine = Made(0, stores.new_secret())
        plan = Plan(None, Seen(EMPTY, {}, ()), self._ceiling)
        plan.do(self._changes)
        sealed = seal(mine, plan, self._context, ([], {}), self._now)
        if sealed is None:
            return ()

        async def work(session: Session) -> tuple[Row, tuple[Version, ...] | None]:
            info = StoreInfo(
                place.id, place.workspace, place.user or "", place.user,
                created_at_ns=self._now, updated_at_ns=self._now,
            )  # fmt: skip
            row = await stores.make(session, info, mine.secret)
            if bytes(row[2]) != mine.secret:
                return row, None
            made = Made(row[0], mine.secret)
            return row, await self._send(session, made, Planned(plan, sealed))

        row, versions = await self._port.transact(work)
        place.bind(row)
        return versions

    # ---- their parts

    @property
    def _ceiling(self) -> Ceiling:
        return Ceiling() if self._context is None else self._context.ceiling

    def _wanted(self, made: Made) -> Wanted:
        wanted = Wanted(self._changes, made)
        wanted.ids |= self._ids
        return wanted

    def _planned(self, made: Made, wanted: Wanted, rows: Sequence[Row]) -> Planned | None:
        """A plan on what was seen; None if it comes to nothing."""
        if not rows:
            self._taken = ([], {})  # of a store that was erased: nobody can have them
            raise UnknownId("store")
        return self._plan_on(made, _seen(wanted, rows))

    def _guessed(self, made: Made, seen: Seen) -> Planned | None:
        """A plan on a guess; None if it came to nothing or to a refusal, which only what is truly
        there may decide."""
        try:
            return self._plan_on(made, seen)
        except Exception:  # noqa: BLE001 - an edit is a caller's code; it runs again on what is there
            return None

    def _plan_on(self, made: Made, seen: Seen) -> Planned | None:
        takes_over = self._context is not None and self._context.at_ns is not None
        plan = Plan(made, seen, self._ceiling, takes_over=takes_over)
        plan.do(self._changes)
        notes, uses = self._taken
        records = (list(packed(notes)) if notes else [], uses)
        sealed = seal(made, plan, self._context, records, self._now)
        return None if sealed is None else Planned(plan, sealed)

    async def _send(
        self, session: Session, made: Made, planned: Planned, free: Sequence[MemoryPath] = ()
    ) -> tuple[Version, ...] | None:
        """Write; gives the versions, or None if the store is not where it was planned on."""
        state, sealed = planned.plan.state, planned.sealed
        self.before, self.after = state, sealed.state
        first = state.seq + 1
        known = self._tried.get(first)
        self._tried[first] = sealed.versions
        values = _write_values(made, state, sealed, self._token, list(self._tried), free)
        try:
            ((code,),) = await session.run(_WRITE, values)
        except Lost:
            raise
        except Exception:  # raised again: the server answered, so this try is known not to stand
            self._forget(first, known)
            raise
        if code == _DONE:
            self._remember(planned)
            return sealed.versions
        if code > _DONE:  # the first event of a try whose answer got lost
            return self._tried[code]
        self._forget(first, known)
        if code == _NO_STORE:
            raise UnknownId("store")
        return None

    def _remember(self, planned: Planned) -> None:
        """Note what is known now, if nobody else has written since this process did last. In a
        transaction that is still to commit, too: if it doesn't, the guess will not fit."""
        place, before, reached = self._place, planned.plan.state, planned.sealed.state
        memo = place.memo
        is_alone = place.last_seq in {None, before.seq}
        place.last_seq = reached.seq
        if is_alone:
            fits = memo is not None and memo.state.seq == before.seq
            place.memo = after(memo if fits else None, reached, planned.plan)
        else:
            place.memo = None

    def _forget(self, first: int, known: tuple[Version, ...] | None) -> None:
        """This try came to nothing; one before it at the same event may still have."""
        if known is None:
            del self._tried[first]
        else:
            self._tried[first] = known


def _look_values(made: Made, wanted: Wanted, *, lock: bool) -> tuple[Any, ...]:
    return (
        made.number,
        lock,
        paths_of(wanted.exact),
        paths_of(wanted.edits),
        paths_of(wanted.beneath),
        paths_of(wanted.counted),
        list(wanted.ids),
    )


def _write_values(
    made: Made,
    state: State,
    sealed: Sealed,
    token: bytes,
    tried: Sequence[int],
    free: Sequence[MemoryPath] = (),
) -> tuple[Any, ...]:
    reached = sealed.state
    rows = rows_of(sealed)
    numbers = {
        "seq": reached.seq, "at": reached.at, "chain": reached.chain.hex(), "files": reached.files,
        "bytes": reached.bytes, "versions": len(sealed.versions), "history": sealed.history_bytes,
    }  # fmt: skip
    return (
        made.number, state.seq, state.archived, token, list(tried), stores.as_json(numbers),
        rows.events, rows.vacated, rows.memories, rows.used, rows.contents,
        paths_of({above: None for path in free for above in (path, *parents(path))}),
        paths_of(free),
    )  # fmt: skip


def _seen(wanted: Wanted, rows: Sequence[Row]) -> Seen:
    """What ``memoranda.look`` gave; the same memory may come twice, once with its content."""
    state = State._make(rows[0][:6])._replace(chain=bytes(rows[0][2]))
    items: dict[int, Item] = {}
    for row in rows:
        number, path, created, updated, head, size, sha, body, data = row[7:]
        if number is None or (data is None and number in items):
            continue
        items[number] = Item(
            number,
            None if path is None else MemoryPath.of(tuple(path[1:].split("/"))),
            created,
            updated,
            head,
            size or 0,
            bytes(sha or b""),
            body or 0,
            None if data is None else bytes(data),
        )
    return Seen(state, dict(zip(wanted.counted, rows[0][6], strict=True)), tuple(items.values()))


async def note(session: Session, made: Made, context: Context, now_ns: int) -> None:
    """Write an audit entry in a transaction that holds the lock of the store's state."""
    nothing = Wanted((), made)
    rows = await session.run(_LOOK, _look_values(made, nothing, lock=True))
    state = _seen(nothing, rows).state
    plan = Plan(made, Seen(state, {}, ()), Ceiling())
    sealed = seal(made, plan, None, ([(context, now_ns)], {}), now_ns)
    assert sealed is not None  # it has an entry
    await session.run(_WRITE, _write_values(made, state, sealed, os.urandom(16), ()))
