"""Stores and times for tests of what stands above the stores."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.drive import run_now
from memoranda.stores.base import Change, Context, Edit, Store, Version, WrapperStore
from memoranda.stores.ram import RamBackend


def fresh_store(user: str = "acme") -> Store:
    """An empty store in memory."""
    return run_now(RamBackend().for_user(user))


class LostARace(WrapperStore):
    """Runs each edit once for nothing, as a store does that reads, and is overtaken."""

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        for change in changes:
            if isinstance(change, Edit):
                change.edit(b"")
        return await self.inner.apply(changes, context)
