"""Text that speaks to the agent as an instruction would is marked: a store layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memoranda.light_dataclasses import replace
from memoranda.stores.base import Change, Context, Version, WrapperStore

if TYPE_CHECKING:
    from memoranda.policies.marks import Marks


class MarkInjection(WrapperStore):
    """A store layer: marks go into the audit entry of the change, in its own transaction.

    The entry's details name, by path, the marks of ``memoranda.detect.injection``. Contents and
    names of new places are looked at; of an edit what is new, with what stands near it. Nothing is
    changed or refused. The patterns are loaded with the first write.
    """

    @cached_property
    def _marks(self) -> type[Marks]:
        from memoranda.policies.marks import Marks

        return Marks

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        marks = self._marks(context)
        looked_at = [marks.look_at(change, place) for place, change in enumerate(changes)]
        return await self.inner.apply(looked_at, replace(context, audit=marks.draft))
