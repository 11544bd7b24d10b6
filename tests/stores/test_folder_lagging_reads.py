"""What the disk refuses after a commit is no failure: the log answers until the tree follows."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import IsADirectory, NotFound, Unavailable
from memoranda.path import ROOT
from memoranda.stores.base import Edit, Move, Put
from memoranda.stores.folder.file_port import Files
from memoranda.testing.promises.steps import append, p
from tests.stores.folder_rig import FolderRig


class Refusing(Files):
    """A disk that refuses to rename what has one of these names."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.number = errno.EACCES

    def _look(self, *names: str) -> None:
        if not self.refused.isdisjoint(names):
            raise OSError(self.number, os.strerror(self.number))

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        self._look(theirs)
        super().exchange(ours, our_directory, theirs, their_directory)

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        self._look(old, new)
        super().move(old, old_directory, new, new_directory)


@pytest.fixture
def files() -> Refusing:
    return Refusing()


@pytest.fixture
def rig(tmp_path: Path, files: Refusing) -> FolderRig:
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    rig.put("/d/c.md", b"three\n")
    return rig


def mend(rig: FolderRig, files: Refusing) -> None:
    """The fault ends, and the next turn comes."""
    files.refused = set()
    rig.clock.seconds += 10
    rig.put("/mended.md", b"x\n")
    rig.check()
    assert rig.external() == []


class TestWhileAFileLags:
    @pytest.mark.fault("ROW-05", "BAD-13")
    def test_the_command_has_succeeded_and_reads_come_from_the_log(
        self, rig: FolderRig, files: Refusing
    ) -> None:
        files.refused = {"a.md"}
        rig.edit("/a.md", append(b"two\n"))
        assert rig.on_disk()["/a.md"] == b"one\n"
        assert rig.read("/a.md") == b"one\ntwo\n"
        content = run_now(rig.store.read(p("/a.md"), 4, 2))
        assert (content.data, content.size_bytes) == (b"tw", 8)
        assert run_now(rig.store.read(p("/a.md"), 4)).data == b"two\n"
        assert rig.read("/d/b.md") == b"two\n"
        sizes = dict(run_now(rig.store.outline(ROOT, 1000)).items)
        assert sizes["a.md"] == 8
        mend(rig, files)
        assert rig.on_disk()["/a.md"] == b"one\ntwo\n"

    def test_it_can_be_edited_moved_and_deleted(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"a.md"}
        rig.edit("/a.md", append(b"two\n"))
        rig.edit("/a.md", append(b"three\n"))
        assert rig.read("/a.md") == b"one\ntwo\nthree\n"
        rig.move("/a.md", "/e/z.md")
        assert rig.read("/e/z.md") == b"one\ntwo\nthree\n"
        mend(rig, files)
        assert "/a.md" not in rig.on_disk()
        assert rig.on_disk()["/e/z.md"] == b"one\ntwo\nthree\n"

    def test_a_deleted_one_is_gone_for_reads(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"a.md"}
        rig.remove("/a.md")
        assert "/a.md" in rig.on_disk()
        with pytest.raises(NotFound):
            rig.read("/a.md")
        mend(rig, files)
        assert "/a.md" not in rig.on_disk()

    def test_a_new_one_can_be_read(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"new.md"}
        rig.put("/new.md", b"new\n")
        assert rig.tree()["/new.md"] == b"new\n"
        assert "/new.md" not in rig.on_disk()
        mend(rig, files)

    def test_another_process_reads_it_from_the_log_too(
        self, rig: FolderRig, files: Refusing
    ) -> None:
        other = FolderRig(rig.home)
        assert other.read("/a.md") == b"one\n"
        files.refused = {"a.md"}
        rig.edit("/a.md", append(b"two\n"))
        assert other.read("/a.md") == b"one\ntwo\n"
        other.put("/b.md", b"x\n")  # whose disk refuses nothing
        assert rig.on_disk()["/a.md"] == b"one\ntwo\n"
        rig.check()

    def test_a_crash_forgets_nothing(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"a.md", "b.md"}
        rig.edit("/a.md", append(b"two\n"))
        rig.move("/d/b.md", "/e/b.md")
        rig.crash()
        assert rig.tree() == {
            "/a.md": b"one\ntwo\n",
            "/d/c.md": b"three\n",
            "/e/b.md": b"two\n",
        }
        mend(rig, files)

    @pytest.mark.fault("ROW-05")
    def test_it_is_tried_once_a_second(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"a.md"}
        rig.edit("/a.md", append(b"two\n"))
        rig.put("/b.md", b"x\n")
        files.refused = set()
        rig.put("/b.md", b"y\n")
        assert rig.on_disk()["/a.md"] == b"one\n"
        rig.clock.seconds += 2
        rig.put("/b.md", b"z\n")
        assert rig.on_disk()["/a.md"] == b"one\ntwo\n"

    def test_a_persons_save_meanwhile_is_kept(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"a.md"}
        rig.edit("/a.md", append(b"two\n"))
        (rig.memories / "a.md").write_bytes(b"by hand\n")
        files.refused = set()
        rig.clock.seconds += 10
        rig.put("/b.md", b"x\n")
        assert rig.tree()["/a.md"] == b"by hand\n"
        assert rig.external() == [("modified", "/a.md", b"by hand\n")]
        rig.check()

    def test_a_persons_directory_in_its_place_wins(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"new"}
        rig.put("/new", b"new\n")
        (rig.memories / "new").mkdir()
        (rig.memories / "new/x.md").write_bytes(b"by hand\n")
        files.refused = set()
        rig.clock.seconds += 10
        assert "/new/x.md" in rig.tree()
        assert [each[2] for each in rig.external()][-1] == b"by hand\n"
        rig.check()

    def test_a_persons_file_in_its_directorys_place_wins(
        self, rig: FolderRig, files: Refusing
    ) -> None:
        files.refused = {"x.md"}
        rig.put("/new/x.md", b"new\n")
        if (rig.memories / "new").exists():
            (rig.memories / "new").rmdir()
        (rig.memories / "new").write_bytes(b"by hand\n")
        files.refused = set()
        rig.clock.seconds += 10
        assert rig.tree()["/new"] == b"by hand\n"
        rig.check()


class TestWhileADirectoryLags:
    def test_what_moved_with_it_is_read_at_its_new_place(
        self, rig: FolderRig, files: Refusing
    ) -> None:
        files.refused = {"d"}
        rig.move("/d", "/e")
        assert sorted(rig.on_disk()) == ["/a.md", "/d/b.md", "/d/c.md"]
        assert rig.read("/e/b.md") == b"two\n"
        with pytest.raises(NotFound):
            rig.read("/d/b.md")
        with pytest.raises(IsADirectory):
            rig.read("/e")
        assert sorted(rig.tree()) == ["/a.md", "/e/b.md", "/e/c.md"]
        rig.edit("/e/b.md", append(b"more\n"))
        assert rig.read("/e/b.md") == b"two\nmore\n"
        mend(rig, files)
        assert sorted(rig.on_disk()) == ["/a.md", "/e/b.md", "/e/c.md", "/mended.md"]

    def test_it_can_be_removed(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"d"}
        rig.remove("/d")
        assert rig.tree() == {"/a.md": b"one\n"}
        mend(rig, files)
        assert sorted(rig.on_disk()) == ["/a.md", "/mended.md"]

    def test_it_can_be_moved_on(self, rig: FolderRig, files: Refusing) -> None:
        files.refused = {"d"}
        rig.move("/d", "/e")
        rig.move("/e", "/f")
        assert sorted(rig.tree()) == ["/a.md", "/f/b.md", "/f/c.md"]
        mend(rig, files)


def test_something_that_is_no_file_in_the_way_is_waited_for(
    tmp_path: Path,
) -> None:
    class Planting(Files):
        plant = False

        def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
            if self.plant and new == "new.md":
                self.plant = False
                os.symlink("/etc/passwd", new, dir_fd=new_directory)
            super().move(old, old_directory, new, new_directory)

    files = Planting()
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    files.plant = True
    rig.put("/new.md", b"new\n")
    assert rig.read("/new.md") == b"new\n"
    assert (rig.memories / "new.md").is_symlink()
    rig.clock.seconds += 10
    rig.put("/b.md", b"x\n")
    assert (rig.memories / "new.md").is_symlink()
    (rig.memories / "new.md").unlink()
    rig.clock.seconds += 10
    rig.put("/b.md", b"y\n")
    rig.check()
    assert rig.external() == []


def test_a_batch_that_lags_in_parts_is_whole_for_readers(rig: FolderRig, files: Refusing) -> None:
    files.refused = {"d", "a.md"}
    rig.apply(
        Put(p("/new.md"), b"new\n"),
        Edit(p("/a.md"), append(b"batch\n")),
        Move(p("/d"), p("/moved")),
        Edit(p("/moved/b.md"), append(b"batch\n")),
    )
    assert rig.tree() == {
        "/a.md": b"one\nbatch\n",
        "/moved/b.md": b"two\nbatch\n",
        "/moved/c.md": b"three\n",
        "/new.md": b"new\n",
    }
    mend(rig, files)


class Full(Files):
    """A disk without room for new files."""

    full = False

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        if self.full and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "full")
        return super().open(name, flags, directory)


@pytest.mark.fault("ROW-04")
def test_a_full_disk_refuses_clearly_and_work_goes_on_when_there_is_room(tmp_path: Path) -> None:
    files = Full()
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    files.full = True
    with pytest.raises(Unavailable, match="The disk is full"):
        rig.edit("/a.md", append(b"two\n"))
    assert rig.read("/a.md") == b"one\n"
    rig.remove("/a.md")  # makes room, so it may
    files.full = False
    rig.put("/a.md", b"three\n")
    rig.check()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EROFS, "The disk is read-only."),
        (errno.EACCES, "permission denied"),
        (errno.EMFILE, "too many files open"),
        (errno.EIO, "The disk reports an error."),
        (errno.ENOLCK, "The file system reports ENOLCK."),
        (99999, "The file system reports an error."),
    ],
)
def test_faults_are_told_in_plain_words_without_a_host_path(
    rig: FolderRig, files: Refusing, number: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, "no", str(rig.home))

    monkeypatch.setattr(files, "open_beneath", refuse)
    with pytest.raises(Unavailable, match=said) as caught:
        rig.read("/a.md")
    assert str(rig.home) not in str(caught.value)
