"""How much history stays: a store layer that tells the store below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoranda.light_dataclasses import replace
from memoranda.stores.base import Change, Context, Retention, Store, Version, WrapperStore

BUDGET_TIMES: Final = 10
"""Without a policy of its own a store's history takes up to so many times what the store may hold."""


def default_retention(store_bytes: int | None) -> Retention:
    """What holds where nothing else is said: 30 days, the newest 10 versions, and a budget of ten
    times ``store_bytes``; no budget where the store has no limit."""
    return Retention(budget_bytes=None if store_bytes is None else BUDGET_TIMES * store_bytes)


class KeepHistory(WrapperStore):
    """A store layer: every batch says how much history the store below has to keep."""

    def __init__(self, inner: Store, retention: Retention) -> None:
        super().__init__(inner)
        self._retention = retention

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        return await self.inner.apply(changes, replace(context, retention=self._retention))
