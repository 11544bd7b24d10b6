"""A new store that another one's history is to come into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.errors import StoreExists
from memoranda.light_dataclasses import replace
from memoranda.stores.bucket import control
from memoranda.stores.bucket.faults import Taken
from memoranda.stores.bucket.growth import noted
from memoranda.stores.bucket.head import decode, encode, new_head
from memoranda.stores.bucket.shelf import Shelf
from memoranda.stores.bucket.sight import Sight

if TYPE_CHECKING:
    from memoranda.stores.base import Origin, StoreInfo
    from memoranda.stores.bucket.ground import Ground


async def take_up(ground: Ground, info: StoreInfo, origin: Origin) -> None:
    """Make the store with its first entry. Doing it again after a lost answer changes nothing; another
    store with this id, or of this user, raises ``StoreExists``."""
    control.check_id(info.id)
    await ground.check()
    port, root = ground.port, await ground.roots.make()
    folder = control.folder(info.id)
    entry = control.NO_POINTER
    if info.user is not None:
        entry = await control.pointer(port, root, info.workspace, info.user)
        if entry.info is not None and entry.info.id != info.id:
            raise StoreExists
    began = new_head(info.created_at_ns)
    head = replace(began, secret=origin.id_key, state=began.state._replace(seq=origin.above))
    shelf = Shelf(port, ground.cache, folder, origin.id_key)
    bench = ground.bench(shelf, head)
    first = await noted(
        Sight(head, shelf), bench, [(origin.context, info.created_at_ns)], info.created_at_ns
    )
    await port.put_all(bench.objects(first.roots))
    try:
        await port.put(f"{folder}/head", encode(first), None)
    except Taken:
        await _check_ours(ground, info, origin)
    if info.user is not None and entry.info is None:
        try:
            await control.point(port, root, info, entry.tag)
        except Taken:
            raise StoreExists from None
    await control.publish(port, root, info)


async def _check_ours(ground: Ground, info: StoreInfo, origin: Origin) -> None:
    """Raise ``StoreExists`` unless the head that is there is one that this began."""
    there = decode((await ground.port.get(f"{control.folder(info.id)}/head")).data)
    if there.secret != origin.id_key or there.state.seq <= origin.above or there.is_erased:
        raise StoreExists
