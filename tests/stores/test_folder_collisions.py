"""A person saves just when the store replaces the file: theirs is kept, and ours is done again."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from memoranda.drive import run_now
from memoranda.errors import AlreadyExists, Conflict, IsADirectory, NoMatch, NotFound
from memoranda.stores.base import Expect, Put
from memoranda.stores.folder.file_port import READING, Files
from memoranda.stores.log.replay import Spot, TreeStep
from memoranda.testing.promises.steps import append, p
from memoranda.text.splice import Splice
from tests.stores.folder_rig import AGENT, FolderRig


class Meddling(Files):
    """Files with a person who acts right before a chosen operation."""

    def __init__(self) -> None:
        self.plans: dict[str, list[Callable[[], object]]] = {}

        self.after_stat: Callable[[str], object] = str

    def before(self, operation: str, *acts: Callable[[], object]) -> None:
        """At the next calls of ``operation`` do one of ``acts`` each."""
        self.plans.setdefault(operation, []).extend(acts)

    def _meddle(self, operation: str) -> None:
        plan = self.plans.get(operation)
        if plan:
            plan.pop(0)()

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        self._meddle("exchange")
        super().exchange(ours, our_directory, theirs, their_directory)

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        self._meddle("move")
        super().move(old, old_directory, new, new_directory)

    def write_at(self, descriptor: int, data: bytes, offset: int) -> int:  # type: ignore[override]
        """The word is written right before each commit, first of all."""
        self._meddle("commit")
        return os.pwrite(descriptor, data, offset)

    def stat(self, name: str, directory: int) -> os.stat_result:
        found = super().stat(name, directory)
        self.after_stat(name)
        return found

    def read_at(self, descriptor: int, size: int, offset: int) -> bytes:
        self._meddle("read")
        return os.pread(descriptor, size, offset)


@pytest.fixture
def files() -> Meddling:
    return Meddling()


@pytest.fixture
def rig(tmp_path: Path, files: Meddling) -> FolderRig:
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    return rig


def saving(path: Path, content: bytes) -> Callable[[], object]:
    """A save by rename."""

    def save() -> None:
        beside = path.with_name(f".{path.name}.tmp")
        beside.write_bytes(content)
        beside.rename(path)

    return save


def writing(path: Path, content: bytes) -> Callable[[], object]:
    """A save in place."""
    return lambda: path.write_bytes(content)


@pytest.mark.parametrize("save", [saving, writing])
@pytest.mark.fault("ROW-06")
def test_an_edit_runs_again_on_what_a_person_saved_meanwhile(
    rig: FolderRig, files: Meddling, save: Callable[[Path, bytes], Callable[[], object]]
) -> None:
    files.before("exchange", save(rig.memories / "a.md", b"by hand\n"))
    rig.edit("/a.md", append(b"by agent\n"))
    assert rig.read("/a.md") == b"by hand\nby agent\n"
    assert rig.history() == [
        ("agent", "created", "/a.md", b"one\n"),
        ("agent", "modified", "/a.md", b"one\nby agent\n"),
        ("external", "modified", "/a.md", b"by hand\n"),
        ("agent", "modified", "/a.md", b"by hand\nby agent\n"),
    ]
    rig.check()


@pytest.mark.fault("ROW-06")
def test_an_edit_that_no_longer_fits_is_refused_and_theirs_stays(
    rig: FolderRig, files: Meddling
) -> None:
    def replace_one(old: bytes) -> Splice:
        at = old.find(b"one")
        if at < 0:
            raise NoMatch(p("/a.md"))
        return Splice(at, at + 3, b"two")

    files.before("exchange", saving(rig.memories / "a.md", b"by hand\n"))
    with pytest.raises(NoMatch):
        rig.edit("/a.md", replace_one)
    assert rig.on_disk() == {"/a.md": b"by hand\n"}
    assert rig.history()[1:] == [
        ("agent", "modified", "/a.md", b"two\n"),
        ("external", "modified", "/a.md", b"by hand\n"),
    ]
    rig.check()


def test_a_person_who_saves_the_same_text_is_no_other_hand(rig: FolderRig, files: Meddling) -> None:
    files.before("exchange", saving(rig.memories / "a.md", b"one\n"))
    rig.edit("/a.md", append(b"by agent\n"))
    assert [each[0] for each in rig.history()] == ["agent", "agent"]
    rig.check()


def test_a_second_save_while_the_first_is_given_back_is_the_one_that_stays(
    rig: FolderRig, files: Meddling
) -> None:
    file = rig.memories / "a.md"
    files.before("exchange", saving(file, b"first\n"), saving(file, b"second\n"))
    rig.edit("/a.md", append(b"by agent\n"))
    assert rig.read("/a.md") == b"second\nby agent\n"
    rig.clock.seconds += 10
    rig.put("/b.md", b"x")
    assert ("late modified", "/a.md", b"first\n") in rig.external()
    assert ("modified", "/a.md", b"second\n") in rig.external()
    rig.check()


def test_a_save_that_its_own_editor_replaces_while_it_is_given_back_is_kept(
    rig: FolderRig, files: Meddling
) -> None:
    file = rig.memories / "a.md"
    read: list[bytes] = []

    def save_again() -> None:
        # What it read in the instant of the exchange lacks its own first save.
        file.with_name("editor").write_bytes(read[0] + b"second\n")
        file.with_name("editor").rename(file)

    class Racing(Meddling):
        def exchange(
            self, ours: str, our_directory: int, theirs: str, their_directory: int
        ) -> None:
            super().exchange(ours, our_directory, theirs, their_directory)
            if after:
                after.pop(0)()

    after: list[Callable[[], object]] = [lambda: read.append(file.read_bytes()), save_again]
    racing = Racing()
    rig.close()
    rig.files = racing
    rig.open()
    racing.before("exchange", saving(file, b"first\n"))
    rig.edit("/a.md", append(b"by agent\n"))
    assert rig.read("/a.md") == b"one\nby agent\nsecond\nby agent\n"
    rig.clock.seconds += 10
    rig.put("/b.md", b"x")
    assert [each[2] for each in rig.external()] == [b"one\nby agent\nsecond\n", b"first\n"]
    rig.check()


def test_a_person_who_saves_every_time_wins_and_nothing_is_lost(
    rig: FolderRig, files: Meddling
) -> None:
    file = rig.memories / "a.md"
    saves = [saving(file, b"%d\n" % number) for number in range(6)]
    # Two exchanges a round: ours, and giving theirs back.
    for save in saves:
        files.before("exchange", save, lambda: None)
    with pytest.raises(Conflict):
        rig.edit("/a.md", append(b"by agent\n"))
    kept = [content for _, _, content in rig.external()]
    assert kept[:5] == [b"0\n", b"1\n", b"2\n", b"3\n", b"4\n"]
    rig.check()
    assert rig.read("/a.md") == b"5\n"


def test_a_person_who_saves_at_every_swap_loses_nothing(rig: FolderRig, files: Meddling) -> None:
    file = rig.memories / "a.md"
    saves = [b"%d\n" % number for number in range(25)]
    files.before("exchange", *(saving(file, save) for save in saves))
    rig.edit("/a.md", append(b"by agent\n"))
    assert files.plans["exchange"] == []
    rig.clock.seconds += 10
    rig.put("/b.md", b"x")
    assert rig.read("/a.md") == b"24\nby agent\n"
    assert {content for *_, content in rig.external()} == set(saves)
    rig.check()


def test_a_create_that_meets_a_persons_new_file_is_refused(rig: FolderRig, files: Meddling) -> None:
    files.before("move", writing(rig.memories / "new.md", b"by hand\n"))
    with pytest.raises(AlreadyExists):
        rig.apply(Put(p("/new.md"), b"by agent\n", Expect.ABSENT))
    assert rig.read("/new.md") == b"by hand\n"
    rig.check()


def test_a_create_that_meets_a_persons_new_directory_goes_by_what_is_there(
    rig: FolderRig, files: Meddling
) -> None:
    def make_directory() -> None:
        (rig.memories / "new").mkdir()
        (rig.memories / "new/x.md").write_bytes(b"by hand\n")

    files.before("move", make_directory)
    with pytest.raises(IsADirectory):
        rig.apply(Put(p("/new"), b"by agent\n", Expect.ABSENT))
    assert rig.tree() == {"/a.md": b"one\n", "/new/x.md": b"by hand\n"}
    rig.check()


def test_a_create_where_a_persons_directory_lies_is_refused(rig: FolderRig) -> None:
    (rig.memories / "new").mkdir()
    (rig.memories / "new/x.md").write_bytes(b"by hand\n")
    with pytest.raises(IsADirectory):
        rig.put("/new", b"by agent\n")
    assert rig.external() == [("created", "/new/x.md", b"by hand\n")]
    rig.check()


def test_a_create_where_a_person_takes_a_file_away_just_then_goes_on(
    rig: FolderRig, files: Meddling
) -> None:
    (rig.memories / "new.md").write_bytes(b"by hand\n")

    def take_away(name: str) -> None:
        if name == "new.md":
            (rig.memories / name).unlink(missing_ok=True)

    files.after_stat = take_away
    rig.put("/new.md", b"by agent\n")
    assert rig.tree() == {"/a.md": b"one\n", "/new.md": b"by agent\n"}
    assert rig.external() == []
    rig.check()


def test_a_file_that_a_person_let_grow_too_large_is_not_deleted_unseen(
    rig: FolderRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("heads", "tree", "survey"):
        monkeypatch.setattr(f"memoranda.stores.folder.{module}.LARGEST_BYTES", 10, raising=False)
    (rig.memories / "a.md").write_bytes(b"too large to be taken in")
    with pytest.raises(NotFound):
        rig.remove("/a.md")
    assert (rig.memories / "a.md").read_bytes() == b"too large to be taken in"


def test_a_create_that_meets_an_empty_directory_replaces_it(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("move", (rig.memories / "new").mkdir)
    rig.put("/new", b"by agent\n")
    assert rig.on_disk() == {"/a.md": b"one\n", "/new": b"by agent\n"}
    rig.check()


def test_a_delete_takes_what_a_person_saved_meanwhile_into_history(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("move", saving(rig.memories / "a.md", b"by hand\n"))
    rig.remove("/a.md")
    assert rig.tree() == {}
    assert ("created", "/a.md", b"by hand\n") in rig.external() or (
        "modified",
        "/a.md",
        b"by hand\n",
    ) in rig.external()
    rig.check()


def test_a_delete_is_given_back_late_if_the_place_is_taken_again(
    rig: FolderRig, files: Meddling
) -> None:
    file = rig.memories / "a.md"
    files.before("move", saving(file, b"first\n"), saving(file, b"second\n"))
    rig.remove("/a.md")
    rig.clock.seconds += 10
    rig.put("/b.md", b"x")
    contents = [content for _, _, content in rig.external()]
    assert b"first\n" in contents
    assert b"second\n" in contents
    rig.check()


def test_a_move_to_a_place_that_was_taken_meanwhile_is_refused(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("move", writing(rig.memories / "b.md", b"by hand\n"))
    with pytest.raises(AlreadyExists):
        rig.move("/a.md", "/b.md")
    assert rig.tree() == {"/a.md": b"one\n", "/b.md": b"by hand\n"}
    rig.check()


def test_a_move_into_an_empty_directorys_place_goes_on(rig: FolderRig, files: Meddling) -> None:
    files.before("move", (rig.memories / "b.md").mkdir)
    rig.move("/a.md", "/b.md")
    assert rig.on_disk() == {"/b.md": b"one\n"}
    rig.check()


def test_a_move_that_a_person_did_just_before_is_done(rig: FolderRig, files: Meddling) -> None:
    file = rig.memories / "a.md"
    files.before("commit", lambda: file.rename(rig.memories / "b.md"))
    rig.move("/a.md", "/b.md")
    assert rig.on_disk() == {"/b.md": b"one\n"}
    assert rig.external() == []
    rig.check()


def test_a_delete_that_a_person_did_just_before_is_done(rig: FolderRig, files: Meddling) -> None:
    files.before("commit", (rig.memories / "a.md").unlink)
    rig.remove("/a.md")
    assert rig.tree() == {}
    assert rig.external() == []
    rig.check()


def test_a_file_that_a_person_saves_and_the_agent_moves_is_adopted_at_its_new_place(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("move", saving(rig.memories / "a.md", b"by hand\n"))
    rig.move("/a.md", "/b.md")
    assert rig.tree() == {"/b.md": b"by hand\n"}
    assert rig.external() == [("modified", "/b.md", b"by hand\n")]
    rig.check()


def test_a_file_that_a_person_deletes_while_the_agent_edits_it_comes_back(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("exchange", (rig.memories / "a.md").unlink)
    rig.edit("/a.md", append(b"by agent\n"))
    assert rig.on_disk() == {"/a.md": b"one\nby agent\n"}
    rig.check()


def test_a_file_that_a_person_deletes_while_the_agent_deletes_it_is_deleted(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("move", (rig.memories / "a.md").unlink)
    rig.remove("/a.md")
    assert rig.tree() == {}
    assert rig.external() == []
    rig.check()


def test_a_batch_is_not_run_again_its_text_goes_on_top_of_theirs(
    rig: FolderRig, files: Meddling
) -> None:
    files.before("exchange", saving(rig.memories / "a.md", b"by hand\n"))
    versions = rig.apply(Put(p("/a.md"), b"of the batch\n"), Put(p("/c.md"), b"c\n"))
    assert len(versions) == 2
    assert rig.tree() == {"/a.md": b"of the batch\n", "/c.md": b"c\n"}
    assert rig.history("/a.md")[1:] == [
        ("agent", "modified", "/a.md", b"of the batch\n"),
        ("external", "modified", "/a.md", b"by hand\n"),
        ("agent", "modified", "/a.md", b"of the batch\n"),
    ]
    rig.check()


@pytest.mark.parametrize("between", range(2))
def test_a_batch_whose_text_goes_on_top_may_be_overtaken_again(
    rig: FolderRig, files: Meddling, between: int
) -> None:
    first, again = b"by hand\n", b"by hand again\n"
    steps = [str] * between  # files are exchanged to and fro
    files.before(
        "exchange",
        saving(rig.memories / "a.md", first),
        *steps,
        saving(rig.memories / "a.md", again),
    )
    versions = rig.apply(Put(p("/a.md"), b"of the batch\n"), Put(p("/c.md"), b"c\n"))
    assert len(versions) == 2
    assert rig.external()[-1] == ("modified", "/a.md", again)
    assert rig.tree() == {"/a.md": b"of the batch\n", "/c.md": b"c\n"}
    rig.check()


class TestJobsOfOneCommit:
    """Several threads' commands that share a transaction."""

    @staticmethod
    def together(rig: FolderRig, *works: Callable[[], object]) -> None:
        writer = rig.store._place.writer  # pyright: ignore[reportPrivateUsage]
        assert writer is not None
        threads = [Thread(target=work) for work in works]
        with writer.group.alone():
            for waiting, thread in enumerate(threads, 1):
                thread.start()
                while writer.group.waiting < waiting:
                    time.sleep(0.001)
        for thread in threads:
            thread.join()

    def test_a_person_overtakes_only_the_one_whose_file_it_is(
        self, rig: FolderRig, files: Meddling
    ) -> None:
        rig.put("/b.md", b"two\n")
        files.before("exchange", saving(rig.memories / "a.md", b"by hand\n"))
        self.together(
            rig,
            lambda: rig.edit("/a.md", append(b"more\n")),
            lambda: rig.edit("/b.md", append(b"more\n")),
        )
        assert rig.tree() == {"/a.md": b"by hand\nmore\n", "/b.md": b"two\nmore\n"}
        assert len(rig.history("/b.md")) == 2
        rig.check()

    def test_what_one_adopts_stays_where_it_lies_while_another_moves_a_file(
        self, rig: FolderRig
    ) -> None:
        rig.put("/b.md", b"two\n")
        (rig.memories / "a.md").write_bytes(b"by hand\n")
        self.together(
            rig,
            lambda: run_now(rig.store.stat(p("/a.md"))),
            lambda: rig.move("/b.md", "/c.md"),
        )
        assert rig.on_disk() == {"/a.md": b"by hand\n", "/c.md": b"two\n"}
        assert rig.external() == [("modified", "/a.md", b"by hand\n")]
        rig.check()


def test_who_still_reads_an_erased_store_goes_on_with_the_one_that_was_made_since(
    rig: FolderRig, files: Meddling
) -> None:
    rig.reopen()
    assert rig.read("/a.md") == b"one\n"

    def erase_and_begin_again() -> None:
        other = FolderRig(rig.home)
        run_now(other.backend.erase(other.store.id, AGENT))
        rig.put("/a.md", b"new\n")

    files.before("read", erase_and_begin_again)
    assert rig.read("/a.md") == b"new\n"
    assert rig.store._place.writer is not None  # pyright: ignore[reportPrivateUsage]
    rig.check()


def test_a_directory_whose_old_name_is_lost_stays_where_it_is(rig: FolderRig) -> None:
    rig.put("/d/b.md", b"two\n")
    state = rig.on_disk()
    step = TreeStep(1, 1, True, None, Spot(("e",), ()))
    outcome = rig.opened.follow([step], 0)
    assert (outcome.lags, outcome.overtaken) == ([], set())
    assert rig.on_disk() == state


class TestAWriterWhoHasTheOldFileOpen:
    @pytest.mark.fault("ROW-07")
    def test_is_kept_as_a_late_version(self, rig: FolderRig) -> None:
        with (rig.memories / "a.md").open("ab", buffering=0) as old:
            rig.edit("/a.md", append(b"by agent\n"))
            old.write(b"by hand\n")
        rig.clock.seconds += 3
        rig.put("/b.md", b"x")
        assert rig.external() == [("late modified", "/a.md", b"one\nby hand\n")]
        assert rig.read("/a.md") == b"one\nby agent\n"
        rig.check()

    def test_is_waited_for_however_long(self, rig: FolderRig) -> None:
        with (rig.memories / "a.md").open("ab", buffering=0) as old:
            rig.edit("/a.md", append(b"by agent\n"))
            for number in range(5):
                rig.clock.seconds += 100
                rig.put("/b.md", b"%d" % number)
            old.write(b"by hand\n")
        for number in range(3):
            rig.clock.seconds += 100
            rig.put("/b.md", b"again %d" % number)
        assert rig.external() == [("late modified", "/a.md", b"one\nby hand\n")]

    def test_is_found_by_the_next_process_too(self, rig: FolderRig) -> None:
        with (rig.memories / "a.md").open("ab", buffering=0) as old:
            rig.edit("/a.md", append(b"by agent\n"))
            rig.crash()
            old.write(b"by hand\n")
        rig.put("/b.md", b"x")
        rig.clock.seconds += 3
        rig.put("/b.md", b"y")
        assert rig.external() == [("late modified", "/a.md", b"one\nby hand\n")]
        rig.check()

    def test_of_a_file_in_a_removed_directory_is_kept_too(self, rig: FolderRig) -> None:
        rig.put("/d/x.md", b"x\n")
        with (rig.memories / "d/x.md").open("ab", buffering=0) as old:
            old.write(b"by hand\n")
            rig.remove("/d")
        rig.put("/b.md", b"x")
        rig.check()
        assert rig.external() == [("late modified", "/d/x.md", b"x\nby hand\n")]

    def test_of_a_file_that_nobody_had_looked_at_is_kept_too(self, rig: FolderRig) -> None:
        rig.put("/d/x.md", b"x\n")
        (rig.memories / "d/new.md").write_bytes(b"by hand\n")
        rig.remove("/d")
        rig.put("/b.md", b"x")
        assert rig.external() == [
            ("created", "/d/new.md", b"by hand\n"),
            ("deleted", "/d/new.md", None),
        ]
        rig.check()


def test_displaced_files_go_after_two_seconds(rig: FolderRig) -> None:
    rig.edit("/a.md", append(b"2\n"))
    assert len(rig.incoming()) == 1
    rig.clock.seconds += 1
    rig.put("/b.md", b"x")
    assert len(rig.incoming()) == 1
    rig.clock.seconds += 1
    rig.put("/b.md", b"y")
    assert len(rig.incoming()) == 1  # that of /b.md
    rig.check()


def test_only_so_many_displaced_files_wait(rig: FolderRig) -> None:
    for number in range(100):
        rig.put("/a.md", b"%d" % number)
    assert len(rig.incoming()) <= 66
    rig.check()


def test_only_so_many_bytes_of_displaced_files_wait(rig: FolderRig) -> None:
    for number in range(8):
        rig.put("/a.md", b"%d" % number * 5_000_000)
    assert len(rig.incoming()) <= 5
    rig.check()


class LayeredDisk(Files):
    """As overlayfs: a directory of a lower layer can't be renamed, what is in it can."""

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        if stat.S_ISDIR(self.stat(old, old_directory).st_mode):
            raise OSError(errno.EXDEV, "not within a layer")
        super().move(old, old_directory, new, new_directory)


def test_directories_that_cannot_be_renamed_move_and_go_file_by_file(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path, LayeredDisk())
    rig.put("/d/e/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    rig.move("/d", "/f/g")
    assert rig.on_disk() == {"/f/g/b.md": b"two\n", "/f/g/e/a.md": b"one\n"}
    assert not (rig.memories / "d").exists()
    rig.check()
    rig.remove("/f")
    assert rig.tree() == rig.on_disk() == {}
    rig.close()
    assert rig.incoming() == []


class Failing(Files):
    """A disk that can't read what lies in ``incoming/`` for a while."""

    fails = False

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        if self.fails and flags == READING and name.isdecimal():
            raise OSError(errno.EIO, "cannot be read")
        return super().open(name, flags, directory)


def test_a_displaced_file_that_cannot_be_looked_at_waits_until_it_can(tmp_path: Path) -> None:
    files = Failing()
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    rig.put("/a.md", b"two\n")
    waiting = rig.incoming()
    assert len(waiting) == 1
    files.fails = True
    rig.clock.seconds += 10
    rig.put("/b.md", b"x")
    assert rig.incoming() == waiting
    files.fails = False
    rig.clock.seconds += 10
    rig.put("/c.md", b"y")
    assert rig.incoming() == []
    rig.check()
