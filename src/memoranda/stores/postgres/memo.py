"""What a process remembers of a store that nobody else writes to, so that it need not look again.

Only a guess: it is written only if the store still is where the guess saw it, and what it takes for
free is free. Whoever reads gets what is stored, never what is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.light_dataclasses import replace
from memoranda.stores.base import Edit, Expect, Put
from memoranda.stores.planning import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change
    from memoranda.stores.planning import Item, Plan, State

MOST_ITEMS: Final = 16
LARGEST_ITEM_BYTES: Final = 32 * 1024


class Guess(NamedTuple):
    """What a batch most likely would be shown; ``free`` are paths that have to be free for it:
    no memory is there or above, nothing lies beneath."""

    seen: Seen
    free: Sequence[MemoryPath]


class Memo(NamedTuple):
    """A store's state after this process's last write, and memories that it wrote lately."""

    state: State
    items: Mapping[MemoryPath, Item]

    def guess(self, changes: Sequence[Change]) -> Guess | None:
        """What there is to go by for these changes; None if that is not enough."""
        items: dict[MemoryPath, Item] = {}
        free: list[MemoryPath] = []
        for change in changes:
            if not isinstance(change, Put | Edit) or change.path.is_root:
                return None
            path, item = change.path, self.items.get(change.path)
            if item is not None:
                # A copy: a plan that comes to nothing must leave no trace.
                items[path] = replace(item)
            elif isinstance(change, Put) and change.expect is Expect.ABSENT:
                free.append(path)
            else:
                return None
            if isinstance(change, Put) and change.keep_id is not None:
                return None
        return Guess(Seen(self.state, {}, tuple(items.values())), free)


def after(before: Memo | None, state: State, plan: Plan) -> Memo:
    """What is known once a plan is written that led to ``state``; ``before`` where nobody else
    has written since."""
    items = {} if before is None else dict(before.items)
    for item in plan.touched:
        was = plan.before.get(item.id)
        if was is not None and was.path not in {None, item.path}:
            items.clear()  # what is beside it may have gone with it, or is in its place
            break
    for item in plan.touched:
        if item.path is None:
            continue
        items.pop(item.path, None)
        if item.data is not None and item.size <= LARGEST_ITEM_BYTES:
            items[item.path] = replace(item)
    for path in tuple(items)[:-MOST_ITEMS]:
        del items[path]
    return Memo(state, items)
