"""A new store that another one's history is to come into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import StoreExists
from memoranda.stores.postgres import stores, writing
from memoranda.stores.postgres.place import Made

if TYPE_CHECKING:
    from memoranda.stores.base import Origin, StoreInfo
    from memoranda.stores.postgres.port import Session

_UPDATED: Final = "UPDATE memoranda.store SET updated = %s WHERE number = %s"
_ABOVE: Final = "UPDATE memoranda.state SET seq = %s WHERE store = %s AND seq = 0 RETURNING seq"


async def take_up(session: Session, info: StoreInfo, origin: Origin) -> None:
    """Make the store with its first entry, in a transaction. Doing it again after a lost answer
    changes nothing; another store with this id, or of this user, raises ``StoreExists``."""
    rows = await stores.make_if_free(session, info, origin.id_key)
    if not rows or (rows[0][1], bytes(rows[0][2])) != (info.id, origin.id_key):
        raise StoreExists
    number = rows[0][0]
    await session.run(_UPDATED, (info.updated_at_ns, number))
    if await session.run(_ABOVE, (origin.above, number)):
        made = Made(number, origin.id_key)
        await writing.note(session, made, origin.context, info.created_at_ns)
