"""What a tree of files has to do to follow the log: the events since one, as steps.

The same steps serve right after a commit and for the redo after a crash. Each can be repeated:
whoever follows looks first whether the tree already is as the step wants it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.stores.log.store_log import Image, StoreLog


class Spot(NamedTuple):
    """A place in the tree: the names from the root down, and the node number of each."""

    names: tuple[str, ...]
    nodes: tuple[int, ...]


class TreeStep(NamedTuple):
    """One event as a tree of files sees it.

    ``source`` is where the node was right before, None if it was not there; ``target`` where it is
    right after, None if it is gone. Both in terms of the tree at that point of the replay.
    ``write`` tells that the file's content has to be put there: the *last* content of the node in
    the replayed range (``content_seq``; rebuild it by ``bodies.content(log, content_seq)``), with
    its ``image`` where one was given. It stands with the first step of the node that needs it;
    later contents of the same node give no steps. A node that is made and removed within the range
    gives none at all.
    """

    seq: int
    node: int
    directory: bool
    source: Spot | None
    target: Spot | None
    write: bool
    content_seq: int | None
    image: Image | None
    size: int | None


def tree_events(log: StoreLog, after_seq: int) -> Iterator[TreeStep]:
    """The steps for all events after ``after_seq`` (a database number), oldest first.

    Directories that appear or vanish with their first or last file give no steps: make the parents
    of a target, and remove the directories that a source left empty (the log knows an empty
    directory as not there).
    """
    raise NotImplementedError
