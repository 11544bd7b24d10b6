"""The parts of an open store are looked for by their names when its directory has changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memoranda.stores.folder import recovery
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.home import HISTORY, LOCK, MEMORIES
from tests.stores.folder_rig import FolderRig


class CountingFiles(Files):
    """Counts how often a part of the store is looked for."""

    looks = 0

    def stat(self, name: str, directory: int) -> os.stat_result:
        self.looks += name in {HISTORY, LOCK, MEMORIES}
        return super().stat(name, directory)


def wait_for_another_tick(beside: Path) -> None:
    """Until a change would be given another time than the last one."""
    directory = beside / "ticking"
    directory.mkdir()
    first = directory.stat().st_ctime_ns
    while directory.stat().st_ctime_ns == first:
        (directory / "x").touch()
        (directory / "x").unlink()


@pytest.fixture
def files() -> CountingFiles:
    return CountingFiles()


@pytest.fixture
def rig(tmp_path: Path, files: CountingFiles) -> FolderRig:
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    return rig


def test_a_directory_that_did_not_change_for_long_is_not_looked_through_again(
    rig: FolderRig, files: CountingFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "_TICK_NS", -1)
    rig.put("/b.md", b"two\n")
    files.looks = 0
    rig.put("/c.md", b"three\n")
    assert files.looks == 0


def test_one_that_changed_just_now_is(
    rig: FolderRig, files: CountingFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "_TICK_NS", 10**18)
    rig.put("/b.md", b"two\n")
    files.looks = 0
    rig.put("/c.md", b"three\n")
    assert files.looks == 3


@pytest.mark.parametrize("part", [HISTORY, LOCK, MEMORIES])
def test_a_part_that_was_replaced_since_is_noticed(
    rig: FolderRig, tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "_TICK_NS", -1)
    before = rig.opened
    wait_for_another_tick(tmp_path)
    old, new = rig.directory / part, rig.directory / "new"
    if part == MEMORIES:
        shutil.copytree(old, new)
        old.rename(tmp_path / "away")
    else:
        shutil.copyfile(old, new)
        new.chmod(0o600)
    new.rename(old)
    rig.put("/b.md", b"two\n")
    assert rig.opened is not before
    assert rig.on_disk() == {"/a.md": b"one\n", "/b.md": b"two\n"}
    rig.check()
