"""The contents that a transaction read and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memoranda.stores.log.node import Node
from memoranda.stores.log.store_log import Image
from memoranda.stores.log.text import Text

if TYPE_CHECKING:
    from memoranda.stores.log.heads import Heads


class Fresh(NamedTuple):
    """A content that changed; ``image`` where its file lies in the tree already."""

    node: Node
    text: Text
    image: Image | None


class Contents:
    """Present contents of files by node: a transaction's own where it changed them, else the
    heads' as they were read first."""

    __slots__ = ("_before", "_heads", "_read", "fresh", "gone")

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._read: dict[int, bytes] = {}
        self.fresh: dict[int, Fresh] = {}
        self.gone: dict[int, Node] = {}
        self._before: tuple[dict[int, Fresh], dict[int, Node]] = ({}, {})

    def begin(self) -> None:
        """From here on ``undo`` brings everything back."""
        self._before = (self.fresh.copy(), self.gone.copy())

    def undo(self) -> None:
        """Bring back what was at the last ``begin``."""
        self.fresh, self.gone = self._before

    def read(self, node: Node) -> bytes:
        """The whole content of a file."""
        fresh = self.fresh.get(node.id)
        if fresh is not None:
            return fresh.text.whole()
        data = self._read.get(node.id)
        if data is None:
            data = self._read[node.id] = self._heads.read(node)
        return data

    def set(self, node: Node, text: Text, image: Image | None) -> None:
        """A file has a new content."""
        before = self.fresh.get(node.id)
        self.fresh[node.id] = Fresh(
            node, text if before is None else text.after(before.text), image
        )
        self.gone.pop(node.id, None)

    def set_image(self, node: Node, image: Image) -> None:
        """A file's content is in the tree as it is."""
        before = self.fresh.get(node.id)
        if before is None:
            node.ino, node.mtime = image
        else:
            self.fresh[node.id] = Fresh(node, before.text, image)

    def forget(self, node: Node) -> None:
        """A file (or a directory, which has nothing here) is gone."""
        self.fresh.pop(node.id, None)
        if not node.is_directory:
            self.gone[node.id] = node

    def cancel(self, node: Node) -> None:
        """A file that came in this command is as if it never had."""
        self.fresh.pop(node.id, None)
