"""A writer that dies after its commit, before the files follow: who reads then sees the new state.

Not the old one, which the next turn would take back.
"""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Generator
from pathlib import Path

import apsw
import pytest

from memoranda.drive import run_now
from memoranda.errors import Unavailable
from memoranda.path import ROOT
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.turns import NO_BOOT_ID, Word
from tests.crash.strikes import Plan, StrickenFile, StrickenVfs
from tests.stores.folder_rig import USER, FolderRig

VFS = "folder-abandoned"


class DyingFiles(Files):
    """The real disk; the process ``dies`` when it is about to put a changed file in its place, or
    the disk ``refuses`` it."""

    dies = refuses = False

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        if self.dies:
            os._exit(9)
        if self.refuses:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        super().exchange(ours, our_directory, theirs, their_directory)


class Doomed:
    """Another process, which edits ``a.md`` when it is told to, commits, and dies.

    It was there before the store was opened here: a fork closes what is open.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        waits, self._go = os.pipe()
        with warnings.catch_warnings():
            # The test runner's threads are none that hold anything of ours.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._go)
                if os.read(waits, 1):
                    DyingFiles.dies = True
                    FolderRig(home, DyingFiles()).put("/a.md", b"new\n")
            finally:
                os._exit(1)
        os.close(waits)

    def die_after_commit(self) -> None:
        """Have it done."""
        os.write(self._go, b"!")
        assert self.end() == 9
        assert (self._home / "memory/stores" / USER / "memories/a.md").read_bytes() == b"old\n"

    def end(self) -> int | None:
        """See that the process ends; its status, None if it was known before."""
        if self._go < 0:
            return None
        os.close(self._go)
        self._go = -1
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path, DyingFiles())
    rig.put("/a.md", b"old\n")
    return rig


@pytest.fixture
def doomed(rig: FolderRig) -> Generator[Doomed]:
    doomed = Doomed(rig.home)
    yield doomed
    doomed.end()


def view(rig: FolderRig) -> bytes:
    return rig.read("/a.md")


def list_names(rig: FolderRig) -> bytes:
    run_now(rig.store.outline(ROOT, 1000))
    return (rig.memories / "a.md").read_bytes()


@pytest.mark.parametrize("read", [view, list_names])
def test_who_opens_the_folder_then_reads_what_was_committed(
    rig: FolderRig, doomed: Doomed, read: Callable[[FolderRig], bytes]
) -> None:
    rig.close()
    doomed.die_after_commit()
    rig.open()
    assert read(rig) == b"new\n"
    rig.check()


def find(rig: FolderRig) -> bytes:
    """What history has as the newest text; the file may be the old one as yet."""
    content = rig.history("/a.md")[-1][3]
    assert content is not None
    return content


@pytest.mark.parametrize("read", [view, list_names])
def test_who_had_the_files_open_reads_what_was_committed(
    rig: FolderRig, doomed: Doomed, read: Callable[[FolderRig], bytes]
) -> None:
    rig.reopen()
    assert view(rig) == b"old\n"
    doomed.die_after_commit()
    assert read(rig) == b"new\n"
    rig.check()


@pytest.mark.parametrize("read", [view, list_names, find])
def test_who_had_the_store_open_in_full_reads_what_was_committed(
    rig: FolderRig, doomed: Doomed, read: Callable[[FolderRig], bytes]
) -> None:
    rig.put("/b.md", b"ours\n")
    doomed.die_after_commit()
    assert read(rig) == b"new\n"
    rig.check()
    rig.put("/a.md", b"newer\n")
    assert view(rig) == b"newer\n"


def test_who_finds_other_files_in_the_place_of_the_tree_then_opens_the_store_anew(
    rig: FolderRig,
    doomed: Doomed,
) -> None:
    rig.put("/b.md", b"ours\n")
    doomed.die_after_commit()
    rig.memories.rename(rig.home / "taken away")
    rig.memories.mkdir()
    assert view(rig) == b"new\n"
    rig.check()


class Failing(DyingFiles):
    """A disk that cannot be read for a while."""

    fails = False

    def stat(self, name: str, directory: int) -> os.stat_result:
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().stat(name, directory)


def test_a_disk_that_fails_while_it_is_finished_is_unavailable_until_it_works_again(
    rig: FolderRig,
    doomed: Doomed,
) -> None:
    rig.files = files = Failing()
    rig.reopen()
    rig.put("/b.md", b"ours\n")
    doomed.die_after_commit()
    files.fails = True
    with pytest.raises(Unavailable):
        view(rig)
    files.fails = False
    assert view(rig) == b"new\n"
    rig.check()


def test_what_the_disk_refuses_to_whoever_finishes_comes_out_of_the_log(
    rig: FolderRig, doomed: Doomed
) -> None:
    rig.files = files = DyingFiles()
    rig.reopen()
    rig.put("/b.md", b"ours\n")
    doomed.die_after_commit()
    files.refuses = True
    assert view(rig) == b"new\n"
    assert (rig.memories / "a.md").read_bytes() == b"old\n"
    files.refuses = False
    rig.clock.seconds += 10
    rig.put("/b.md", b"more\n")
    assert rig.on_disk() == {"/a.md": b"new\n", "/b.md": b"more\n"}
    rig.check()


def test_a_database_that_fails_while_it_is_finished_is_unavailable_until_it_works_again(
    rig: FolderRig,
    doomed: Doomed,
) -> None:
    doomed = Doomed(rig.home)
    plan = Plan()
    vfs = StrickenVfs(VFS, plan)
    rig.vfs = VFS
    rig.reopen()
    rig.put("/b.md", b"ours\n")
    doomed.die_after_commit()
    plan.arm(1, "lasting")
    with pytest.raises(Unavailable):
        view(rig)
    plan.mend()
    assert view(rig) == b"new\n"
    rig.check()
    rig.close()
    del vfs


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
    rig: FolderRig, doomed: Doomed, loss: str
) -> None:
    rig.close()
    doomed.die_after_commit()
    (waiting,) = (rig.directory / "incoming").iterdir()
    if loss == "removed":
        waiting.unlink()
    else:
        waiting.write_bytes(b"torn")
    rig.open()
    assert view(rig) == b"new\n"
    assert rig.external() == []
    rig.check()
