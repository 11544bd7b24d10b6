"""Redo: a process died between its commit and the last step in the tree; the next turn goes on.

The page cache is whole (same boot), so images can be trusted: what is in its place with its image
is done, a new content that waits in ``incoming/`` goes in, and what is in neither comes out of the
log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.stores.folder.follow import Outcome, image_of_step
from memoranda.stores.folder.heads import place_in_database, temporary_name
from memoranda.stores.folder.tree import Tree
from memoranda.stores.log import bodies
from memoranda.stores.log.replay import TreeStep, tree_events
from memoranda.stores.log.text import Text
from memoranda.stores.log.turn import Turn

if TYPE_CHECKING:
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.log.store_log import Image


def redo(opened: OpenStore, applied: int) -> Outcome:
    """Bring the tree from event ``applied`` to the newest one. Under the lock."""
    steps = [step for step in tree_events(opened.log, applied) if not _is_in_place(opened, step)]
    rewritten = _rewrite(opened, steps)
    steps = [
        step._replace(image=rewritten[step.node]) if step.node in rewritten else step
        for step in steps
    ]
    waiting = set(opened.files.names(opened.incoming.number))
    return opened.follow(steps, applied, waiting=waiting)


def _is_in_place(opened: OpenStore, step: TreeStep) -> bool:
    """Whether the node of a step is where it ends up in the log, as it ends up."""
    row = opened.db.execute(
        "SELECT size, ino, mtime, files FROM node WHERE id = ?", (step.node,)
    ).fetchone()
    place = place_in_database(opened.log, step.node)
    if place is None or row is None:
        return False
    size, ino, mtime, files = row
    if files is None:
        return opened.tree.seen(place) == (ino, mtime, size)
    found = opened.tree.look(place)
    return found is not None and found.st_ino == ino


def _rewrite(opened: OpenStore, steps: list[TreeStep]) -> dict[int, Image]:
    """Write from the log what should wait in ``incoming/`` and does not; the new images."""
    incoming = Tree(opened.files, opened.incoming.number)
    lost = [
        step
        for step in steps
        if step.write
        and incoming.seen((temporary_name(step.content_seq or 0),)) != image_of_step(step)
    ]
    if not lost:
        return {}
    heads = opened.heads()
    images: dict[int, Image] = {}
    with opened.transaction():
        turn = Turn(opened.log, heads, opened.clock.now_ns())
        for step in lost:
            assert step.content_seq is not None
            text = Text(bodies.content(opened.log, step.content_seq))
            images[step.node] = heads.write(temporary_name(step.content_seq), text)
            node = turn.tree.get(step.node)
            assert node is not None
            turn.set_image(node, images[step.node])
        turn.finish()
    return images
