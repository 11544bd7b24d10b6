"""The operations on files that the folder store stands on, on a real disk."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memoranda.stores.folder import system_calls
from memoranda.stores.folder.file_port import DIRECTORY, LOOKING, NEW_FILE, READING, Files
from memoranda.stores.log.text import Slice


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


class WithoutOpenat2(Files):
    """What an old kernel or a sandbox leaves."""

    has_openat2 = False


@pytest.fixture
def plain_renames(monkeypatch: pytest.MonkeyPatch) -> Files:
    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "not offered")

    monkeypatch.setattr(system_calls, "renameat2", refuse)
    return Files()


def text_at(files: Files, root: int, path: str) -> bytes:
    descriptor = files.open_beneath(root, path, READING)
    try:
        return files.read(descriptor, 1000)
    finally:
        files.close(descriptor)


@pytest.mark.parametrize("files", [Files(), WithoutOpenat2()], ids=["openat2", "walk"])
def test_a_file_beneath_directories_is_opened(files: Files, root: int, tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.md").write_text("here")
    assert text_at(files, root, "a/b/c.md") == b"here"
    (tmp_path / "top.md").write_text("above")
    assert text_at(files, root, "top.md") == b"above"


@pytest.mark.parametrize("files", [Files(), WithoutOpenat2()], ids=["openat2", "walk"])
@pytest.mark.parametrize("path", ["link/secret.md", "a/leaf.md", "leaf.md", "link"])
def test_a_symlink_is_never_followed(files: Files, root: int, tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "a").mkdir(parents=True)
    (inside / "link").symlink_to(outside)
    (inside / "leaf.md").symlink_to(outside / "secret.md")
    (inside / "a/leaf.md").symlink_to(outside / "secret.md")
    descriptor = os.open(inside, os.O_RDONLY)
    try:
        with pytest.raises(OSError) as caught:
            files.open_beneath(descriptor, path, READING)
    finally:
        os.close(descriptor)
    assert caught.value.errno in {errno.ELOOP, errno.ENOTDIR}


def test_looking_at_a_symlink_gives_the_link_itself(root: int, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/link").symlink_to("/")
    descriptor = Files().open_beneath(root, "a/link", LOOKING)
    try:
        assert stat.S_ISLNK(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_host_that_refuses_openat2_is_walked_from_then_on(
    root: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.md").write_text("here")
    asked: list[str] = []

    def refuse(_: int, path: str, __: int) -> int:
        asked.append(path)
        raise OSError(number, "refused")

    monkeypatch.setattr(system_calls, "openat2", refuse)
    files = Files()
    assert text_at(files, root, "a/b.md") == b"here"
    assert text_at(files, root, "a/b.md") == b"here"
    assert asked == ["a/b.md"]


def test_openat2_tries_again_while_renames_race_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [-1, -1, 77]

    def answer(*_: object) -> int:
        return answers.pop(0)

    monkeypatch.setattr(system_calls, "_syscall", answer)
    monkeypatch.setattr("ctypes.get_errno", lambda: errno.EAGAIN)
    assert system_calls.openat2(3, "a/b", READING) == 77


def test_openat2_gives_up_when_the_race_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:

    def refuse(*_: object) -> int:
        return -1

    monkeypatch.setattr(system_calls, "_syscall", refuse)
    monkeypatch.setattr("ctypes.get_errno", lambda: errno.EAGAIN)
    with pytest.raises(BlockingIOError):
        system_calls.openat2(3, "a/b", READING)


def test_other_failures_of_the_walk_close_what_it_opened(root: int, tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        WithoutOpenat2().open_beneath(root, "a/b/c/d.md", READING)
    with pytest.raises(FileNotFoundError):
        WithoutOpenat2().open_beneath(root, "nothing/d.md", READING)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_what_is_made_is_the_owners_alone_under_any_umask(
    root: int, tmp_path: Path, umask: int
) -> None:
    files = Files()
    before = os.umask(umask)
    try:
        descriptor = files.open("f", NEW_FILE, root)
        files.own(descriptor, files.fstat(descriptor))
        files.close(descriptor)
        files.close(files.make_directory("d", root))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700


def test_slices_are_written_one_after_the_other(root: int, tmp_path: Path) -> None:
    files = Files()
    descriptor = files.open("f", NEW_FILE, root)
    slices: list[bytes | memoryview] = [b"a", memoryview(b"bcd")[1:], b"", *[b"x"] * 2500]
    files.write(descriptor, slices)
    files.close(descriptor)
    assert (tmp_path / "f").read_bytes() == b"acd" + b"x" * 2500


def test_a_write_that_takes_only_a_part_goes_on_with_the_rest(
    root: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files()
    descriptor = files.open("f", NEW_FILE, root)

    def write_three_bytes(descriptor: int, slices: Sequence[Slice]) -> int:
        return os.write(descriptor, b"".join(slices)[:3])

    monkeypatch.setattr(os, "writev", write_three_bytes)
    files.write(descriptor, [b"ab", b"cdefg", b"h"])
    files.close(descriptor)
    assert (tmp_path / "f").read_bytes() == b"abcdefgh"


def test_a_file_keeps_the_time_it_is_given_to_the_nanosecond(root: int) -> None:
    files = Files()
    descriptor = files.open("f", NEW_FILE, root)
    files.set_mtime(descriptor, 1_700_000_000_123_456_789)
    assert files.fstat(descriptor).st_mtime_ns == 1_700_000_000_123_456_789
    files.close(descriptor)


class TestRenames:
    def test_a_move_never_replaces(self, root: int, tmp_path: Path) -> None:
        self.never_replaces(Files(), root, tmp_path)

    def test_a_move_never_replaces_where_the_disk_knows_no_flags(
        self, plain_renames: Files, root: int, tmp_path: Path
    ) -> None:
        self.never_replaces(plain_renames, root, tmp_path)

    def never_replaces(self, files: Files, root: int, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("a")
        (tmp_path / "b").write_text("b")
        with pytest.raises(FileExistsError):
            files.move("a", root, "b", root)
        files.move("a", root, "c", root)
        assert (tmp_path / "b").read_text() == "b"
        assert (tmp_path / "c").read_text() == "a"
        assert not (tmp_path / "a").exists()

    def test_a_directory_moves_but_never_onto_another(self, root: int, tmp_path: Path) -> None:
        self.directory_moves(Files(), root, tmp_path)

    def test_a_directory_moves_where_the_disk_knows_no_flags(
        self, plain_renames: Files, root: int, tmp_path: Path
    ) -> None:
        self.directory_moves(plain_renames, root, tmp_path)

    def directory_moves(self, files: Files, root: int, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d/f").write_text("f")
        (tmp_path / "e").mkdir()
        with pytest.raises(FileExistsError):
            files.move("d", root, "e", root)
        files.move("d", root, "g", root)
        assert (tmp_path / "g/f").read_text() == "f"

    def test_two_files_change_places(self, root: int, tmp_path: Path) -> None:
        self.change_places(Files(), root, tmp_path)

    def test_two_files_change_places_where_the_disk_knows_no_flags(
        self, plain_renames: Files, root: int, tmp_path: Path
    ) -> None:
        self.change_places(plain_renames, root, tmp_path)

    def change_places(self, files: Files, root: int, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("a")
        (tmp_path / "b").write_text("b")
        files.exchange("a", root, "b", root)
        assert (tmp_path / "a").read_text() == "b"
        assert (tmp_path / "b").read_text() == "a"
        assert sorted(os.listdir(tmp_path)) == ["a", "b"]

    def test_what_is_missing_is_told(self, root: int) -> None:
        with pytest.raises(FileNotFoundError):
            Files().move("a", root, "b", root)
        with pytest.raises(FileNotFoundError):
            Files().exchange("a", root, "b", root)

    def test_what_is_missing_is_told_where_the_disk_knows_no_flags(
        self, plain_renames: Files, root: int
    ) -> None:
        with pytest.raises(FileNotFoundError):
            plain_renames.move("a", root, "b", root)


def test_the_lock_of_a_file_is_had_by_one_descriptor_at_a_time(root: int, tmp_path: Path) -> None:
    files = Files()
    first = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    second = os.open(tmp_path / "lock", os.O_RDWR)
    files.lock(first)
    assert not files.try_lock(second)
    files.unlock(first)
    assert files.try_lock(second)
    os.close(first)
    os.close(second)


def test_a_whole_file_system_is_written_to_disk(root: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Files().sync_all(root)
    asked: list[str] = []

    def not_offered(_: int) -> None:
        raise OSError(errno.ENOSYS, "not offered")

    monkeypatch.setattr(system_calls, "syncfs", not_offered)
    monkeypatch.setattr(os, "sync", lambda: asked.append("sync"))
    Files().sync_all(root)
    assert asked == ["sync"]


def test_a_failure_of_writing_all_is_told(root: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(system_calls, "syncfs", broken)
    with pytest.raises(OSError, match="broken"):
        Files().sync_all(root)


def test_the_kind_of_file_system_is_a_number() -> None:
    without_disk = os.open("/proc", os.O_RDONLY)
    try:
        assert Files().filesystem_type(without_disk) == 0x9FA0  # PROC_SUPER_MAGIC
    finally:
        os.close(without_disk)
    with pytest.raises(OSError):
        Files().filesystem_type(-1)


def test_a_disk_of_this_machine_is_not_asked_for_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    status = os.stat_result((0, 0, os.makedev(254, 1), *range(7)))

    def on_disk(_: int) -> os.stat_result:
        return status

    monkeypatch.setattr(os, "fstat", on_disk)
    assert Files().filesystem_type(-1) == 0


def test_a_directory_is_opened_for_looking_only(root: int, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o000)
    descriptor = Files().open("d", DIRECTORY, root)
    os.close(descriptor)


def test_a_function_that_the_c_library_lacks_is_none() -> None:
    assert system_calls._function("no_such_function") is None  # pyright: ignore[reportPrivateUsage]
