"""Bringing the tree to where the log is, step by step, without ever overwriting unseen work.

The same steps run right after a commit and after a crash; each can be repeated. A file is only
replaced or taken away by an exchange or a rename, and what was displaced is compared: if it is
not what the log had there, a person was faster. Theirs goes back into the tree and the node counts
as *overtaken*. A step that the disk refuses makes the node *lag*; nothing is ever raised for it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Container, Iterable
from typing import Final, NamedTuple, TypeAlias

from memoranda.stores.folder.file_port import LISTING, Files
from memoranda.stores.folder.heads import temporary_name
from memoranda.stores.folder.layout import open_or_make_directory
from memoranda.stores.folder.linger import Lingering
from memoranda.stores.folder.tree import NOT_EMPTY, Place, Seen, Tree
from memoranda.stores.log.replay import TreeStep

IsOurs: TypeAlias = Callable[[TreeStep, Seen, str | None], bool]
"""Whether a file is what the log had there: by its image alone, or also by its text where its name
in ``incoming/`` is given."""

_MOST_SWAPS: Final = 16
"""How often somebody may save over a file while we put another save of theirs back."""


class Lag(NamedTuple):
    """A node that the tree does not show as the log has it; ``source`` is a place where an old
    image of it may still lie."""

    node: int
    source: Place | None


class Outcome:
    """What became of the steps."""

    __slots__ = ("lags", "overtaken")

    def __init__(self) -> None:
        self.overtaken: set[int] = set()
        self.lags: list[Lag] = []


class Follower:
    """Does steps on one store's tree; ``waiting`` are the new contents in ``incoming/``. What is
    not there lies in the tree already: a person put it there."""

    def __init__(
        self,
        files: Files,
        tree: Tree,
        incoming: int,
        lingering: Lingering,
        *,
        waiting: Container[str],
        is_ours: IsOurs,
        inode_of: Callable[[int], int | None],
        to_trash: Callable[[str, int, int], None],
        monotonic: Callable[[], float],
    ) -> None:
        self._files = files
        self._tree = tree
        self._incoming = incoming
        self._lingering = lingering
        self._waiting = waiting
        self._is_ours = is_ours
        self._inode_of = inode_of
        self._to_trash = to_trash
        self._monotonic = monotonic
        self._outcome = Outcome()

    def follow(self, steps: Iterable[TreeStep]) -> Outcome:
        """Do all steps, oldest first; never raises what a disk may answer."""
        for step in steps:
            try:
                self._do(step)
            except OSError:
                source = step.source.names if step.source else None
                self._outcome.lags.append(Lag(step.node, source))
        return self._outcome

    def _do(self, step: TreeStep) -> None:
        source = step.source.names if step.source else None
        target = step.target.names if step.target else None
        if step.directory:
            self._do_directory(step, source, target)
        elif target is None:
            assert source is not None  # what neither came nor went is no step
            self._take_away(step, source)
        else:
            if source is not None and source != target:
                self._move(step, source, target)
            if step.write:
                self._put(step, target, is_new=source is None)

    # ---- files

    def _put(self, step: TreeStep, target: Place, *, is_new: bool) -> None:
        assert step.content_seq is not None
        name = temporary_name(step.content_seq)
        if name not in self._waiting:
            return
        with self._tree.made_parent(target) as parent:
            if not is_new:
                try:
                    self._files.exchange(name, self._incoming, target[-1], parent)
                except FileNotFoundError:
                    pass  # the old one is gone already
                else:
                    self._check_displaced(step, name, parent, target[-1])
                    return
            self._put_new(step, name, parent, target)

    def _put_new(self, step: TreeStep, name: str, parent: int, target: Place) -> None:
        files = self._files
        try:
            files.move(name, self._incoming, target[-1], parent)
        except OSError as error:
            if error.errno not in NOT_EMPTY:
                raise
        else:
            return
        found = files.stat(target[-1], parent)
        if stat.S_ISDIR(found.st_mode) and self._tree.remove_empty(target):
            files.move(name, self._incoming, target[-1], parent)
            return
        if stat.S_ISREG(found.st_mode):
            files.exchange(name, self._incoming, target[-1], parent)
            self._check_displaced(step, name, parent, target[-1])
        elif stat.S_ISDIR(found.st_mode):
            self._outcome.overtaken.add(step.node)
            files.remove(name, self._incoming)
        else:
            raise OSError(errno.EEXIST, "Something that is no file is in the way.")

    def _check_displaced(self, step: TreeStep, name: str, parent: int, last: str) -> None:
        """Keep what was displaced a while if it is ours, else give it back its place."""
        files = self._files
        found = files.stat(name, self._incoming)
        held = Seen.of(found)
        if stat.S_ISREG(found.st_mode) and self._is_ours(step, held, name):
            self._lingering.add(name, held, self._monotonic(), held.size)
            return
        self._outcome.overtaken.add(step.node)
        ours = put = image_of_step(step)
        for _ in range(_MOST_SWAPS):
            self._keep_second_name(name, held)
            files.exchange(name, self._incoming, last, parent)
            got = Seen.of(files.stat(name, self._incoming))
            if got == put:
                break
            # They saved once more in between: that one is newer, so it has to go back instead.
            held, put = got, held
        if put == ours:
            files.remove(name, self._incoming)
        else:
            self._lingering.add(name, None, self._monotonic(), held.size)

    def _keep_second_name(self, name: str, held: Seen) -> None:
        """See that a save which goes back into the tree can't be lost there before it is adopted.

        Its editor may have read our text in the instant in which that lay there, and now save over
        its own last one by a rename: that one's lines would be in neither.
        """
        kept = f"{name}.{os.urandom(4).hex()}"
        with contextlib.suppress(OSError):  # a disk without links
            self._files.link(name, self._incoming, kept)
            self._lingering.add(kept, None, self._monotonic(), held.size)

    def _take_away(self, step: TreeStep, source: Place) -> None:
        files, name = self._files, temporary_name(step.seq)
        if self._tree.seen(source) is None:
            return
        with contextlib.suppress(FileNotFoundError), self._tree.parent(source) as parent:
            files.move(source[-1], parent, name, self._incoming)
            found = files.stat(name, self._incoming)
            seen = Seen.of(found)
            if stat.S_ISREG(found.st_mode) and self._is_ours(step, seen, name):
                self._lingering.add(name, seen, self._monotonic(), seen.size)
            else:
                self._outcome.overtaken.add(step.node)
                try:
                    files.move(name, self._incoming, source[-1], parent)
                except FileExistsError:
                    self._lingering.add(name, None, self._monotonic(), seen.size)
        self._tree.prune(source[:-1])

    def _move(self, step: TreeStep, source: Place, target: Place) -> None:
        there = self._tree.seen(target)
        if there is not None and self._is_ours(step, there, None):
            return  # done already: by a person, or before a crash
        if target[: len(source)] == source or source[: len(target)] == target:
            self._move_along(step, source, target)
            return
        with self._tree.parent(source) as old, self._tree.made_parent(target) as new:
            try:
                self._files.move(source[-1], old, target[-1], new)
            except OSError as error:
                if error.errno not in NOT_EMPTY:
                    raise
                if not self._tree.remove_empty(target):
                    # Somebody put a file there. Ours stays where it is, as if never moved.
                    self._outcome.overtaken.add(step.node)
                    return
                self._files.move(source[-1], old, target[-1], new)
        if source[:-1] != target[:-1]:
            self._tree.prune(source[:-1])

    def _move_along(self, step: TreeStep, source: Place, target: Place) -> None:
        """A file's old name becomes a directory above it, or the other way round: out of the tree
        first, then in again."""
        # Not the name itself: the event's new content may wait there.
        files, name = self._files, f"{temporary_name(step.seq)}.moving"
        with self._tree.parent(source) as parent:
            files.move(source[-1], parent, name, self._incoming)
        self._tree.prune(source[:-1])
        with self._tree.made_parent(target) as parent:
            try:
                files.move(name, self._incoming, target[-1], parent)
                return
            except OSError as error:
                if error.errno not in NOT_EMPTY:
                    raise
        # Somebody put something there. Ours goes back, as if never moved.
        self._outcome.overtaken.add(step.node)
        with self._tree.made_parent(source) as parent:
            files.move(name, self._incoming, source[-1], parent)

    # ---- directories

    def _do_directory(self, step: TreeStep, source: Place | None, target: Place | None) -> None:
        if source is None:
            return
        try:
            with self._tree.parent(source) as old:
                found = self._files.stat(source[-1], old)
                if found.st_ino != (self._inode_of(step.node) or found.st_ino):
                    return  # another directory took the place: ours moved on already
                if target is None:
                    self._to_trash(source[-1], old, step.seq)
                else:
                    with self._tree.made_parent(target) as new:
                        self._move_directory(source[-1], old, target[-1], new)
        except FileNotFoundError:
            # Nothing of ours is left there to move.
            return
        self._tree.prune(source[:-1])

    def _move_directory(self, name: str, old: int, new_name: str, new: int) -> None:
        try:
            self._files.move(name, old, new_name, new)
        except OSError as error:
            if error.errno not in {*NOT_EMPTY, errno.EXDEV}:
                raise
            move_entries(self._files, name, old, new_name, new)


def image_of_step(step: TreeStep) -> Seen:
    """What the file looks like that a step puts into the tree."""
    assert step.image is not None  # whatever is written has been given one
    assert step.size is not None
    return Seen(step.image.ino, step.image.mtime_ns, step.size)


def move_entries(files: Files, name: str, old: int, new_name: str, new: int) -> None:
    """Move a directory's entries one by one: overlayfs can't rename a directory of a lower layer,
    and the new place may be a directory already. What is taken there stays behind."""
    source = files.open(name, LISTING, old)
    try:
        target = open_or_make_directory(files, new_name, new, LISTING)
        try:
            for each in files.names(source):
                try:
                    files.move(each, source, each, target)
                except OSError as error:
                    if error.errno in {*NOT_EMPTY, errno.EXDEV} and stat.S_ISDIR(
                        files.stat(each, source).st_mode
                    ):
                        move_entries(files, each, source, each, target)
                    elif error.errno not in NOT_EMPTY:
                        raise
        finally:
            files.close(target)
    finally:
        files.close(source)
    with contextlib.suppress(OSError):
        files.remove_directory(name, old)
