"""What lies in ``incoming/`` and ``trash/`` and is over: compared, kept in history, unlinked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.digests import sha256
from memoranda.errors import Refused
from memoranda.stores.base import Put, Remove
from memoranda.stores.folder.external_edits import EXTERNAL
from memoranda.stores.folder.file_port import LISTING
from memoranda.stores.folder.found_names import path_of
from memoranda.stores.folder.heads import place_in_database, seq_of_name
from memoranda.stores.folder.home import INCOMING, RECOVERED, TRASH
from memoranda.stores.folder.known import contents_from, is_any_of, past_of
from memoranda.stores.folder.layout import open_or_make_directory
from memoranda.stores.folder.tree import Place, Seen, Tree
from memoranda.stores.log.store_log import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.path import MemoryPath
    from memoranda.stores.folder.file_port import Files
    from memoranda.stores.folder.linger import Touched
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.folder.repair import Stale
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.turn import Turn

_NODE: Final = "SELECT node FROM event WHERE seq = ?"
_REMOVAL: Final = "SELECT node, oparent, oname FROM event WHERE seq = ?"
_CHILD: Final = "SELECT id, ino, mtime, size FROM node WHERE parent = ? AND name = ?"


# ---------------------------------------------------------------- incoming/


def take_touched(opened: OpenStore, now: float) -> list[Touched]:
    """Unlink the displaced files whose time has come; those that somebody wrote into come back,
    for ``keep_late``. ``now`` is on the monotonic clock."""
    touched: list[Touched] = []
    if not opened.lingering.due(now):
        return touched
    for displaced in opened.lingering.take_due(now):
        found = opened.lingering.settle(displaced, now)
        if found is None:
            continue
        if displaced.seen is None and _is_known(opened, found):
            opened.files.remove(found.name, opened.incoming.number)
        elif _node_of(opened, found.name) is None:
            to_recovered(opened, found.name, opened.incoming.number)
        else:
            touched.append(found)
    return touched


def keep_late(turn: Turn, touched: Touched) -> None:
    """Make the text of a displaced file a version that is never head."""
    row = turn.log.db.execute(_NODE, (seq_of_name(touched.name),)).fetchone()
    node = turn.tree.get(row[0]) if row else None
    digest = sha256(touched.content).digest()
    if node is None or any(past.sha == digest for past in past_of(turn.log, node.id)):
        return
    turn.add_late(node, touched.content, EXTERNAL)


def _node_of(opened: OpenStore, name: str) -> int | None:
    row = opened.db.execute(_NODE, (seq_of_name(name),)).fetchone()
    return row[0] if row else None


def _is_known(opened: OpenStore, touched: Touched) -> bool:
    """Whether a file that an earlier process left is one of ours, as it was."""
    seq = seq_of_name(touched.name)
    if seq is None or seq > opened.log.last_seq():
        return True  # written for a transaction that never committed
    # What an event displaced is what an event before it had written.
    pasts = contents_from(opened.log, seq)
    return is_any_of(pasts, touched.seen, touched.content)


def to_recovered(opened: OpenStore, name: str, directory: int) -> None:
    """Keep something of unknown content out of the way, for a person to look at."""
    files = opened.files
    recovered = open_or_make_directory(files, RECOVERED, opened.directory.number, LISTING)
    try:
        files.move(name, directory, f"{opened.clock.now_ns()}-{name}"[:200], recovered)
    finally:
        files.close(recovered)


# ---------------------------------------------------------------- trash/


class Reaped(NamedTuple):
    """A file of a removed directory that was compared; ``name`` is the directory's in ``trash/``.
    Its text is in history, unless ``is_unknown``."""

    name: str
    place: Place
    is_unknown: bool


def reap_trash(opened: OpenStore, turn: Turn, upto: int, most: int) -> list[Reaped]:
    """Compare files of directories that were removed by event ``upto`` or before, at most ``most``;
    what a person had put or changed there unseen goes into history. Gives what may be unlinked
    after the commit."""
    try:
        trash = opened.files.open(TRASH, LISTING, opened.directory.number)
    except FileNotFoundError:
        return []
    try:
        found: list[Reaped] = []
        for name in opened.files.names(trash):
            if not name.isdecimal() or int(name) > upto:
                continue
            inside = opened.files.open(name, LISTING, trash)
            try:
                tree = Tree(opened.files, inside)
                for place, seen in tree.each_file():
                    if len(found) >= most:
                        return found
                    is_kept = _keep_removed(turn, tree, name, place, seen)
                    found.append(Reaped(name, place, not is_kept))
            finally:
                opened.files.close(inside)
        return found
    finally:
        opened.files.close(trash)


def _keep_removed(turn: Turn, tree: Tree, name: str, place: Place, seen: Seen) -> bool:
    """See that history has the text of a file; False if it has no place for it."""
    log = turn.log
    removal = log.db.execute(_REMOVAL, (int(name),)).fetchone()
    if removal is None:
        return False
    node = _node_beneath(log, removal[0], place)
    if node is not None and Seen(*node[1:]) == seen:
        return True
    content = tree.read(place)
    if content is None:
        return False
    if node is not None:
        row = turn.tree.get(node[0])
        assert row is not None
        if not is_any_of(past_of(log, row.id), seen, content[0]):
            turn.add_late(row, content[0], EXTERNAL)
        return True
    parent = place_in_database(log, removal[1])
    path = None if parent is None else path_of((*parent, removal[2].removesuffix("/"), *place))
    return path is not None and _bring_and_remove(turn, path, content)


def _node_beneath(log: StoreLog, directory: int, place: Place) -> tuple[int, int, int, int] | None:
    """Number and image of the file that the log has at a place beneath a directory."""
    number = directory
    row: tuple[Any, ...] | None = None
    for name in (*(each + "/" for each in place[:-1]), place[-1]):
        row = log.db.execute(_CHILD, (number, name)).fetchone()
        if row is None:
            return None
        number = row[0]
    return None if row is None else (row[0], row[1], row[2], row[3])


def _bring_and_remove(turn: Turn, path: MemoryPath, content: tuple[bytes, Seen]) -> bool:
    """History has a file that went with its directory before anybody had looked at it."""
    data, seen = content
    try:
        turn.adopt(Put(path, data), Image(seen.ino, seen.mtime_ns), EXTERNAL)
        turn.run([Remove(path)], EXTERNAL)
    except Refused:
        return False  # something else lives there by now
    return True


def unlink_reaped(opened: OpenStore, reaped: list[Reaped]) -> bool:
    """Unlink what was compared; whether more waits in ``trash/``."""
    files = opened.files
    try:
        trash = files.open(TRASH, LISTING, opened.directory.number)
    except FileNotFoundError:
        return False
    try:
        tree = Tree(files, trash)
        for name, place, is_unknown in reaped:
            with suppress(FileNotFoundError), tree.parent((name, *place)) as parent:
                if is_unknown:
                    to_recovered(opened, place[-1], parent)
                else:
                    files.remove(place[-1], parent)
        for name in files.names(trash):
            has_files = any(True for _ in tree.each_file((name,)))
            if not has_files and not tree.remove_empty((name,)):
                _discard_others(opened, tree, name)
        return bool(files.names(trash))
    finally:
        files.close(trash)


def _discard_others(opened: OpenStore, tree: Tree, name: str) -> None:
    """Links, devices and the like that went with a directory are no memories; links hold no text
    of their own. What else there is stays in ``recovered/``."""
    for here in list(tree.walk((name,))):
        for other in here.others:
            with tree.parent((*here.place, other)) as parent:
                to_recovered(opened, other, parent)
    tree.remove_empty((name,))


# ---------------------------------------------------------------- all at once


def forget_leftovers(opened: OpenStore) -> None:
    """Unlink everything outside of the tree: a text has to be gone from the disk."""
    opened.lingering.empty()
    for name in (TRASH, RECOVERED):
        remove_all(opened.files, name, opened.directory.number)


def remove_all(files: Files, name: str, directory: int) -> None:
    """Remove a directory with everything in it; nothing if it is not there."""
    try:
        inside = files.open(name, LISTING, directory)
    except FileNotFoundError:
        return
    try:
        for each in files.names(inside):
            try:
                files.remove(each, inside)
            except IsADirectoryError:
                remove_all(files, each, inside)
    finally:
        files.close(inside)
    files.remove_directory(name, directory)


def sweep_torn(opened: OpenStore, stale: Stale) -> None:
    """After a power cut: what lay in ``incoming/`` and ``trash/`` may be torn, and torn is no work
    of a person's."""
    for place, node in _left_nodes(opened):
        tree = Tree(opened.files, opened.directory.number)
        content = tree.read(place)
        if content is not None and stale.is_stale(node, None, content[1], content[0]):
            with tree.parent(place) as parent:
                opened.files.remove(place[-1], parent)


def _left_nodes(opened: OpenStore) -> Iterator[tuple[Place, int]]:
    """The files that are left over, and which node each was."""
    for name in opened.files.names(opened.incoming.number):
        node = _node_of(opened, name)
        if node is not None:
            yield (INCOMING, name), node
    store = Tree(opened.files, opened.directory.number)
    for here in store.walk((TRASH,)):
        seq = here.place[1] if len(here.place) > 1 else ""
        directory = _node_of(opened, seq)
        if directory is None:
            continue
        for name in here.files:
            row = _node_beneath(opened.log, directory, (*here.place[2:], name))
            if row is not None:
                yield (*here.place, name), row[0]
