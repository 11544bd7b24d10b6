"""Where a store is, and what this process knows of it: shared by all its handles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memoranda.errors import Corrupt, UnknownId
from memoranda.stores.bucket import control
from memoranda.stores.bucket.faults import Missing, Same
from memoranda.stores.bucket.head import decode
from memoranda.stores.bucket.shelf import Shelf
from memoranda.stores.bucket.sight import Sight
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.records import Records

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memoranda.stores.bucket.cache import Cache
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.port import Port, Tag

T = TypeVar("T")

LOOKS: Final = 8
"""How often a reader begins anew because an object of its moment was removed meanwhile."""


class Known(NamedTuple):
    """A head and which writing of the object it is."""

    head: Head
    tag: Tag


class Place:
    """Where a store is, or will be once its user changes anything.

    ``id`` of a user's store that is not made yet is the one that it will get, unless somebody else
    makes it first.
    """

    __slots__ = (
        "__weakref__", "id", "is_made", "is_mine", "known", "pointer", "records", "user", "workspace",
    )  # fmt: skip

    def __init__(self, store_id: str, workspace: str, user: str | None) -> None:
        self.id = store_id
        self.workspace = workspace
        self.user = user
        self.is_made = user is None
        self.records = Records()
        self.known: Known | None = None
        self.is_mine = False
        """Whether this process wrote last, as far as it knows."""
        self.pointer: Tag | None = None
        """The user's entry as it was seen when it named no store."""

    @property
    def key(self) -> str:
        """The key of the store's head."""
        return f"{control.folder(self.id)}/head"

    def learn(self, known: Known, *, is_mine: bool) -> None:
        """A head was seen or written; an older one than is known changes nothing."""
        if self.known is None or known.head.turn >= self.known.head.turn:
            self.known = known
            self.is_mine = is_mine

    def bind(self, store_id: str) -> None:
        """The store exists."""
        if store_id != self.id:
            self.id, self.known = store_id, None
        self.is_made = True

    def give_up(self, store_id: str) -> None:
        """Nobody will make the store of this id: it gets another one, if it has still to be made."""
        if not self.is_made and self.id == store_id:
            self.id, self.known = new_store_id(), None

    def shelf(self, port: Port, cache: Cache, head: Head) -> Shelf:
        """The store's immutable objects."""
        return Shelf(port, cache, control.folder(self.id), head.secret)


async def look(port: Port, place: Place, root: control.Roots) -> Known | None:
    """The store as it is now: one round trip, with nothing in it while the head is the known one.

    None while nobody made it; raises ``UnknownId`` for a store that was erased.
    """
    is_new_here = not place.is_made
    if is_new_here:
        there = await root.read()
        found = await control.pointer(port, there, place.workspace, place.user or "")
        place.pointer = found.tag
        if there is None or found.info is None:
            return None
        await control.heal(port, there, found.info)
        place.bind(found.info.id)
    known = place.known
    try:
        got = await port.get(place.key, None if known is None else known.tag)
    except Same:
        assert known is not None  # it was asked for
        return known
    except Missing:
        _gone(place, is_new_here=is_new_here)
        return None
    known = Known(decode(got.data), got.tag)
    if known.head.is_erased:
        _gone(place, is_new_here=is_new_here)
        return None
    place.learn(known, is_mine=False)
    return known


def _gone(place: Place, *, is_new_here: bool) -> None:
    """The store that is named is erased. A user whose entry still names it begins anew; who had it
    open is told."""
    if not is_new_here or place.user is None:
        raise UnknownId("store")
    place.is_made = False
    place.give_up(place.id)


async def seen(
    port: Port,
    cache: Cache,
    place: Place,
    root: control.Roots,
    work: Callable[[Sight], Awaitable[T]],
) -> T | None:
    """What ``work`` gives on one moment of the store; None where nobody made it."""
    turn: int | None = None
    for _ in range(LOOKS):
        known = await look(port, place, root)
        if known is None:
            return None
        try:
            return await work(Sight(known.head, place.shelf(port, cache, known.head)))
        except Missing as error:
            # Redaction and collection remove what only old heads name.
            if turn == known.head.turn:
                raise Corrupt("An object of the store is missing.") from error
            turn = known.head.turn
    raise Corrupt("Objects of the store go missing all the time.")
