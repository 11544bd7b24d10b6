"""A disk that takes two spellings of a name for one (macOS, Windows, ext4 with casefold), simulated.

A second spelling of what is there is refused: both names would be one file, and the text of one
would be lost from the tree.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from memoranda.errors import AlreadyExists, NotADirectory, NotFound
from memoranda.stores.base import Put
from memoranda.stores.folder.file_port import Files
from memoranda.testing.promises.steps import append, p
from tests.stores.folder_rig import FolderRig


def folded(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


class Folding(Files):
    """The real disk, where a name is whatever folds to the same; it keeps how it was first spelt."""

    def _there(self, name: str, directory: int) -> str:
        names = self.names(directory)
        return next((each for each in names if folded(each) == folded(name)), name)

    def open_beneath(self, root: int, path: str, flags: int) -> int:
        *parents, last = path.split("/")
        directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=root)
        try:
            for name in parents:
                deeper = os.open(
                    self._there(name, directory),
                    os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW,
                    dir_fd=directory,
                )
                os.close(directory)
                directory = deeper
            return super().open_beneath(directory, self._there(last, directory), flags)
        finally:
            os.close(directory)

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        return super().open(self._spelt(name, directory), flags, directory)

    def stat(self, name: str, directory: int) -> os.stat_result:
        return super().stat(self._spelt(name, directory), directory)

    def make_directory(self, name: str, directory: int) -> int:
        return super().make_directory(self._spelt(name, directory), directory)

    def remove(self, name: str, directory: int) -> None:
        super().remove(self._spelt(name, directory), directory)

    def remove_directory(self, name: str, directory: int) -> None:
        super().remove_directory(self._spelt(name, directory), directory)

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        old, new = self._spelt(old, old_directory), self._spelt(new, new_directory)
        super().move(old, old_directory, new, new_directory)

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        theirs = self._spelt(theirs, their_directory)
        super().exchange(ours, our_directory, theirs, their_directory)

    def _spelt(self, name: str, directory: int | None) -> str:
        """How a name is spelt in a directory, whose descriptor may be for looking only."""
        if directory is None or name == ".":
            return name
        try:
            listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
        except OSError:
            return name
        try:
            return self._there(name, listing)
        finally:
            os.close(listing)


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path, Folding())
    rig.put("/a.md", b"one\n")
    rig.put("/d/caf\u00e9.md", b"two\n")
    return rig


STATE = {"/a.md": b"one\n", "/d/caf\u00e9.md": b"two\n"}

OTHER_SPELLINGS = ["/A.md", "/d/CAF\u00c9.md", "/d/cafe\u0301.md", "/D/new.md", "/D/caf\u00e9.md"]


@pytest.mark.fault("ROW-17")
@pytest.mark.parametrize("path", OTHER_SPELLINGS)
def test_a_second_spelling_of_what_is_there_is_refused(rig: FolderRig, path: str) -> None:
    assert rig.opened.host.folds_names
    with pytest.raises(AlreadyExists):
        rig.put(path, b"other\n")
    rig.put("/b.md", b"three\n")
    with pytest.raises(AlreadyExists):
        rig.move("/b.md", path)
    with pytest.raises(NotFound):
        rig.edit(path, append(b"other\n"))
    assert rig.tree() == {**STATE, "/b.md": b"three\n"}
    rig.check()


@pytest.mark.fault("ROW-17")
def test_what_is_there_goes_on_by_its_own_spelling(rig: FolderRig) -> None:
    rig.edit("/a.md", append(b"more\n"))
    rig.put("/d/new.md", b"new\n")
    rig.move("/d", "/e")
    rig.put("/D/other.md", b"free by now\n")
    rig.remove("/a.md")
    rig.put("/A.md", b"free as well\n")
    rig.clock.seconds += 10
    assert rig.tree() == {
        "/A.md": b"free as well\n",
        "/D/other.md": b"free by now\n",
        "/e/caf\u00e9.md": b"two\n",
        "/e/new.md": b"new\n",
    }
    rig.check()
    assert rig.external() == []


@pytest.mark.fault("ROW-17")
def test_two_spellings_in_one_batch_lose_no_text(rig: FolderRig) -> None:
    rig.apply(Put(p("/x.md"), b"x\n"), Put(p("/X.md"), b"X\n"))
    texts = {content for *_, content in rig.history()}
    assert {b"x\n", b"X\n"} <= texts


@pytest.mark.fault("ROW-17")
def test_a_change_of_case_alone_is_refused_and_goes_by_way_of_another_name(rig: FolderRig) -> None:
    with pytest.raises(AlreadyExists):
        rig.move("/a.md", "/A.md")
    rig.move("/a.md", "/b.md")
    rig.move("/b.md", "/A.md")
    assert rig.tree() == {"/A.md": b"one\n", "/d/caf\u00e9.md": b"two\n"}
    rig.check()


def test_what_a_person_puts_there_is_adopted_as_it_is_spelt(rig: FolderRig) -> None:
    (rig.memories / "Hand.md").write_bytes(b"by hand\n")
    rig.edit("/Hand.md", append(b"by agent\n"))
    (rig.memories / "file").write_bytes(b"no directory\n")
    with pytest.raises(NotADirectory):
        rig.put("/file/new.md", b"x")
    assert rig.read("/Hand.md") == b"by hand\nby agent\n"
    rig.check()
