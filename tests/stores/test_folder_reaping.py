"""Removed directories: out of view at once, unlinked by later turns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memoranda.stores.base import Put, Remove
from memoranda.stores.folder import tree as tree_module
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.writer import REAPED_A_TURN
from memoranda.testing.promises.steps import p
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


def removed(rig: FolderRig) -> Path:
    """Where a directory ``/d`` with one file lies after its removal."""
    rig.put("/d/a", b"one")
    rig.remove("/d")
    (directory,) = (rig.directory / "trash").iterdir()
    return directory


def recovered(rig: FolderRig) -> list[str]:
    """The names in ``recovered/``, without the time before each."""
    return sorted(path.name.partition("-")[2] for path in (rig.directory / "recovered").glob("*"))


def test_what_a_person_saves_into_a_directory_that_is_removed_is_in_history(
    tmp_path: Path,
) -> None:
    rig = FolderRig(tmp_path)
    (removed(rig) / "new").write_bytes(b"by hand")
    rig.put("/b", b"x")
    assert rig.external() == [("created", "/d/new", b"by hand"), ("deleted", "/d/new", None)]
    assert in_trash(rig) == []
    assert recovered(rig) == []
    rig.check()


def test_what_has_no_place_in_history_any_more_is_kept_aside(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/d/a", b"one")
    rig.apply(Remove(p("/d")), Put(p("/d"), b"a file now"))
    (directory,) = (rig.directory / "trash").iterdir()
    (directory / "new").write_bytes(b"by hand")
    of_no_removal = directory.with_name("1")
    of_no_removal.mkdir()
    (of_no_removal / "odd").write_bytes(b"by hand")
    rig.put("/b", b"x")
    assert in_trash(rig) == []
    assert recovered(rig) == ["new", "odd"]
    rig.check()


def test_a_removed_file_that_was_only_touched_is_no_news(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    os.utime(removed(rig) / "a", ns=(5, 5))
    rig.put("/b", b"x")
    assert rig.external() == []
    assert in_trash(rig) == []
    assert recovered(rig) == []


def test_a_removed_file_that_grew_too_large_to_take_in_is_kept_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = FolderRig(tmp_path)
    (removed(rig) / "a").write_bytes(b"x" * 11)
    monkeypatch.setattr(tree_module, "LARGEST_BYTES", 10)
    rig.put("/b", b"x")
    assert recovered(rig) == ["a"]
    assert in_trash(rig) == []


def test_a_link_that_went_with_its_directory_is_kept_aside_and_never_followed(
    tmp_path: Path,
) -> None:
    rig = FolderRig(tmp_path)
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    (removed(rig) / "link").symlink_to(outside)
    rig.put("/b", b"x")
    rig.put("/c", b"x")
    assert recovered(rig) == ["link"]
    assert outside.read_bytes() == b"theirs"
    assert list((rig.directory / "trash").iterdir()) == []
