"""What a command changed, before it becomes events: one draft for each thing done to a node.

Drafts of one node that follow each other directly are one: content and path together make one
version. Where other changes lie between, a moved node keeps its steps apart, so that a tree of
files can follow them in order; the history shows the last one only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.light_dataclasses import dataclass
from memoranda.stores.log import events

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.text import Text
    from memoranda.stores.log.tree import Tree


@dataclass(slots=True)
class Draft:
    """An event in the making. ``text`` is the new content, compared with the one that the node
    had before the command; None where the content stays."""

    event: events.Event
    node: Node
    path: MemoryPath
    text: Text | None = None
    cancelled: bool = False


class Drafts:
    """The drafts of one command, in order."""

    __slots__ = ("_all", "_by_node", "_tree")

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._all: list[Draft] = []
        self._by_node: dict[int, list[Draft]] = {}

    def of(self, node: Node) -> Draft | None:
        """The node's newest draft."""
        drafts = self._by_node.get(node.id)
        return drafts[-1] if drafts else None

    def add(
        self, event: events.Event, node: Node, path: MemoryPath, text: Text | None = None
    ) -> None:
        """A new draft at the end."""
        draft = Draft(event, node, path, text)
        self._all.append(draft)
        self._by_node.setdefault(node.id, []).append(draft)

    def renew(self, node: Node, path: MemoryPath) -> Draft | None:
        """The node's draft if it is the last of all, with a new number: numbers that were handed
        out since are older than it. None where a draft of its own is needed."""
        draft = self.of(node)
        if draft is None or draft is not self._all[-1] or draft.event.op == events.DELETED:
            return None
        draft.path = path
        draft.event.seq = self._tree.number()
        return draft

    def began(self, node: Node) -> bool:
        """Whether the command made (or revived) the node."""
        drafts = self._by_node.get(node.id, ())
        return any(draft.event.op in {events.CREATED, events.REVIVED} for draft in drafts[:1])

    def cancel(self, node: Node) -> None:
        """Nothing came of a file in this command: its drafts go, and it is what it was."""
        self._drop(node)
        self._tree.restore(node)

    def _drop(self, node: Node) -> None:
        for draft in self._by_node.pop(node.id):
            draft.cancelled = True
        while self._all and self._all[-1].cancelled:
            self._all.pop()

    def settle(self) -> list[Draft]:
        """The drafts that stay, in order: a node that ended as it began has none.

        They get their batch, the number of the first one. Whatever else was done to a node that
        the command made counts as the making, too.
        """
        for drafts in tuple(self._by_node.values()):
            if len(drafts) == 1:
                if self._tree.is_as_before(drafts[0].node):
                    self._drop(drafts[0].node)
            elif self.began(drafts[0].node):
                for draft in drafts[1:]:
                    draft.event.op = events.CREATED
        kept = [draft for draft in self._all if not draft.cancelled]
        for draft in kept:
            draft.event.batch = kept[0].event.seq
        return kept
