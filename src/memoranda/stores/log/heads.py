"""Where the present contents live: the port between the log and a tree of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.store_log import Image
    from memoranda.stores.log.text import Text


class Heads(Protocol):
    """Present contents, as a turn needs them. Everything runs inside the turn's transaction."""

    __slots__ = ()

    def read(self, node: Node) -> bytes:
        """The whole present content of a file node, as it was before this turn.

        Called for each Edit and for each Put that replaces (a Put of equal content reads nothing),
        once a node and turn: later commands see the turn's own text. A folder compares the file's
        image first and may raise its own signal, which undoes the command and passes through.
        """
        ...

    def store(self, node: Node, seq: int, text: Text) -> Image | None:
        """Keep the final content of a file that changed in this turn; called by ``Turn.finish``,
        once a node. ``seq`` is the event that holds the content (a good name for a temporary file).
        The image that is returned goes into the node and into that event; None leaves them empty.
        Not called for what ``Turn.adopt`` brought in unless a later command changed it again,
        nor for files that ended up removed."""
        ...

    def drop(self, node: Node) -> None:
        """A file node was removed by itself in this turn; called by ``Turn.finish``. (Nodes below a
        removed directory are not told one by one.)"""
        ...
