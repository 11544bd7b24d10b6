"""The disk refuses to follow the log for a while: what was answered stays so, then and after."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import NotFound, Unavailable
from memoranda.path import ROOT
from memoranda.stores.folder.file_port import Files
from memoranda.stores.log.text import Slice
from memoranda.testing.promises.steps import append, p
from tests.stores.folder_rig import FolderRig


class Refusing(Files):
    """Files in directories that can't be written while ``refuses``; no room while ``is_full``."""

    refuses = is_full = False

    def write(self, descriptor: int, slices: Sequence[Slice]) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(descriptor, slices)

    def _check(self) -> None:
        if self.refuses:
            raise PermissionError(13, "no")

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        self._check()
        super().move(old, old_directory, new, new_directory)

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        self._check()
        super().exchange(ours, our_directory, theirs, their_directory)

    def remove(self, name: str, directory: int) -> None:
        self._check()
        super().remove(name, directory)


@pytest.fixture
def files() -> Refusing:
    return Refusing()


@pytest.fixture
def rig(tmp_path: Path, files: Refusing) -> FolderRig:
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    rig.put("/b/c.md", b"two\n")
    return rig


def test_what_was_removed_stays_removed(rig: FolderRig, files: Refusing) -> None:
    files.refuses = True
    rig.remove("/a.md")
    assert "/a.md" in rig.on_disk()

    with pytest.raises(NotFound):
        rig.read("/a.md")
    assert rig.tree() == {"/b/c.md": b"two\n"}

    files.refuses = False
    rig.clock.seconds += 2
    rig.reopen()
    rig.put("/d.md", b"three\n")
    assert rig.tree() == rig.on_disk() == {"/b/c.md": b"two\n", "/d.md": b"three\n"}


def test_nothing_is_put_where_the_disk_still_holds_what_was_removed(
    rig: FolderRig, files: Refusing
) -> None:
    files.refuses = True
    rig.remove("/a.md")

    with pytest.raises(Unavailable):
        rig.put("/a.md", b"new\n")
    with pytest.raises(Unavailable):
        rig.put("/a.md/below.md", b"new\n")

    files.refuses = False
    rig.clock.seconds += 2
    rig.put("/a.md", b"new\n")
    assert rig.tree() == rig.on_disk() == {"/a.md": b"new\n", "/b/c.md": b"two\n"}


def test_a_try_to_mend_that_fails_is_no_failure_of_whoever_comes_by(
    rig: FolderRig, files: Refusing
) -> None:
    files.refuses = True
    rig.edit("/a.md", append(b"more\n"))
    files.refuses, files.is_full = False, True
    rig.clock.seconds += 2
    assert run_now(rig.store.stat(p("/a.md"))).size_bytes == 9
    assert rig.read("/a.md") == b"one\nmore\n"
    assert rig.on_disk()["/a.md"] == b"one\n"
    files.is_full = False
    rig.clock.seconds += 2
    assert run_now(rig.store.stat(p("/a.md"))).size_bytes == 9
    assert rig.on_disk()["/a.md"] == b"one\nmore\n"
    rig.check()


def test_a_directory_that_could_not_move_leaves_no_copy(rig: FolderRig, files: Refusing) -> None:
    files.refuses = True
    rig.move("/b", "/bb")
    assert rig.tree() == {"/a.md": b"one\n", "/bb/c.md": b"two\n"}
    with pytest.raises(Unavailable):
        rig.put("/b", b"new\n")

    files.refuses = False
    rig.clock.seconds += 2
    rig.put("/d.md", b"three\n")
    assert rig.tree() == rig.on_disk()
    assert rig.tree() == {"/a.md": b"one\n", "/bb/c.md": b"two\n", "/d.md": b"three\n"}


def test_what_came_to_where_a_directory_was_does_not_move_with_it(
    rig: FolderRig, files: Refusing
) -> None:
    files.refuses = True
    rig.move("/b", "/bb")
    rig.put("/b/new.md", b"new\n")

    files.refuses = False
    rig.clock.seconds += 2
    rig.put("/d.md", b"three\n")
    assert rig.tree() == rig.on_disk()
    assert rig.tree() == {
        "/a.md": b"one\n",
        "/b/new.md": b"new\n",
        "/bb/c.md": b"two\n",
        "/d.md": b"three\n",
    }


def test_while_places_lag_new_files_are_read_and_texts_are_found_where_they_belong(
    rig: FolderRig, files: Refusing
) -> None:
    rig.put("/gone.md", b"needle\n")
    files.refuses = True
    rig.remove("/a.md")
    rig.put("/b/c.md", b"needle two\n")
    (rig.memories / "new.md").write_bytes(b"by hand\n")
    assert rig.read("/new.md") == b"by hand\n"
    with pytest.raises(NotFound):
        rig.read("/a.md")
    hits = run_now(rig.store.search("needle", ROOT))
    assert [hit.path.store_path for hit in hits] == ["/b/c.md", "/gone.md"]
