"""Reading takes no lock, waits for no writer, and opens no more of a store than it needs."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import NotFound, ReadOnly, Unavailable, UnknownId
from memoranda.path import ROOT
from memoranda.reply import ToolResult
from memoranda.stores.base import Outline, Put
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.outline import MOST_COUNTED
from memoranda.stores.folder.place import LOOK_AGAIN_SECONDS
from memoranda.stores.folder.reading import _read_range  # pyright: ignore[reportPrivateUsage]
from memoranda.stores.folder.turns import WORD_BYTES
from memoranda.stores.log.database import open_connection
from memoranda.testing.promises.steps import append, p
from tests.house.repository import SOURCE
from tests.stores.folder_rig import AGENT, FolderRig

MANY = MOST_COUNTED + 50


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    return rig


def listed(rig: FolderRig, path: str = "/", line_chars: int = 10_000) -> Outline:
    return run_now(rig.store.outline(p(path), line_chars))


def put_many(rig: FolderRig, directory: str) -> None:
    rig.apply(*(Put(p(f"{directory}/{number:04}.md"), b"12345") for number in range(MANY)))


def is_open_in_full(rig: FolderRig) -> bool:
    return rig.store._place.writer is not None  # pyright: ignore[reportPrivateUsage]


@contextmanager
def commit_under_way(rig: FolderRig) -> Generator[None]:
    """A writer stands inside its commit, with all that it holds, until the block ends."""
    inside, may_go_on = Event(), Event()

    def stand() -> bool:
        inside.set()
        may_go_on.wait()
        return False

    database = cast("Any", rig.opened.db)
    writer = Thread(target=rig.put, args=("/new.md", b"new\n"))
    database.set_commit_hook(stand)
    try:
        writer.start()
        inside.wait()
        yield
    finally:
        may_go_on.set()
        writer.join()
        database.set_commit_hook(None)


class TestWhileAWriterCommits:
    def test_views_and_listings_answer_with_what_was_there(self, rig: FolderRig) -> None:
        with commit_under_way(rig):
            assert rig.read("/a.md") == b"one\n"
            assert listed(rig) == (8, (("a.md", 4), ("d/", 4), ("d/b.md", 4)), 3)
        assert ("new.md", 4) in listed(rig).items

    def test_a_listing_that_needs_the_logs_counters_answers_too(self, rig: FolderRig) -> None:
        put_many(rig, "/d/deep")
        with commit_under_way(rig):
            found = listed(rig)
            assert found.items == (
                ("a.md", 4),
                ("d/", 4 + 5 * MANY),
                ("d/b.md", 4),
                ("d/deep/", 5 * MANY),
            )
            assert listed(rig, line_chars=1) == (8 + 5 * MANY, (("a.md", 4),), 4)
        assert listed(rig, line_chars=1).total == 5

    def test_so_it_is_from_the_first_one_of_a_handle(self, rig: FolderRig) -> None:
        put_many(rig, "/d/deep")
        with commit_under_way(rig):
            other = FolderRig(rig.home)
            assert listed(other, line_chars=1).size_bytes == 8 + 5 * MANY
            assert other.read("/a.md") == b"one\n"
            assert not is_open_in_full(other)
            other.close()


class TestAStoreThatIsInOrder:
    def test_is_read_without_lock_and_database(self, rig: FolderRig) -> None:
        rig.reopen()
        assert rig.read("/a.md") == b"one\n"
        assert listed(rig).size_bytes == 8
        with pytest.raises(NotFound):
            rig.read("/none.md")
        assert not is_open_in_full(rig)
        rig.put("/a.md", b"three\n")
        assert is_open_in_full(rig)
        assert rig.read("/a.md") == b"three\n"
        rig.check()

    def test_shows_what_another_process_writes_later(self, rig: FolderRig) -> None:
        other = FolderRig(rig.home)
        assert other.read("/a.md") == b"one\n"
        rig.edit("/a.md", append(b"two\n"))
        rig.put("/d/c.md", b"three\n")
        assert other.read("/a.md") == b"one\ntwo\n"
        assert ("d/c.md", 6) in listed(other).items
        assert not is_open_in_full(other)

    def test_that_was_erased_meanwhile_is_gone(self, rig: FolderRig) -> None:
        other = FolderRig(rig.home)
        assert other.read("/a.md") == b"one\n"
        run_now(rig.backend.erase(rig.store.id, AGENT))
        with pytest.raises(NotFound):
            other.read("/a.md")
        assert listed(other) == (0, (), 0)


class TestAStoreThatHasToBePutInOrderFirst:
    @pytest.fixture
    def closed(self, rig: FolderRig) -> FolderRig:
        rig.close()
        return rig

    def test_after_a_power_cut(self, closed: FolderRig) -> None:
        lock = closed.directory / "lock"
        word = lock.read_bytes()
        lock.write_bytes(word[:8] + bytes(16) + word[24:])
        closed.open()
        assert closed.read("/a.md") == b"one\n"
        assert is_open_in_full(closed)

    def test_without_a_word(self, closed: FolderRig) -> None:
        (closed.directory / "lock").write_bytes(b"x" * WORD_BYTES)
        closed.open()
        assert listed(closed).size_bytes == 8
        assert is_open_in_full(closed)

    def test_in_a_copy(self, closed: FolderRig, tmp_path: Path) -> None:
        shutil.copytree(closed.home, tmp_path / "copy")
        copy = FolderRig(tmp_path / "copy")
        assert copy.read("/a.md") == b"one\n"
        assert is_open_in_full(copy)

    def test_with_other_files_in_the_place_of_its_own(self, closed: FolderRig) -> None:
        closed.memories.rename(closed.directory / "old")
        shutil.copytree(closed.directory / "old", closed.memories)
        (closed.memories / "a.md").write_bytes(b"older\n")
        closed.open()
        assert closed.read("/a.md") == b"older\n"
        assert is_open_in_full(closed)

    def test_without_a_history(self, closed: FolderRig) -> None:
        (closed.directory / "history.db").unlink()
        closed.open()
        assert closed.read("/a.md") == b"one\n"
        assert is_open_in_full(closed)


class TestSizes:
    def test_are_those_of_what_people_left(self, rig: FolderRig) -> None:
        rig.put("/d/e/f/g.md", b"12345")
        (rig.memories / "d/b.md").write_bytes(b"longer than before\n")
        shutil.rmtree(rig.memories / "d/e")
        assert listed(rig) == (23, (("a.md", 4), ("d/", 19), ("d/b.md", 19)), 3)
        assert rig.external() == []  # a listing adopts nothing

    def test_of_a_large_tree_follow_people_with_the_next_change(self, rig: FolderRig) -> None:
        put_many(rig, "/d/e")
        shutil.rmtree(rig.memories / "d/e")
        (rig.memories / "d/e").mkdir()
        for number in range(MANY):
            (rig.memories / f"d/e/{number}.md").write_bytes(b"1")
        assert dict(listed(rig).items)["d/e/"] == 5 * MANY
        assert len(rig.tree()) == 2 + MANY
        assert dict(listed(rig).items)["d/e/"] == MANY

    def test_of_what_the_log_does_not_know_are_counted(self, rig: FolderRig) -> None:
        deep = rig.memories / "d/e/f"
        deep.mkdir(parents=True)
        for number in range(MANY):
            (deep / f"{number}.md").write_bytes(b"12")
        (deep / ".hidden").write_bytes(b"123")
        (deep / "x.md~").write_bytes(b"123")
        assert listed(rig, "/d") == (
            4 + 2 * MANY,
            (("b.md", 4), ("e/", 2 * MANY), ("e/f/", 2 * MANY)),
            3,
        )
        assert listed(rig, "/d/e", 1) == (2 * MANY, (("f/", 2 * MANY),), 1 + MANY)

    def test_without_a_readable_log_are_counted(self, rig: FolderRig) -> None:
        put_many(rig, "/d/.h/e")
        put_many(rig, "/d/e")
        rig.reopen()
        (rig.directory / "history.db").write_bytes(b"damaged")
        found = listed(rig, line_chars=1)
        assert found == (8 + 5 * MANY, (("a.md", 4),), 4)

    def test_that_the_log_has_as_something_else_than_numbers_are_counted(
        self, rig: FolderRig
    ) -> None:
        put_many(rig, "/d/e")
        expected = listed(rig, line_chars=1)
        damage = open_connection(str(rig.directory / "history.db"))
        damage.execute("UPDATE node SET shown = 'x', children = x'ff'")
        damage.close()
        assert listed(rig, line_chars=1) == expected


WRITING = os.O_RDWR | os.O_WRONLY | os.O_CREAT


class Unwritable(Files):
    """A disk that was mounted read-only, once ``is_so``; it ``breaks`` with the first try to write
    if it ``breaks_after_writing``."""

    is_so = breaks = breaks_after_writing = False

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        if self.breaks:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if self.is_so and flags & WRITING:
            self.breaks = self.breaks_after_writing
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return super().open(name, flags, directory)


class TestAFolderThatCannotBeWritten:
    @pytest.fixture
    def files(self) -> Unwritable:
        return Unwritable()

    @pytest.fixture
    def fixed(self, tmp_path: Path, files: Unwritable) -> FolderRig:
        rig = FolderRig(tmp_path, files)
        rig.put("/a.md", b"one\n")
        put_many(rig, "/d/e")
        rig.close()
        files.is_so = True
        rig.open()
        return rig

    def test_is_viewed_and_listed_whatever_state_it_is_in(
        self, fixed: FolderRig, tmp_path: Path
    ) -> None:
        for case in ("in order", "no word", "no lock", "no history"):
            if case == "no word":
                (fixed.directory / "lock").write_bytes(b"")
            elif case == "no lock":
                (fixed.directory / "lock").unlink()
            elif case == "no history":
                (fixed.directory / "history.db").unlink()
            fixed.reopen()
            assert fixed.read("/a.md") == b"one\n"
            assert listed(fixed).items == (("a.md", 4), ("d/", 5 * MANY), ("d/e/", 5 * MANY))
            assert listed(fixed, line_chars=1).total == 3
            with pytest.raises(NotFound):
                fixed.read("/none.md")

    def test_has_nothing_where_its_files_are_gone(self, fixed: FolderRig) -> None:
        shutil.rmtree(fixed.memories)
        fixed.reopen()
        with pytest.raises(NotFound):
            fixed.read("/a.md")

    def test_is_unavailable_while_its_files_cannot_be_opened(
        self, fixed: FolderRig, files: Unwritable
    ) -> None:
        (fixed.directory / "lock").write_bytes(b"")
        fixed.reopen()
        files.breaks_after_writing = True
        with pytest.raises(Unavailable):
            fixed.read("/a.md")
        files.breaks = files.breaks_after_writing = False
        assert fixed.read("/a.md") == b"one\n"

    @pytest.mark.fault("BAD-03")
    def test_refuses_changes_as_read_only(self, fixed: FolderRig) -> None:
        with pytest.raises(ReadOnly) as caught:
            fixed.put("/b.md", b"two\n")
        assert caught.value.path == ROOT
        assert str(fixed.home) not in str(caught.value)
        assert fixed.read("/a.md") == b"one\n"

    def test_forgets_what_views_left_to_be_noted(self, fixed: FolderRig) -> None:
        assert fixed.read("/a.md") == b"one\n"
        for _ in range(2):
            run_now(fixed.store.record(AGENT))
            run_now(fixed.store.touch((p("/a.md"),), 1))
            fixed.clock.at_ns += 10_000_000_000
        run_now(fixed.store.close())

    @pytest.mark.fault("BAD-13")
    def test_is_used_in_full_once_it_can_be(self, fixed: FolderRig, files: Unwritable) -> None:
        (fixed.directory / "lock").write_bytes(b"")
        fixed.reopen()
        assert fixed.read("/a.md") == b"one\n"
        files.is_so = False
        fixed.clock.seconds += LOOK_AGAIN_SECONDS + 1
        assert fixed.read("/a.md") == b"one\n"
        assert is_open_in_full(fixed)
        fixed.put("/a.md", b"two\n")
        fixed.check()

    def test_with_places_that_lag_says_so_instead_of_showing_what_is_wrong(
        self, fixed: FolderRig
    ) -> None:
        lock = fixed.directory / "lock"
        word = bytearray(lock.read_bytes())
        word[32] = 1
        lock.write_bytes(word)
        fixed.reopen()
        for look in (lambda: fixed.read("/a.md"), lambda: listed(fixed)):
            with pytest.raises(Unavailable):
                look()


ON_A_READ_ONLY_MOUNT = """
import sys
sys.path.insert(0, sys.argv[2])
from memoranda import Memory, MemorandaError
with Memory.open(sys.argv[1]) as memory:
    for command in (
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": "/memories/d/b.md"},
        {"command": "create", "path": "/memories/c.md", "file_text": "three"},
    ):
        print(memory.execute(command))
    try:
        memory.write("/memories/c.md", "three")
    except MemorandaError as error:
        print(type(error).__name__, error)
"""

MOUNT_READ_ONLY = (
    'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77\n'
    'exec "$2" -I -c "$3" "$1" "$4"'
)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts of one's own are Linux's")
@pytest.mark.fault("ROW-04", "BAD-03")
def test_a_folder_on_a_read_only_mount_is_shown_to_claude(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with Memory.open(str(folder)) as memory:
        memory.write("/memories/d/b.md", "two\n")
    script = [MOUNT_READ_ONLY, "sh", folder, sys.executable, ON_A_READ_ONLY_MOUNT, SOURCE]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", *map(str, script)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in {1, 77} and "memoranda" not in done.stderr:
        pytest.skip(f"this machine lets nobody mount anything: {done.stderr}")
    assert done.stderr == ""
    header = (
        "Here're the files and directories up to 2 levels deep in /memories, "
        "excluding hidden items and node_modules:\n"
    )
    assert done.stdout.splitlines() == [
        repr(ToolResult(f"{header}4B\t/memories\n4B\t/memories/d/\n4B\t/memories/d/b.md")),
        repr(ToolResult("Here's the content of /memories/d/b.md with line numbers:\n     1\ttwo")),
        repr(ToolResult("Error: /memories is read-only.", True)).replace("ToolResult", "Failure"),
        "ReadOnly /memories is read-only.",
    ]


class TestALink:
    def test_in_the_place_of_the_root_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "memory").symlink_to(tmp_path / "real")
        rig = FolderRig(tmp_path)
        rig.put("/a.md", b"one\n")
        rig.reopen()
        assert rig.read("/a.md") == b"one\n"
        assert (tmp_path / "real/stores").is_dir()

    @pytest.mark.parametrize("place", ["memory/stores", "memory/stores/acme"])
    def test_below_it_is_refused_with_a_reason(self, tmp_path: Path, place: str) -> None:
        (tmp_path / "real").mkdir()
        link = tmp_path / place
        link.parent.mkdir(parents=True)
        link.symlink_to(tmp_path / "real")
        rig = FolderRig(tmp_path)
        for use in (lambda: rig.put("/a.md", b"one\n"), lambda: rig.read("/a.md")):
            with pytest.raises(Unavailable, match="links are not followed") as caught:
                use()
            assert str(tmp_path) not in str(caught.value)
        assert list((tmp_path / "real").iterdir()) == []

    def test_to_nothing_is_said_to_stand_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "memory").symlink_to(tmp_path / "nothing")
        with pytest.raises(Unavailable, match="a link to nothing"):
            FolderRig(tmp_path).put("/a.md", b"one\n")


class Short(Files):
    """A disk that gives few bytes at a time, and none from ``end`` on."""

    def __init__(self, end: int = 10**9) -> None:
        self.end = end

    def read_at(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        return os.pread(descriptor, max(min(n_bytes, 3, self.end - offset), 0), offset)


def test_a_range_is_read_whole_though_the_disk_gives_a_few_bytes_at_a_time(tmp_path: Path) -> None:
    FolderRig(tmp_path).put("/a.md", b"0123456789abcdef")
    descriptor = os.open(tmp_path / "memory/stores/acme/memories/a.md", os.O_RDONLY)
    assert _read_range(Short(), descriptor, 2, 12) == b"23456789ab"
    # Somebody cut the file while it was read.
    assert _read_range(Short(end=7), descriptor, 2, 12) == b"23456"
    os.close(descriptor)


class Unreadable(Files):
    """A disk that can't be read for a while."""

    fails = False

    def open_beneath(self, root: int, path: str, flags: int) -> int:
        if self.fails:
            raise OSError(errno.EIO, "/srv/secret: cannot be read")
        return super().open_beneath(root, path, flags)


def test_a_disk_that_cannot_be_read_is_unavailable_and_no_missing_memory(tmp_path: Path) -> None:
    files = Unreadable()
    rig = FolderRig(tmp_path, files)
    rig.put("/d/a.md", b"one\n")
    files.fails = True
    for ask in (lambda: rig.read("/d/a.md"), lambda: listed(rig, "/d")):
        with pytest.raises(Unavailable) as caught:
            ask()
        assert "secret" not in str(caught.value)
    files.fails = False
    assert rig.read("/d/a.md") == b"one\n"


def test_a_store_that_nobody_made_has_nothing_to_find_or_to_redact(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    assert run_now(rig.store.search("one", ROOT)) == ()
    with pytest.raises(UnknownId):
        run_now(rig.store.redact("memver_1", AGENT))
    with pytest.raises(NotFound):
        listed(rig, "/d")
    assert not rig.directory.exists()


def test_a_directory_that_only_a_person_knows_is_counted_as_once_it_is_adopted(
    rig: FolderRig,
) -> None:
    place = rig.memories / "p"
    for name in (".hidden/a.md", ".hidden/deep/b.md", "s/t/c.md", "s/.h/d.md", "s/.e.md"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"1234567")
    for number in range(MANY):
        (place / f"{number:04}.md").write_bytes(b"12345")
    unknown = [listed(rig, path, 200) for path in ("/p", "/")]
    run_now(rig.store.list(ROOT))
    assert [listed(rig, path, 200) for path in ("/p", "/")] == unknown
    assert unknown[0].size_bytes == MANY * 5 + 7
