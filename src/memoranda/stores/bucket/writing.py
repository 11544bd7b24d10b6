"""A batch on its way into a bucket: look, plan, put what is new, swap the head; again where somebody was
faster.

Who swapped the head last plans on what it knows: two round trips, the contents and the head. Anybody
else looks first. A refusal is only ever told on a head that was just looked at.

A swap whose answer got lost is never done twice and never taken for somebody else's: each batch has a
token, which lies with its first event, and each later try looks for it first.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import UnknownId
from memoranda.stores.base import Ceiling, StoreInfo
from memoranda.stores.bucket import control
from memoranda.stores.bucket.faults import Missing, Taken
from memoranda.stores.bucket.growth import advanced, folded
from memoranda.stores.bucket.head import MOST_BYTES, MOST_TAIL, decode, encode, new_head
from memoranda.stores.bucket.place import Known, look
from memoranda.stores.bucket.shelf import Bench
from memoranda.stores.bucket.sight import Sight
from memoranda.stores.bucket.swapping import persist
from memoranda.stores.log.packs import packed
from memoranda.stores.patience import Again, Lost
from memoranda.stores.planning import ContentWanted, Plan, Wanted
from memoranda.stores.sealing import seal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.base import Change, Context, Version
    from memoranda.stores.bucket.ground import Ground
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.log.records import Taken as TakenRecords

MOST_WAITS: Final = 6
THIN_EVERY: Final = 64
"""Old history is looked at once in so many events of a store."""


class Next(NamedTuple):
    """A head that is ready to be swapped in, with what has to be there before."""

    head: Head
    bench: Bench
    versions: tuple[Version, ...]


class Batch:
    """One ``apply`` (or, without changes, the writing of what waits), until it is done."""

    def __init__(
        self,
        ground: Ground,
        place: Place,
        changes: Sequence[Change],
        context: Context | None,
        now_ns: int,
    ) -> None:
        self._ground = ground
        self._place = place
        self._changes = changes
        self._context = context
        self._now = now_ns
        self._token = os.urandom(12).hex()
        self._tried: dict[int, tuple[Version, ...]] = {}
        """What a swap whose outcome is not known may have written: its first event, its versions."""
        self._taken: TakenRecords = place.records.take()
        self._ids: set[int] = set()
        self._may_guess = True
        self._begun: dict[str, tuple[Version, ...]] = {}
        """The versions of this batch in each store that it may have made, by the store's id."""
        self._lost: list[tuple[str, list[str]]] = []
        """Heads that this batch may have put and that nobody names, with their objects."""
        self._attempts: set[str] = set()
        self._waits = 0
        self.before: Head | None = None
        """The head that the batch was written over."""
        self.after: Head | None = None
        """The head that it made."""

    async def run(self) -> tuple[Version, ...]:
        """Do it; returns the versions. Raises as ``Store.apply`` does."""
        is_written = False
        try:
            async with self._ground.port.turn(self._place.key):
                versions = await self._run()
            is_written = True
            return versions
        finally:
            if not is_written:
                self._place.records.give_back(self._taken, self._now)

    @property
    def is_time_to_thin(self) -> bool:
        """Whether the batch crossed one of the marks at which old history is looked at."""
        if self.before is None or self.after is None:
            return False
        return self.after.state.seq // THIN_EVERY > self.before.state.seq // THIN_EVERY

    async def _run(self) -> tuple[Version, ...]:
        return await persist(self._ground.port, self._attempt)

    async def _attempt(self) -> tuple[Version, ...] | None:
        guesses, self._may_guess = self._may_guess and self._place.is_mine, False
        if guesses:
            try:
                versions = await self._try(guesses=True)
            except Missing:
                versions = None
            if versions is not None:
                return versions
        while True:
            try:
                return await self._try(guesses=False)
            except ContentWanted as wanted:
                self._ids.add(wanted.number)

    async def _try(self, *, guesses: bool) -> tuple[Version, ...] | None:
        """One try; None if somebody was faster. ``guesses``: on the head as it is remembered."""
        ground, place = self._ground, self._place
        known = place.known if guesses else await look(ground.port, place, ground.roots)
        if known is None:
            return await self._at_first()
        await self._tidy()
        sight = Sight(known.head, place.shelf(ground.port, ground.cache, known.head))
        done = await self._settled(sight)
        if done is not None:
            return done
        if guesses:
            try:
                following = await self._planned(sight)
            except (Lost, Again, Missing):
                raise
            except Exception:  # noqa: BLE001 - only what is truly there may refuse; edits run again
                return None
            if following is None:
                return None
        else:
            following = await self._planned(sight)
            if following is None:
                return ()
        return await self._swap(known, following)

    async def _at_first(self) -> tuple[Version, ...] | None:
        """Make the user's store together with its first batch; None if somebody else made it. The
        entry that names the store is what makes it: until then nobody can find it."""
        ground, place = self._ground, self._place
        if place.user is None:
            raise UnknownId("store")
        await self._tidy()
        store_id, key, head = place.id, place.key, new_head(self._now)
        sight = Sight(head, place.shelf(ground.port, ground.cache, head))
        self._taken = ([], {})  # of a store that was not there: nobody can have them
        following = await self._planned(sight)
        if following is None:
            return ()
        await ground.check()
        root = await ground.roots.make()
        try:
            self._attempts.add(following.head.attempt)
            self._begun[store_id] = following.versions
            tag = await self._put(key, None, following)
        except Taken:
            # Another task or thread of this process is at it; if it was ended, its id is given up.
            self._waits += 1
            if self._waits >= MOST_WAITS:
                place.give_up(store_id)
            return None
        except Lost:
            self._lost.append((key, list(following.bench.objects(following.head.roots))))
            place.give_up(store_id)
            raise
        info = StoreInfo(
            store_id, place.workspace, place.user, place.user,
            created_at_ns=self._now, updated_at_ns=self._now,
        )  # fmt: skip
        try:
            await control.point(ground.port, root, info, place.pointer)
        except (Taken, Lost):
            found = await control.pointer(ground.port, root, place.workspace, place.user)
            if found.info is None or found.info.id != store_id:
                self._lost.append((key, list(following.bench.objects(following.head.roots))))
                place.give_up(store_id)
                return None
        await control.publish(ground.port, root, info)
        place.bind(info.id)
        self._is_done(head, following, tag)
        return following.versions

    async def _tidy(self) -> None:
        """Remove what an earlier try of this batch put for a store that nobody can find."""
        port = self._ground.port
        while self._lost:
            key, objects = self._lost[-1]
            if self._place.is_made and self._place.key == key:
                self._lost.pop()  # it is named after all: by a request that was taken for lost
                continue
            try:
                head = decode((await port.get(key)).data)
            except Missing:
                pass
            else:
                if head.attempt in self._attempts:
                    await port.delete([key])
            await port.delete(objects)
            self._lost.pop()

    async def _planned(self, sight: Sight) -> Next | None:
        """The next head on what is seen; None if the batch comes to nothing."""
        head = sight.head
        wanted = Wanted(self._changes, head)
        seen = await sight.seen(wanted, self._ids)
        context = self._context
        takes_over = context is not None and context.at_ns is not None
        ceiling = Ceiling() if context is None else context.ceiling
        plan = Plan(head, seen, ceiling, takes_over=takes_over)
        plan.do(self._changes)
        notes, uses = self._taken
        records = (list(packed(notes)) if notes else [], uses)
        sealed = seal(head, plan, self._context, records, self._now)
        if sealed is None:
            return None
        bench = self._ground.bench(sight.shelf, head)
        after = await advanced(sight, bench, plan, sealed, self._token)
        if len(after.tail) > MOST_TAIL or len(encode(after)) > MOST_BYTES:
            after = await folded(sight, bench, after)
        return Next(after, bench, sealed.versions)

    async def _swap(self, known: Known, following: Next) -> tuple[Version, ...] | None:
        """Put what is new and swap the head; None if somebody was faster."""
        await self._ground.check()
        first = known.head.state.seq + 1
        self._tried[first] = following.versions
        try:
            tag = await self._put(self._place.key, known, following)
        except Taken:
            # Perhaps by this very batch, if an answer got lost on the way: the next try looks.
            self._place.is_mine = False
            return None
        self._is_done(known.head, following, tag)
        return following.versions

    async def _put(self, key: str, known: Known | None, following: Next) -> dict[str, str]:
        port = self._ground.port
        await port.put_all(following.bench.objects(following.head.roots))
        data = encode(following.head)
        try:
            return dict(await port.put(key, data, None if known is None else known.tag))
        except Lost:
            self._place.is_mine = False
            raise

    async def _settled(self, sight: Sight) -> tuple[Version, ...] | None:
        """What an earlier try wrote, if it did."""
        tried = dict(self._tried)
        if self._place.id in self._begun:
            tried[1] = self._begun[self._place.id]
        for first, versions in tried.items():
            if sight.head.state.seq >= first:
                kept = await sight.event(first)
                if kept is not None and kept.token == self._token:
                    self.before = self.after = sight.head
                    return versions
        return None

    def _is_done(self, before: Head, following: Next, tag: dict[str, str]) -> None:
        self.before, self.after = before, following.head
        self._place.learn(Known(following.head, tag), is_mine=True)
        following.bench.keep_all()
