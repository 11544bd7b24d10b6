"""Faults while a store is being put in order: what recovery did so far can be done again.

A store is left in need of recovery, then every operation of the file port and of SQLite is struck
in turn while it is opened. Afterwards it opens as if nothing had been.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.errors import MemorandaError, Unavailable
from memoranda.stores.log.database import open_connection
from tests.crash.folder_commands import COMMANDS, prepare
from tests.crash.strikes import Plan, StrickenFiles, StrickenVfs
from tests.crash.test_folder_faults import in_a_child
from tests.stores.folder_rig import FolderRig

VFS = "folder-recovery-faults"


def killed(rig: FolderRig, plan: Plan, boot: Callable[[], None]) -> None:
    """A process died right after its commit: the whole batch has to be redone."""
    rig.close()
    rig.open()

    class Dying(StrickenFiles):
        def exchange(
            self, ours: str, our_directory: int, theirs: str, their_directory: int
        ) -> None:
            os._exit(9)

    rig.tree()
    rig.backend._files = Dying(Plan())  # pyright: ignore[reportPrivateUsage]
    rig.close()
    rig.files, before = Dying(Plan()), rig.files
    rig.open()
    acknowledged, was_killed = in_a_child(lambda: COMMANDS["batch"](rig), Plan(), 0)
    assert was_killed
    assert not acknowledged
    rig.files = before


def lost_power(rig: FolderRig, plan: Plan, boot: Callable[[], None]) -> None:
    """The machine went down with files that were not on the disk yet."""
    COMMANDS["batch"](rig)
    os.truncate(rig.memories / "a.md", 3)
    (rig.memories / "new.md").unlink()
    (rig.memories / "moved").rename(rig.memories / "d")
    boot()


def copied(rig: FolderRig, plan: Plan, boot: Callable[[], None]) -> None:
    """The tree comes from an older copy than the database."""
    COMMANDS["batch"](rig)
    rig.close()
    (rig.memories / "a.md").write_bytes(b"one\n")
    (rig.memories / "new.md").unlink()
    database = rig.directory / "history.db"
    (rig.directory / "copy").write_bytes(database.read_bytes())
    (rig.directory / "copy").replace(database)


def damaged(rig: FolderRig, plan: Plan, boot: Callable[[], None]) -> None:
    """The database can't be used, but its history is whole."""
    COMMANDS["batch"](rig)
    rig.close()
    db = open_connection(str(rig.directory / "history.db"))
    db.execute("DELETE FROM meta WHERE k = 'folder.host'")
    db.close()


def missing(rig: FolderRig, plan: Plan, boot: Callable[[], None]) -> None:
    """There is no database."""
    COMMANDS["batch"](rig)
    rig.close()
    (rig.directory / "history.db").unlink()


@pytest.fixture
def boot(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Starts the machine again."""

    def start() -> None:
        number = os.urandom(16)
        for module in ("opening", "open_tree"):
            monkeypatch.setattr(f"memoranda.stores.folder.{module}.boot_id", lambda: number)

    return start


# What SQLite meets while it closes a database can be raised nowhere, so apsw only mentions it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("state", [killed, lost_power, copied, damaged, missing])
@pytest.mark.parametrize("kind", ["once", "lasting", "kill"])
@pytest.mark.parametrize("where", ["files", "sqlite"])
def test_recovery_that_was_struck_is_done_again(
    tmp_path: Path,
    where: str,
    kind: str,
    state: Callable[[FolderRig, Plan, Callable[[], None]], None],
    boot: Callable[[], None],
    request: pytest.FixtureRequest,
) -> None:
    undisturbed = FolderRig(tmp_path / "undisturbed")
    prepare(undisturbed)
    COMMANDS["batch"](undisturbed)
    expected = undisturbed.tree()
    undisturbed.close()
    stride = 1 if request.config.getoption("--full") else 23
    at = 1
    while True:
        plan = Plan()
        home = tmp_path / str(at)
        home.mkdir()
        files = StrickenFiles(
            plan if where == "files" else Plan(), errno.ENOSPC if at % 2 else errno.EIO
        )
        vfs = StrickenVfs(VFS, plan if where == "sqlite" else Plan())
        rig = FolderRig(home, files, VFS)
        prepare(rig)
        state(rig, plan, boot)
        rig.crash()
        if kind == "kill":
            _, struck = in_a_child(rig.tree, plan, at)
            rig.crash()
        else:
            plan.arm(at, kind)
            try:
                rig.tree()
            except Unavailable:
                pass
            struck = plan.struck
            plan.mend()
        rig.clock.seconds += 10
        assert rig.tree() == expected, at
        rig.clock.seconds += 10
        rig.put("/afterwards.md", b"it goes on\n")
        rig.check()
        if state is not missing:
            assert rig.external() == [], at
        rig.close()
        del vfs
        if not struck:
            break
        at += stride
    assert at > 10


def test_errors_of_a_struck_opening_are_ours(tmp_path: Path) -> None:
    plan = Plan()
    rig = FolderRig(tmp_path, StrickenFiles(plan))
    prepare(rig)
    rig.crash()
    plan.arm(1, "lasting")
    with pytest.raises(MemorandaError):
        rig.tree()
    plan.mend()
    rig.check()
    rig.close()
