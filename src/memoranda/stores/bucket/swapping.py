"""Swapping a store's head by what is true at that moment, again and again until it is done."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final, TypeVar

from memoranda.errors import Unavailable, UnknownId
from memoranda.stores.bucket.faults import Missing, Taken
from memoranda.stores.bucket.head import encode
from memoranda.stores.bucket.place import Known, look
from memoranda.stores.bucket.sight import Sight
from memoranda.stores.patience import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    PATIENCE_SECONDS,
    Again,
    Lost,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memoranda.stores.bucket.ground import Ground
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.bucket.port import Port
    from memoranda.stores.bucket.shelf import Bench

T = TypeVar("T")

BUSY: Final = "Too many write to this memory at once; nothing changed, try again."


async def persist(port: Port, attempt: Callable[[], Awaitable[T | None]]) -> T:
    """What ``attempt`` gives once it gives anything: None is a lost race. Pauses grow and are
    random, so that many who race don't meet again; after ten seconds it is ``Unavailable``."""
    until = time.monotonic() + PATIENCE_SECONDS
    pause = FIRST_PAUSE_SECONDS
    while True:
        error: Unavailable = Unavailable(BUSY)
        try:
            done = await attempt()
            if done is not None:
                return done
        except Missing:
            pass  # a page went that an old head named
        except (Lost, Again) as passing:
            error = passing
        if time.monotonic() + pause > until:
            raise error
        await port.pause(pause * random.random())  # noqa: S311 - jitter, not a secret
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def swap(
    ground: Ground, place: Place, work: Callable[[Sight, Bench], Awaitable[Head | None]]
) -> Head:
    """The store's head after ``work``, which gives the next one, or None to leave it as it is. Only for
    work that may be done twice. Raises ``UnknownId`` for a store that nobody made."""
    tried: set[str] = set()

    async def attempt() -> Head | None:
        known = await look(ground.port, place, ground.roots)
        if known is None:
            raise UnknownId("store")
        if known.head.attempt in tried:
            return known.head
        shelf = place.shelf(ground.port, ground.cache, known.head)
        bench = ground.bench(shelf, known.head)
        following = await work(Sight(known.head, shelf), bench)
        if following is None:
            return known.head
        await ground.check()
        tried.add(following.attempt)
        await ground.port.put_all(bench.objects(following.roots))
        try:
            tag = await ground.port.put(place.key, encode(following), known.tag)
        except Taken:
            return None
        place.learn(Known(following, tag), is_mine=True)
        bench.keep_all()
        return following

    async with ground.port.turn(place.key):
        return await persist(ground.port, attempt)
