"""A writer that dies after its commit, before the files follow: who reads then sees the new state.

Not the old one, which the next turn would take back.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memoranda.drive import run_now
from memoranda.errors import Unavailable
from memoranda.path import ROOT
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.turns import NO_BOOT_ID, Word
from tests.crash.strikes import Plan, StrickenFile, StrickenVfs
from tests.stores.folder_rig import FolderRig

VFS = "folder-abandoned"


class DyingFiles(Files):
    """The real disk; the process dies when it is about to put a changed file in its place."""

    dies = False

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        if self.dies:
            os._exit(9)
        super().exchange(ours, our_directory, theirs, their_directory)


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path, DyingFiles())
    rig.put("/a.md", b"old\n")
    return rig


def die_after_commit(rig: FolderRig) -> None:
    """Another process edits the file, commits, and dies."""
    with warnings.catch_warnings():
        # The test runner's threads are none that hold anything of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            DyingFiles.dies = True
            FolderRig(rig.home, DyingFiles()).put("/a.md", b"new\n")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert (rig.memories / "a.md").read_bytes() == b"old\n"


def view(rig: FolderRig) -> bytes:
    return rig.read("/a.md")


def list_names(rig: FolderRig) -> bytes:
    run_now(rig.store.outline(ROOT, 1000))
    return (rig.memories / "a.md").read_bytes()


@pytest.mark.parametrize("read", [view, list_names])
def test_who_opens_the_folder_then_reads_what_was_committed(
    rig: FolderRig, read: Callable[[FolderRig], bytes]
) -> None:
    rig.close()
    die_after_commit(rig)
    rig.open()
    assert read(rig) == b"new\n"
    rig.check()


@pytest.mark.parametrize("read", [view, list_names])
def test_who_had_the_files_open_reads_what_was_committed(
    rig: FolderRig, read: Callable[[FolderRig], bytes]
) -> None:
    rig.reopen()
    assert view(rig) == b"old\n"
    die_after_commit(rig)
    assert read(rig) == b"new\n"
    rig.check()


@pytest.mark.parametrize("read", [view, list_names])
def test_who_had_the_store_open_in_full_reads_what_was_committed(
    rig: FolderRig, read: Callable[[FolderRig], bytes]
) -> None:
    rig.put("/b.md", b"ours\n")
    die_after_commit(rig)
    assert read(rig) == b"new\n"
    rig.check()
    rig.put("/a.md", b"newer\n")
    assert view(rig) == b"newer\n"


def test_a_commit_that_the_disk_refuses_leaves_nothing_to_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vfs = StrickenVfs(VFS, Plan())
    rig = FolderRig(tmp_path, vfs=VFS)
    rig.put("/a.md", b"old\n")
    opened = rig.opened

    def full(self: StrickenFile, data: bytes, offset: int) -> None:
        raise apsw.FullError("planned")

    with monkeypatch.context() as patched:
        patched.setattr(StrickenFile, "xWrite", full)
        with pytest.raises(Unavailable):
            rig.put("/a.md", b"new\n")
    word = opened.word_now()
    assert word is not None
    assert not word.committing
    assert rig.read("/a.md") == b"old\n"
    rig.check()
    rig.close()
    del vfs


def test_a_word_is_what_was_packed() -> None:
    for lagging in (False, True):
        for committing in (False, True):
            word = Word(NO_BOOT_ID, 7, lagging, 8, 9, committing)
            assert Word.unpack(word.pack()) == word


@pytest.mark.parametrize("loss", ["removed", "changed"])
def test_a_new_content_that_was_lost_before_it_was_in_place_comes_out_of_the_log(
    rig: FolderRig, loss: str
) -> None:
    rig.close()
    die_after_commit(rig)
    (waiting,) = (rig.directory / "incoming").iterdir()
    if loss == "removed":
        waiting.unlink()
    else:
        waiting.write_bytes(b"torn")
    rig.open()
    assert view(rig) == b"new\n"
    assert rig.external() == []
    rig.check()
