"""A listing tells what lies there, whatever people leave in a directory or take out meanwhile."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import NotFound, Unavailable
from memoranda.stores.base import Outline, Put
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.outline import MOST_COUNTED
from memoranda.testing.promises.steps import p
from tests.stores.folder_rig import FolderRig

MANY = MOST_COUNTED + 50
EVERYTHING = 1_000_000


class Meddling(Files):
    """Files with a person who acts once: when a directory's names were read, or right before a
    directory of a given name is opened."""

    def __init__(self) -> None:
        self.after_names: Callable[[], object] | None = None
        self.before_opening: dict[str, Callable[[], object]] = {}

    def names(self, directory: int) -> list[str]:
        found = super().names(directory)
        act, self.after_names = self.after_names, None
        if act is not None:
            act()
        return found

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        act = self.before_opening.pop(name, None)
        if act is not None:
            act()
        return super().open(name, flags, directory)


@pytest.fixture
def files() -> Meddling:
    return Meddling()


@pytest.fixture
def rig(tmp_path: Path, files: Meddling) -> FolderRig:
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    return rig


def listed(rig: FolderRig, path: str = "/", line_chars: int = EVERYTHING) -> Outline:
    return run_now(rig.store.outline(p(path), line_chars))


def test_a_directory_without_a_memory_is_none(rig: FolderRig) -> None:
    (rig.memories / "e/inner").mkdir(parents=True)
    (rig.memories / "e/inner/left.md~").write_bytes(b"litter")
    with pytest.raises(NotFound):
        listed(rig, "/e")
    assert listed(rig) == Outline(8, (("a.md", 4), ("d/", 4), ("d/b.md", 4)), 3)


def test_what_is_no_memory_is_not_counted_where_there_is_no_room_for_lines(rig: FolderRig) -> None:
    (rig.memories / "left.md~").write_bytes(b"litter")
    (rig.memories / "link.md").symlink_to("a.md")
    (rig.memories / "d/by hand.md").write_bytes(b"12345")
    assert listed(rig, line_chars=0) == Outline(13, (), 4)


def test_so_many_directories_that_the_log_has_to_count_them_have_the_same_sum(
    rig: FolderRig,
) -> None:
    rig.apply(*(Put(p(f"/many/{number:03}/a.md"), b"12345") for number in range(150)))
    found = listed(rig, line_chars=0)
    assert found == Outline(150 * 5 + 8, (), 3 + 1 + 150)
    assert listed(rig, "/many", line_chars=0) == Outline(150 * 5, (), 150 + 150)


def test_a_directory_that_is_removed_while_it_is_listed_is_left_out(
    rig: FolderRig, files: Meddling
) -> None:
    rig.put("/e/c.md", b"three\n")
    files.before_opening["d"] = lambda: shutil.rmtree(rig.memories / "d")
    assert listed(rig) == Outline(10, (("a.md", 4), ("e/", 6), ("e/c.md", 6)), 3)


def test_a_file_that_is_removed_while_it_is_listed_is_left_out(
    rig: FolderRig, files: Meddling
) -> None:
    files.after_names = (rig.memories / "a.md").unlink
    assert listed(rig) == Outline(4, (("d/", 4), ("d/b.md", 4)), 2)


def test_a_directory_that_cannot_be_read_is_not_taken_for_an_empty_one(
    rig: FolderRig, files: Meddling
) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    files.before_opening["d"] = fail
    with pytest.raises(Unavailable):
        listed(rig)


def test_a_tree_that_is_emptied_while_it_is_counted_is_empty(
    rig: FolderRig, files: Meddling
) -> None:
    rig.remove("/a.md")
    rig.remove("/d")
    for number in range(MANY):
        (rig.memories / f"{number}.md").write_bytes(b"by hand")

    def empty() -> None:
        for number in range(MANY):
            (rig.memories / f"{number}.md").unlink()

    files.after_names = empty
    assert listed(rig, line_chars=0) == Outline(0, (), 0)
