"""Faults of a real machine, not of a stand-in: no descriptors, no room, no permission, no end.

Each one befalls a child process, which is then the only one that has to suffer it.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import MemorandaError, ReadOnly, Unavailable
from memoranda.path import ROOT
from memoranda.stores.log.database import open_connection
from memoranda.testing.promises.steps import append
from tests.crash.small_disk import mount_small_disk
from tests.stores.folder_rig import FolderRig
from tests.stores.fork import in_a_child

NOT_HERE = 77
"""Exit status of a child that could not even bring the fault about."""

NOBODY = 65_534


# ---------------------------------------------------------------- no descriptors


def enough_descriptors() -> int:
    """A limit with room for a store, however many the test runner left open here."""
    return max(int(name) for name in os.listdir("/proc/self/fd")) + 60


def without_descriptors(home: Path, left: int) -> None:
    """A live store in a process that has only so many descriptors left, and then all of them."""
    rig = FolderRig(home)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    rig.reopen()
    assert rig.read("/a.md") == b"one\n"  # open for reading; a writer opens more
    soft = enough_descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
    taken: list[int] = []
    with suppress(OSError):
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    for _ in range(left):
        os.close(taken.pop())
    state = {"/a.md": b"one\n", "/d/b.md": b"two\n"}
    try:
        rig.edit("/a.md", append(b"more\n"))
    except Unavailable:
        pass
    else:
        state["/a.md"] += b"more\n"
    with suppress(Unavailable):
        assert rig.read("/a.md") == state["/a.md"]
    with suppress(Unavailable):
        assert run_now(rig.store.outline(ROOT, 80)).total == 3
    while taken:
        os.close(taken.pop())
    rig.clock.seconds += 10
    assert rig.tree() == state
    rig.edit("/d/b.md", append(b"it goes on\n"))
    state["/d/b.md"] += b"it goes on\n"
    rig.check()
    assert rig.external() == []
    rig.reopen()
    assert rig.tree() == state
    rig.close()


@pytest.mark.fault("BAD-04", "BAD-13")
@pytest.mark.parametrize("left", range(20))
def test_without_descriptors_a_live_store_answers_clearly_and_goes_on(
    tmp_path: Path, left: int
) -> None:
    assert in_a_child(lambda: without_descriptors(tmp_path, left)) == 0


@pytest.mark.fault("BAD-04")
def test_without_any_descriptor_the_answer_says_so(tmp_path: Path) -> None:
    def work() -> None:
        rig = FolderRig(tmp_path)
        rig.put("/a.md", b"one\n")
        enough = enough_descriptors()
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, enough))
        uses: list[Callable[[], object]] = [
            lambda: rig.read("/a.md"),
            lambda: rig.edit("/a.md", append(b"x")),
        ]
        for use in uses:
            with pytest.raises(Unavailable, match="too many files open"):
                use()
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, enough))
        rig.check()
        rig.close()

    assert in_a_child(work) == 0


# ---------------------------------------------------------------- no room


def on_a_full_disk(home: Path, size_bytes: int) -> None:
    """Fill a real disk with memories, free some of it, and go on."""
    try:
        mount_small_disk(home, size_bytes)
    except OSError:
        os._exit(NOT_HERE)
    ballast = home / "ballast"
    ballast.write_bytes(bytes(size_bytes // 2))
    rig = FolderRig(home)
    acknowledged: dict[str, bytes] = {}
    refused: list[str] = []
    for number in range(1000):
        content = os.urandom(5_000)
        try:
            rig.put(f"/{number}.md", content)
        except Unavailable as error:
            refused.append(str(error))
            if len(refused) == 20:
                break
        else:
            acknowledged[f"/{number}.md"] = content
    assert set(refused) == {"The disk is full."}
    assert len(acknowledged) > 10
    assert rig.tree() == acknowledged == rig.on_disk()
    with pytest.raises(Unavailable):
        rig.edit("/0.md", append(bytes(5_000)))
    assert rig.read("/0.md") == acknowledged["/0.md"]
    ballast.unlink()
    rig.clock.seconds += 10
    rig.edit("/0.md", append(b"room again\n"))
    acknowledged["/0.md"] += b"room again\n"
    rig.check()
    assert rig.external() == []
    rig.crash()
    assert rig.tree() == acknowledged
    rig.check()
    rig.close()


@pytest.mark.fault("ROW-04", "BAD-02", "BAD-13")
@pytest.mark.parametrize("mib", [2, 3, 4])
def test_a_real_full_disk_refuses_clearly_and_work_goes_on_when_there_is_room(
    tmp_path: Path, mib: int
) -> None:
    status = in_a_child(lambda: on_a_full_disk(tmp_path, mib * 1024 * 1024))
    if status == NOT_HERE:
        pytest.skip("no file system can be mounted here: a full disk is shown by stand-ins only")
    assert status == 0


# ---------------------------------------------------------------- no permission


@contextmanager
def open_to_all() -> Generator[Path]:
    """A directory that everybody can reach: those of the runner are its user's alone."""
    home = Path(tempfile.mkdtemp(prefix="foreign-"))
    home.chmod(0o755)
    try:
        yield home
    finally:
        shutil.rmtree(home)


def images(home: Path) -> dict[str, tuple[int, int, int]]:
    """What lies there, and what tells that somebody touched it."""
    return {
        str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.stat().st_mode)
        for path in sorted(home.rglob("*"))
    }


def as_somebody_else(home: Path, *, may_read: bool) -> None:
    """Use another user's folder."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    rig = FolderRig(home)
    if may_read:
        assert rig.read("/d/b.md") == b"two\n"
        assert run_now(rig.store.outline(ROOT, 80)).total == 3
    else:
        looks: list[Callable[[], object]] = [lambda: rig.read("/d/b.md"), rig.tree, rig.history]
        for look in looks:
            with pytest.raises(Unavailable, match="permission denied"):
                look()
    changes: list[Callable[[], object]] = [
        lambda: rig.put("/new.md", b"x"),
        lambda: rig.edit("/a.md", append(b"x")),
        lambda: rig.remove("/a.md"),
    ]
    for change in changes:
        with pytest.raises(MemorandaError) as caught:
            change()
        if may_read:
            assert isinstance(caught.value, ReadOnly)
        else:
            assert isinstance(caught.value, (Unavailable, ReadOnly))
        assert str(home) not in str(caught.value)
    rig.close()


@pytest.mark.fault("BAD-10")
@pytest.mark.parametrize("may_read", [True, False])
def test_a_folder_of_somebody_else_is_not_touched_and_the_answer_is_clear(
    *, may_read: bool
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else: another user's folder is not shown here")
    with open_to_all() as home:
        rig = FolderRig(home)
        rig.put("/a.md", b"one\n")
        rig.put("/d/b.md", b"two\n")
        # What the child uses is loaded by now: it may not be able to read the program.
        assert rig.tree() == {"/a.md": b"one\n", "/d/b.md": b"two\n"}
        rig.reopen()
        assert run_now(rig.store.outline(ROOT, 80)).total == 3
        rig.close()
        if may_read:
            for path in home.rglob("*"):
                path.chmod(0o755 if path.is_dir() else 0o644)
        before = images(home)
        assert in_a_child(lambda: as_somebody_else(home, may_read=may_read)) == 0
        assert images(home) == before
        rig.open()
        rig.put("/c.md", b"three\n")
        rig.check()
        rig.close()


# ---------------------------------------------------------------- no end


MOST_LEFT_BYTES = 4 * 1024 * 1024 + 64 * 1024


@pytest.mark.fault("ROW-21")
def test_beside_a_reader_that_does_not_end_writers_go_on_and_the_log_is_cut_after_it(
    tmp_path: Path,
) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"x")
    log = rig.directory / "history.db-wal"
    reader = open_connection(str(rig.directory / "history.db"))
    reader.execute("BEGIN")
    versions = reader.execute("SELECT count(*) FROM event").get
    for number in range(60):
        rig.put("/a.md", os.urandom(200_000) + b"%d" % number)
    assert reader.execute("SELECT count(*) FROM event").get == versions
    assert log.stat().st_size > 2 * MOST_LEFT_BYTES  # nothing can be given up while it reads
    assert rig.read("/a.md").endswith(b"59")
    reader.execute("COMMIT")
    reader.close()
    for number in range(60, 70):
        rig.put("/a.md", os.urandom(200_000) + b"%d" % number)
    assert log.stat().st_size <= MOST_LEFT_BYTES
    rig.check()
    rig.close()
    assert not log.exists()


# ---------------------------------------------------------------- a torn log


@pytest.mark.fault("BAD-06", "ROW-10")
@pytest.mark.parametrize("damage", ["cut", "emptied", "overwritten", "zeroed from the middle"])
def test_a_torn_log_costs_no_text(tmp_path: Path, damage: str) -> None:
    rig = FolderRig(tmp_path / "here")
    rig.put("/a.md", b"one\n")
    rig.reopen()  # so that the file itself holds a part
    for number in range(30):
        rig.edit("/a.md", append(b"%d\n" % number))
        rig.put(f"/d/{number}.md", b"%d\n" % number)
    state = rig.on_disk()
    home = tmp_path / "there"
    shutil.copytree(rig.home, home)
    log = home / "memory/stores/acme/history.db-wal"
    data = log.read_bytes()
    half = len(data) // 2
    log.write_bytes(
        {
            "cut": data[:half],
            "emptied": b"",
            "overwritten": data[:half] + os.urandom(len(data) - half),
            "zeroed from the middle": data[:half] + bytes(len(data) - half),
        }[damage]
    )
    torn = FolderRig(home)
    assert torn.tree() == state
    torn.edit("/a.md", append(b"it goes on\n"))
    torn.check()
    torn.close()
    rig.close()
