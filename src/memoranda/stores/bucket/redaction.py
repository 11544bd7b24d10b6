"""Blanking a version for good: its content, path, size and hash.

The pages that show it are written anew and the head is swapped; then the content is overwritten where
it lies, with zeros, so that what shares its object keeps its place; then all older pages are removed
at once, however young: a reader that still uses one begins anew. What was begun and not ended, because
its process was killed, stands in the head and is ended by the next redaction or repair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.errors import NotRedactable, UnknownId
from memoranda.light_dataclasses import replace
from memoranda.stores.bucket import history
from memoranda.stores.bucket.collecting import begun, sweep
from memoranda.stores.bucket.faults import Missing, Taken
from memoranda.stores.bucket.growth import folded, noted
from memoranda.stores.bucket.head import EVENTS, EVER, ever_key, new_attempt
from memoranda.stores.bucket.kept import blanked, rest_of, row_of
from memoranda.stores.bucket.place import seen
from memoranda.stores.bucket.shelf import PACKS, offset_of, pack_of
from memoranda.stores.bucket.swapping import swap
from memoranda.stores.log import ids
from memoranda.stores.log.gone import BLANKED
from memoranda.stores.sealing import clean

if TYPE_CHECKING:
    from memoranda.stores.base import Context, Version
    from memoranda.stores.bucket.ground import Ground
    from memoranda.stores.bucket.head import Head
    from memoranda.stores.bucket.kept import Kept
    from memoranda.stores.bucket.place import Place
    from memoranda.stores.bucket.shelf import Bench
    from memoranda.stores.bucket.sight import Sight
    from memoranda.stores.bucket.tree import Key, Row

FOR_EVER_NS = 2**62


async def redact(
    ground: Ground, place: Place, version_id: str, context: Context, now_ns: int
) -> Version:
    """What ``Store.redact`` promises."""

    async def work(sight: Sight, bench: Bench) -> Head | None:
        return await _next(sight, bench, version_id, context, now_ns)

    await swap(ground, place, work)
    await finish(ground, place)
    version = await seen(
        ground.port, ground.cache, place, ground.roots, lambda sight: history.one(sight, version_id)
    )
    if version is None:
        raise UnknownId("version")
    return version


async def finish(ground: Ground, place: Place) -> None:
    """End what redactions have begun: overwrite contents, remove the pages that showed them."""
    known = place.known
    if known is None:
        return
    head = known.head
    shelf = place.shelf(ground.port, ground.cache, head)
    for where, size in head.blanks:
        await _overwrite(ground, shelf.key(PACKS, pack_of(where)), offset_of(where), size)
        shelf.keep(where, b"")
    await sweep(ground, place, head, FOR_EVER_NS, packs=False)
    done = set(head.blanks)
    if not done:
        return

    async def end(sight: Sight, bench: Bench) -> Head | None:
        del bench
        left = tuple(one for one in sight.head.blanks if one not in done)
        if left == sight.head.blanks:
            return None
        return replace(sight.head, turn=sight.head.turn + 1, attempt=new_attempt(), blanks=left)

    await swap(ground, place, end)


async def _overwrite(ground: Ground, key: str, offset: int, size: int) -> None:
    while True:
        try:
            got = await ground.port.get(key)
        except Missing:
            return
        data = got.data[:offset] + bytes(size) + got.data[offset + size :]
        if data == got.data:
            return
        try:
            await ground.port.put(key, data, got.tag)
        except Taken:
            continue
        return


async def _next(
    sight: Sight, bench: Bench, version_id: str, context: Context, now_ns: int
) -> Head | None:
    """The head after the redaction; None if the version was redacted before."""
    head = sight.head
    numbers = ids.event_of(head, version_id)
    kept = None if numbers is None else await sight.event(numbers[0])
    if numbers is None or kept is None or kept.event.memory != numbers[1]:
        raise UnknownId("version")
    if kept.is_redacted:
        return None
    seq, memory = numbers
    row = await sight.memory(memory)
    if row is not None and row[0] is not None and row[2] == seq:
        raise NotRedactable
    rows: dict[Key, Kept] = {}
    first = await sight.event(kept.event.batch)
    if first is not None and (first.event.audit or first.draft):
        rows[first.event.seq] = blanked(first, head.secret, await sight.draft(first))
    kept = rows.get(seq, kept)
    kept = blanked(kept, head.secret, kept.event.audit)
    others = [
        one
        for one in (await sight.events_of(await sight.versions_of(memory))).values()
        if one.event.seq != seq and not one.is_redacted
    ]
    blanks = head.blanks
    freed = 0
    if kept.place and all(one.place != kept.place for one in others):
        freed = kept.event.size or 0
        blanks = (*blanks, (kept.place, freed))
        owner = kept if kept.event.body == seq else await sight.event(kept.event.body or 0)
        if owner is not None and owner.event.seq != seq:
            owner = rows.get(owner.event.seq, owner)
            rows[owner.event.seq] = owner._replace(taken=owner.taken - freed)
        elif owner is not None:
            kept = kept._replace(taken=kept.taken - freed)
        else:
            freed = 0
    ever: dict[Key, Row | None] = {}
    path = kept.event.path
    if path is not None and all(one.event.path != path for one in others):
        ever[ever_key(path, memory)] = None
    rows[seq] = kept._replace(
        event=kept.event._replace(path=None, size=None, sha=None, body=None),
        place=None,
        redacted_at=max(now_ns, kept.event.at),
        redacted_by=clean(context.actor),
    )
    said = {
        "version": version_id,
        BLANKED: {
            str(number): rest_of(one, head.secret) for number, one in rows.items() if one.digest
        },
    }
    note = replace(context, audit={**context.audit, **said})
    after = begun(await noted(sight, bench, [(note, now_ns)], now_ns), now_ns, packs=False)
    after = replace(
        after, turn=head.turn + 1, swept=head.turn + 1, history=after.history - freed, blanks=blanks
    )
    changed = {number: row_of(one) for number, one in rows.items()}
    return await folded(sight, bench, after, {EVENTS: changed, EVER: ever})
