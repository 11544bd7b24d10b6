"""Taking over what people pushed: their commits are the branch's history, so they become ours.

What changed between the branch as the log left it and the branch as it is becomes one batch by the
actor ``external``. What no memory can be (links, other repositories, names that no path has) stays
in the branch as it is and is not ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import BadPath, Refused
from memoranda.path import ROOT_TEXT, MemoryPath, parse_path
from memoranda.stores.base import Context, Move, Put, Remove
from memoranda.stores.git import batch, trees
from memoranda.stores.git.batch import Foreign
from memoranda.stores.git.names import from_git
from memoranda.stores.git.objects import FILE_MODES
from memoranda.stores.log.records import NOTHING_TAKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.stores.base import Change
    from memoranda.stores.git.log import Head
    from memoranda.stores.git.objects import Entry, Id, Objects
    from memoranda.stores.git.trees import Names

EXTERNAL: Final = "external"
PUSHED: Final = "push"


def adopt(objects: Objects, head: Head, main: Id, now_ns: int) -> Head:
    """The state once the branch at ``main`` is taken over.

    Where it does not follow the branch as the log left it (somebody pushed while a batch was on
    its way, or moved the branch by hand), both are merged: nothing of either is lost, and a file
    that both changed is as it was pushed.
    """
    tree = objects.read_commit(main).tree
    base = _common(objects, head, main)
    context = Context(EXTERNAL, PUSHED, trace_id=main.hex())
    if base == head.main:
        foreign = Foreign([main], tree)
    else:
        before = None if base is None else objects.read_commit(base).tree
        theirs = {names: now for names, _, now in trees.differences(objects, before, tree)}
        merged = trees.graft(objects, head.memories, theirs)
        parents = [main] if head.main is None else [main, head.main]
        foreign = Foreign(parents, objects.tree({}) if merged is None else merged)
    for changes in _ways(objects, head.memories, foreign.tree):
        try:
            return batch.run(
                objects, head, changes, context, NOTHING_TAKEN, now_ns, foreign=foreign
            ).head
        except Refused:
            continue
    raise AssertionError("what is there can be put where it is")


def _ways(objects: Objects, before: Id | None, after: Id) -> Iterator[Sequence[Change]]:
    """The changes between two trees: with renames that keep ids, then without."""
    gone: list[tuple[MemoryPath, Id]] = []
    come: list[tuple[MemoryPath, Id]] = []
    rewritten: list[Change] = []
    for names, was, now in trees.differences(objects, before, after):
        path = memory_at(names)
        if path is None:
            continue
        old, new = _content(was), _content(now)
        if old is not None and new is not None:
            if old != new:
                rewritten.append(Put(path, objects.read_blob(new)))
        elif old is not None:
            gone.append((path, old))
        elif new is not None:
            come.append((path, new))
    moves: list[Change] = []
    left = list(gone)
    fresh: list[tuple[MemoryPath, Id]] = []
    for path, blob in come:
        source = next((one for one, old in left if old == blob), None)
        if source is None:
            fresh.append((path, blob))
        else:
            left.remove((source, blob))
            moves.append(Move(source, path))
    if moves:
        removed = [Remove(path) for path, _ in left]
        put = [Put(path, objects.read_blob(blob)) for path, blob in fresh]
        yield [*removed, *moves, *rewritten, *put]
    yield [
        *(Remove(path) for path, _ in gone),
        *rewritten,
        *(Put(path, objects.read_blob(blob)) for path, blob in come),
    ]


def _content(entry: Entry | None) -> Id | None:
    """The content of a plain file."""
    return entry.id if entry is not None and entry.mode in FILE_MODES else None


def memory_at(names: Names) -> MemoryPath | None:
    """The memory that a file of the tree is; None for one that no path leads to."""
    try:
        segments = tuple(from_git(name.decode()) for name in names)
        if None in segments:
            return None
        path = parse_path("/".join((ROOT_TEXT, *map(str, segments))))
    except (BadPath, UnicodeDecodeError):
        return None
    # Names that are not in Unicode NFC would be another path's.
    return path if path.segments == segments else None


def _common(objects: Objects, head: Head, main: Id) -> Id | None:
    """The newest commit of the branch as the log left it that ``main`` follows, too."""
    if head.main is None:
        return None
    theirs = set(_ancestors(objects, main, head.main))
    if head.main in theirs:
        return head.main
    return next((each for each in _ancestors(objects, head.main, None) if each in theirs), None)


def _ancestors(objects: Objects, commit: Id, until: Id | None) -> Iterator[Id]:
    """A commit and those before it, nearest first; none beyond ``until``."""
    seen = {commit}
    waiting = [commit]
    for each in waiting:
        yield each
        if each == until:
            return
        for parent in objects.read_commit(each).parents:
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)


def is_behind(objects: Objects, head: Head, main: Id | None, steps: int) -> bool:
    """Whether a branch is one that the log left lately: whoever wrote the log has yet to move it."""
    before = head
    for _ in range(steps):
        if main == before.main:
            return True
        if not before.skips:
            return False
        before = _read(objects, before)
    return False


def _read(objects: Objects, head: Head) -> Head:
    from memoranda.stores.git import log

    return log.read(objects, head.skips[0].commit)
