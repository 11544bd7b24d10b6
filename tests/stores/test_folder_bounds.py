"""However often a store is edited, its history stays within bounds: what retention keeps, no more.

A day passes with every so many edits, so that age has its part in it; the rest is the default.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from memoranda.stores.base import Edit, EditFunction
from memoranda.stores.folder.file_port import Files
from memoranda.testing.promises.steps import append, p
from memoranda.text.splice import Splice
from tests.stores.folder_rig import FolderRig

FILES = 200
FILE_BYTES = 2000
EDITS_A_DAY = 1000
DAY_NS = 86_400 * 1_000_000_000


def replaced(at: int, line: bytes) -> EditFunction:
    """The edit that puts a line over another one."""
    return lambda _: Splice(at, at + len(line), line)


def edit_for_ever(rig: FolderRig, seed: int) -> Iterator[None]:
    """One edit a step, of one file of many, which keep their size."""
    random = Random(seed)
    for number in range(FILES):
        rig.put(f"/{number % 10}/{number}.md", b"%08d\n" % number * (FILE_BYTES // 9))
    for count in range(1, 1 << 40):
        at = random.randrange(FILE_BYTES // 9) * 9
        line = b"%08d\n" % random.randrange(10**8)
        number = random.randrange(FILES)
        rig.edit(f"/{number % 10}/{number}.md", replaced(at, line))
        if count % EDITS_A_DAY == 0:
            rig.clock.at_ns += DAY_NS
            rig.clock.seconds += 100
        yield


def size_of(rig: FolderRig) -> int:
    """What a store takes on the disk once it is closed."""
    rig.reopen()
    return sum(
        os.stat(os.path.join(here, name)).st_size
        for here, _, names in os.walk(rig.directory)
        for name in names
    )


def sizes(rig: FolderRig, edits: int, looks: int) -> list[int]:
    """The size of a store after each of so many equal stretches of edits."""
    found: list[int] = []
    editing = edit_for_ever(rig, 1)
    for count, _ in zip(range(1, edits + 1), editing, strict=False):
        if count % (edits // looks) == 0:
            found.append(size_of(rig))
    return found


def is_flat(found: list[int]) -> bool:
    """Whether the second half is no higher than the first one's end, but for a tenth."""
    half = len(found) // 2
    return max(found[half:]) <= 1.1 * max(found[: half + 1])


def test_a_history_stops_growing_once_it_is_as_old_as_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.stores.test_folder_bounds.EDITS_A_DAY", 10)
    monkeypatch.setattr("tests.stores.test_folder_bounds.FILES", 10)
    rig = FolderRig(tmp_path)
    found = sizes(rig, 1500, 10)
    assert is_flat(found), found
    rig.check()
    rig.close()


@pytest.mark.full
def test_a_million_edits_take_no_more_room_than_a_hundred_thousand(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    found = sizes(rig, 1_000_000, 20)
    assert is_flat(found), found
    rig.check()
    rig.close()


def test_what_is_not_on_disk_for_certain_is_never_thinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"begin\n")
    opened = rig.opened
    durable = opened.durable

    def cannot(_: int) -> None:
        raise OSError(5, "no")

    monkeypatch.setattr(type(rig.files), "sync_all", staticmethod(cannot))
    for number in range(1500):
        rig.apply(Edit(p("/a.md"), append(b"%d\n" % number)))
        rig.clock.at_ns += DAY_NS
        rig.clock.seconds += 1
    rows = opened.db.execute("SELECT count(*) FROM event WHERE seq > ?", (durable,)).get
    assert rows >= 1500
    monkeypatch.undo()
    for number in range(200):
        rig.clock.seconds += 100
        rig.clock.at_ns += DAY_NS
        rig.apply(Edit(p("/a.md"), append(b"%d\n" % number)))
    assert opened.durable > durable + 1500
    assert opened.db.execute("SELECT count(*) FROM event WHERE seq > ?", (durable,)).get < 1500
    rig.check()


class SlowDisk(Files):
    """A disk whose full sync takes until it is let."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.ended = threading.Event()

    def sync_all(self, descriptor: int) -> None:
        assert self.may_end.wait(60)
        super().sync_all(descriptor)
        self.ended.set()


@pytest.mark.parametrize("why", ["a minute went by", "a thousand steps were done"])
def test_no_answer_waits_for_a_full_sync(
    tmp_path: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.stores.folder.opened.MOST_UNSYNCED", 10)
    files = SlowDisk()
    rig = FolderRig(tmp_path, files)
    opened = rig.opened
    before = opened.durable
    if why == "a minute went by":
        rig.clock.seconds += 61
        rig.put("/a.md", b"one\n")
    else:
        for number in range(10):
            rig.put(f"/{number}.md", b"one\n")
    rig.put("/b.md", b"answered while the disk still works\n")
    assert opened.durable == before
    files.may_end.set()
    assert files.ended.wait(60)
    while opened.synced is None:  # the thread's last instruction
        time.sleep(0.001)
    rig.put("/c.md", b"notes it\n")
    assert opened.durable > before
    rig.close()


def test_closing_a_store_leaves_all_of_it_on_disk(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    rig.reopen()
    opened = rig.opened
    made = opened.db.execute("SELECT max(seq) FROM event WHERE name = 'a.md'").get
    assert opened.durable >= made
    rig.close()


def test_where_no_thread_can_be_had_the_sync_is_done_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    rig = FolderRig(tmp_path)
    opened = rig.opened
    before = opened.durable
    rig.clock.seconds += 61
    monkeypatch.setattr(threading.Thread, "start", cannot)
    rig.put("/a.md", b"one\n")
    rig.put("/b.md", b"two\n")
    assert opened.durable > before
    rig.close()
