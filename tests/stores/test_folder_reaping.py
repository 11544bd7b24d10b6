"""Removed directories: out of view at once, unlinked by later turns."""

from __future__ import annotations

from pathlib import Path

from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.writer import REAPED_A_TURN
from tests.stores.folder_rig import FolderRig


class Unlinking(Files):
    """Counts what is unlinked."""

    def __init__(self) -> None:
        self.unlinked = 0

    def remove(self, name: str, directory: int) -> None:
        self.unlinked += 1
        super().remove(name, directory)


def in_trash(rig: FolderRig) -> list[Path]:
    return [path for path in (rig.directory / "trash").rglob("*") if path.is_file()]


def test_the_command_that_removes_a_directory_unlinks_none_of_its_files(tmp_path: Path) -> None:
    files = Unlinking()
    rig = FolderRig(tmp_path, files)
    for number in range(5):
        rig.put(f"/d/{number}", b"x")
    before = files.unlinked
    rig.remove("/d")
    assert rig.on_disk() == {}
    assert files.unlinked == before
    assert len(in_trash(rig)) == 5
    rig.put("/a", b"x")
    assert in_trash(rig) == []
    rig.check()


def test_a_turn_unlinks_only_so_many(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    for number in range(REAPED_A_TURN + 5):
        rig.put(f"/d/e{number % 3}/{number}", b"x")
    rig.remove("/d")
    rig.put("/a", b"x")
    assert len(in_trash(rig)) == 5
    rig.put("/b", b"x")
    assert list((rig.directory / "trash").iterdir()) == []


def test_closing_unlinks_the_rest(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    for number in range(REAPED_A_TURN + 5):
        rig.put(f"/d/{number}", b"x")
    rig.remove("/d")
    rig.close()
    assert list((rig.directory / "trash").iterdir()) == []


def test_what_a_stranger_put_into_trash_stops_nobody(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/d/a", b"x")
    rig.remove("/d")
    strange = rig.directory / "trash" / "not a number"
    strange.mkdir()
    (strange / "file").write_bytes(b"?")
    rig.put("/b", b"x")
    rig.put("/c", b"x")
    assert in_trash(rig) == [strange / "file"]
    rig.close()


def test_a_file_left_in_incoming_is_known_again_however_long_its_history(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    for number in range(40):
        rig.put("/a", b"%d" % number)
    rig.reopen()
    rig.put("/b", b"x")
    rig.clock.seconds += 5
    rig.put("/c", b"x")
    assert rig.incoming() == []
    assert rig.external() == []
    rig.check()
