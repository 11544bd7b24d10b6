"""Verify finds what was planted among the files, and says what to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.stores.base import Report
from memoranda.stores.folder.file_port import Files
from memoranda.testing.promises.steps import append
from tests.stores.folder_rig import FolderRig


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    return rig


def verified(rig: FolderRig) -> Report:
    return run_now(rig.store.verify())


def codes(report: Report) -> list[tuple[str, str | None]]:
    found = (*report.problems, *report.notes)
    return [(each.code, None if each.path is None else each.path.store_path) for each in found]


def change_silently(file: Path, content: bytes) -> None:
    """Another text of the same size, and the times as if nobody had written."""
    before = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(before.st_mtime_ns, before.st_mtime_ns))


def test_a_store_in_order_has_nothing_to_tell(rig: FolderRig) -> None:
    report = verified(rig)
    assert report.ok
    assert codes(report) == []
    assert (report.files, report.versions) == (2, 2)


def test_a_store_that_does_not_exist_has_nothing_to_tell(tmp_path: Path) -> None:
    assert verified(FolderRig(tmp_path)) == Report((), (), 0, 0)


@pytest.mark.fault("BAD-12")
def test_a_text_that_changed_silently_is_found_and_can_be_put_right(rig: FolderRig) -> None:
    change_silently(rig.memories / "a.md", b"0ne\n")
    report = verified(rig)
    assert not report.ok
    assert codes(report) == [("silent-change", "/a.md")]
    assert report.problems[0].remedy
    rig.put("/a.md", b"one again\n")
    rig.check()


def test_a_text_that_changed_silently_is_a_persons_before_anybody_edits_it(rig: FolderRig) -> None:
    change_silently(rig.memories / "a.md", b"0ne\n")
    rig.edit("/a.md", append(b"more\n"))
    assert rig.history("/a.md")[1:] == [
        ("external", "modified", "/a.md", b"0ne\n"),
        ("agent", "modified", "/a.md", b"0ne\nmore\n"),
    ]
    rig.check()


PLANTS: dict[str, tuple[Callable[[Path], object], tuple[str, str]]] = {
    "a symlink": (lambda at: (at / "d/link").symlink_to("/etc"), ("not-a-file", "/d")),
    "a FIFO": (lambda at: os.mkfifo(at / "fifo"), ("not-a-file", "/")),
    "a name with a space before it": (lambda at: (at / " a").write_bytes(b""), ("name", "/")),
    "a name that is not UTF-8": (
        lambda at: (at / os.fsdecode(b"\xff")).write_bytes(b""),
        ("name", "/"),
    ),
    "a directory that no path reaches": (lambda at: (at / "d/..x").mkdir(), ("name", "/d")),
}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.fault("BAD-12")
def test_what_no_path_reaches_is_noted(rig: FolderRig, plant: str) -> None:
    do, expected = PLANTS[plant]
    do(rig.memories)
    report = verified(rig)
    assert report.ok
    assert codes(report) == [expected]


def test_litter_is_not_worth_a_note(rig: FolderRig) -> None:
    (rig.memories / ".a.md.swp").write_bytes(b"")
    (rig.memories / "a.md~").write_bytes(b"")
    assert codes(verified(rig)) == []


def test_a_file_too_large_to_take_in_is_noted(
    rig: FolderRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("heads", "tree", "inspection"):
        monkeypatch.setattr(f"memoranda.stores.folder.{module}.LARGEST_BYTES", 10)
    (rig.memories / "large.md").write_bytes(b"x" * 11)
    report = verified(rig)
    assert report.ok
    assert codes(report) == [("too-large", "/large.md")]


def test_what_was_set_aside_is_noted_by_name(rig: FolderRig) -> None:
    recovered = rig.directory / "recovered"
    recovered.mkdir()
    assert codes(verified(rig)) == []
    (recovered / "1-a\x1b.md").write_bytes(b"")
    (note,) = verified(rig).notes
    assert note.code == "recovered"
    assert note.message.endswith(r"what was set aside: recovered/1-a\u001b.md.")
    for number in range(30):
        (recovered / f"2-{number}").write_bytes(b"")
    assert verified(rig).notes[0].message.endswith(", and 11 more.")


def test_a_file_that_lags_is_a_problem_until_it_follows(tmp_path: Path) -> None:
    class Refusing(Files):
        refuses = False

        def exchange(
            self, ours: str, our_directory: int, theirs: str, their_directory: int
        ) -> None:
            if self.refuses:
                raise PermissionError(13, "no")
            super().exchange(ours, our_directory, theirs, their_directory)

    files = Refusing()
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    files.refuses = True
    rig.edit("/a.md", append(b"two\n"))
    report = verified(rig)
    assert codes(report) == [("lagging", "/a.md")]
    assert not report.ok
    files.refuses = False
    rig.clock.seconds += 10
    assert verified(rig).ok
