"""Removing what has expired from every store, time and again, where the settings ask for it."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from memoranda.errors import MemorandaError, Unsupported

if TYPE_CHECKING:
    from memoranda.server.hosted import Hosted
    from memoranda.server.keys import Keys
    from memoranda.stores.base import StoreInfo

_PAGE: Final = 100
_MINUTE_SECONDS: Final = 60
_log: Final = logging.getLogger("memoranda.server")


async def sweep_again_and_again(hosted: Hosted, keys: Keys, minutes: int) -> None:
    """Sweep every so many minutes, for the first time after the first of them; until cancelled."""
    while True:
        await asyncio.sleep(minutes * _MINUTE_SECONDS)
        try:
            await sweep_every_store(hosted, keys)
        except MemorandaError as error:
            _log.warning("The stores could not be swept", exc_info=error)


async def sweep_every_store(hosted: Hosted, keys: Keys) -> int:
    """Sweep each store whose policy has anything expire, one after the other; from how many
    something went. One that can't be swept now keeps no other from it."""
    n_changed = 0
    for workspace in await _workspaces(hosted, keys):
        after: str | None = None
        while True:
            page = await hosted.do(hosted.backend.list(workspace, after=after, limit=_PAGE))
            for info in page.stores:
                try:
                    n_changed += await _sweep(hosted, info)
                except MemorandaError as error:
                    _log.warning("A store could not be swept", exc_info=error)
            after = page.after
            if after is None:
                break
    return n_changed


async def _sweep(hosted: Hosted, info: StoreInfo) -> bool:
    policy = hosted.policy(info)
    if info.archived_at_ns is not None or not (policy.expiry or policy.asks_people):
        return False
    core = hosted.upkeep(info)
    went = False
    if policy.expiry:
        swept = await hosted.do(core.programs.sweep(time.time_ns(), dry_run=False, progress=None))
        went = bool(swept.removed)
    if policy.asks_people:
        went |= bool(await hosted.do(core.review.expire(time.time_ns(), dry_run=False)))
    return went


async def _workspaces(hosted: Hosted, keys: Keys) -> tuple[str, ...]:
    """Those that have stores; where nobody may list them all, those that somebody has a key for."""
    try:
        return await hosted.do(hosted.backend.workspaces())
    except Unsupported:
        return tuple(sorted({key.workspace for key in await hosted.do(keys.list())}))
