"""What becomes of an open store between two questions: erased, removed, unreadable, never made."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Corrupt, Misuse, NotFound, Unavailable, UnknownId
from memoranda.path import ROOT
from memoranda.stores.base import Outline, VersionFilter
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.open_tree import Reopen
from memoranda.stores.log.database import open_connection
from memoranda.testing.promises.steps import append, p
from tests.stores.folder_rig import AGENT, FolderRig


class Failing(Files):
    """A disk that refuses to exchange files, to rename or to open what has one of these names."""

    def __init__(self) -> None:
        self.unexchanged: set[str] = set()
        self.unmoved: set[str] = set()
        self.unopened: set[str] = set()
        self.while_opening: Callable[[], object] | None = None

    @staticmethod
    def _look(name: str, names: set[str]) -> None:
        if any(name.startswith(each) for each in names):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        self._look(theirs, self.unexchanged)
        super().exchange(ours, our_directory, theirs, their_directory)

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        self._look(old, self.unmoved)
        super().move(old, old_directory, new, new_directory)

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        act, self.while_opening = self.while_opening, None
        if act is not None:
            act()
        self._look(name, self.unopened)
        return super().open(name, flags, directory)

    def open_beneath(self, root: int, path: str, flags: int) -> int:
        self._look(path, self.unopened)
        return super().open_beneath(root, path, flags)


@pytest.fixture
def files() -> Failing:
    return Failing()


@pytest.fixture
def rig(tmp_path: Path, files: Failing) -> FolderRig:
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    return rig


# ---------------------------------------------------------------- others erase or remove it


def test_a_store_that_another_process_erased_has_no_history_and_lists_nothing(
    rig: FolderRig,
) -> None:
    other = FolderRig(rig.home)
    assert rig.history()
    run_now(other.backend.erase(other.store.id, AGENT))
    assert rig.history() == []
    assert run_now(rig.store.outline(ROOT, 1000)) == Outline(0, (), 0)


def test_a_listing_is_the_first_to_notice_that_a_store_was_erased(rig: FolderRig) -> None:
    other = FolderRig(rig.home)
    run_now(other.backend.erase(other.store.id, AGENT))
    assert run_now(rig.store.outline(ROOT, 1000)) == Outline(0, (), 0)
    with pytest.raises(NotFound):
        run_now(rig.store.outline(p("/d"), 1000))


def test_a_store_that_lags_and_is_removed_has_nothing_to_read_or_to_find(
    rig: FolderRig, files: Failing
) -> None:
    reader = FolderRig(rig.home)
    assert reader.read("/a.md") == b"one\n"
    files.unexchanged = {"a.md"}
    rig.edit("/a.md", append(b"more\n"))
    shutil.rmtree(rig.directory)
    with pytest.raises(NotFound):
        reader.read("/a.md")
    assert run_now(reader.store.search("more", ROOT)) == ()


def test_a_redaction_that_finds_the_lock_file_gone_opens_the_store_anew(rig: FolderRig) -> None:
    rig.edit("/a.md", append(b"more\n"))
    page = run_now(rig.store.versions(VersionFilter(path=p("/a.md")), limit=10))
    (rig.directory / "lock").unlink()
    assert run_now(rig.store.redact(page.versions[-1].id, AGENT)).redacted_at_ns
    assert [content for *_, content in rig.history("/a.md")] == [None, b"one\nmore\n"]
    rig.check()


def test_who_comes_to_a_writer_that_was_closed_meanwhile_is_sent_to_open_anew(
    rig: FolderRig,
) -> None:
    place = rig.store._place  # pyright: ignore[reportPrivateUsage]
    writer = place.writer
    assert writer is not None
    place.close()
    with pytest.raises(Reopen):
        writer.catch_up()
    rig.check()


# ---------------------------------------------------------------- disk and database fail


def test_what_lags_and_cannot_be_read_is_unavailable(rig: FolderRig, files: Failing) -> None:
    files.unexchanged = {"a.md"}
    rig.edit("/a.md", append(b"more\n"))
    files.unopened = {"d/b.md"}
    with pytest.raises(Unavailable):
        rig.read("/d/b.md")
    assert rig.read("/a.md") == b"one\nmore\n"
    files.unopened = set()
    assert rig.read("/d/b.md") == b"two\n"


def test_a_store_that_cannot_be_verified_now_is_not_called_sound(
    rig: FolderRig, files: Failing
) -> None:
    files.unopened = {"recovered"}
    with pytest.raises(Unavailable):
        run_now(rig.store.verify())
    files.unopened = set()
    rig.check()


def test_a_redaction_that_the_disk_refuses_can_be_tried_again(
    rig: FolderRig, files: Failing
) -> None:
    rig.edit("/a.md", append(b"more\n"))
    first = run_now(rig.store.versions(VersionFilter(path=p("/a.md")), limit=10)).versions[-1]
    files.unopened = {"trash"}
    with pytest.raises(Unavailable):
        run_now(rig.store.redact(first.id, AGENT))
    files.unopened = set()
    assert run_now(rig.store.redact(first.id, AGENT)).redacted_at_ns
    rig.check()


def test_what_somebody_still_reads_cannot_be_redacted_for_good(rig: FolderRig) -> None:
    rig.edit("/a.md", append(b"more\n"))
    first = run_now(rig.store.versions(VersionFilter(path=p("/a.md")), limit=10)).versions[-1]
    rig.opened.db.set_busy_timeout(1)
    reader = open_connection(str(rig.directory / "history.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM event").fetchone()
    with pytest.raises(Unavailable, match="still reads"):
        run_now(rig.store.redact(first.id, AGENT))
    reader.execute("COMMIT")
    reader.close()
    assert [content for *_, content in rig.history("/a.md")] == [None, b"one\nmore\n"]


def test_a_fork_that_comes_while_a_store_is_opened_is_told_so(
    rig: FolderRig, files: Failing
) -> None:
    """What is being opened just then belongs to the parent alone."""
    place = rig.store._place  # pyright: ignore[reportPrivateUsage]
    said: list[bool] = []
    place.close()
    files.while_opening = lambda: said.append(place.let_go(0.0))
    assert rig.read("/a.md") == b"one\n"
    assert said == [False]
    assert place.let_go(0.0)


def test_an_erasure_that_the_disk_refuses_leaves_the_store_as_it_was(
    rig: FolderRig, files: Failing
) -> None:
    state = rig.tree()
    files.unmoved = {rig.directory.name}
    with pytest.raises(Unavailable):
        run_now(rig.backend.erase(rig.store.id, AGENT))
    files.unmoved = set()
    rig.reopen()
    assert rig.tree() == state
    rig.check()
    run_now(rig.backend.erase(rig.store.id, AGENT))
    assert not rig.directory.exists()


def test_a_table_that_is_gone_is_damage_and_no_empty_history(rig: FolderRig) -> None:
    rig.history()
    rig.opened.db.execute("DROP TABLE event")
    with pytest.raises(Corrupt):
        rig.history()


# ---------------------------------------------------------------- nobody made it


def test_a_command_that_does_nothing_makes_no_store(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    assert rig.apply() == ()
    assert not rig.directory.exists()


def test_what_views_of_a_store_that_nobody_made_left_to_be_noted_is_forgotten(
    tmp_path: Path,
) -> None:
    rig = FolderRig(tmp_path)
    run_now(rig.store.record(AGENT))
    run_now(rig.store.flush())
    assert run_now(rig.store.audit(None, 10)) == ()
    assert not rig.directory.exists()


def test_a_store_that_nobody_made_cannot_be_held(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    with pytest.raises(UnknownId):
        run_now(rig.store.hold(ROOT, "why", AGENT))


def test_uses_that_have_waited_long_enough_are_written_with_the_next_one(rig: FolderRig) -> None:
    run_now(rig.store.touch([p("/a.md")], 7))
    rig.clock.at_ns += 2_000_000_000
    run_now(rig.store.touch([p("/d/b.md")], 8))
    assert run_now(FolderRig(rig.home).store.uses()) == {p("/a.md"): 7, p("/d/b.md"): 8}


def test_a_closed_backend_says_so(rig: FolderRig) -> None:
    rig.close()
    for ask in (rig.backend.for_user("acme"), rig.backend.find_user("acme"), rig.backend.list()):
        with pytest.raises(Misuse, match="closed"):
            run_now(ask)
