"""Whatever operation fails, and wherever a process is killed: the old state or the new one.

Every operation of the file port and of SQLite is struck in turn, from the opening of the store to
the end of a command, until a run meets no strike.
"""

from __future__ import annotations

import errno
import os
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memoranda.errors import NotFound, Unavailable
from tests.crash.folder_commands import COMMANDS, prepare
from tests.crash.strikes import Plan, StrickenFiles, StrickenVfs
from tests.stores.folder_rig import FolderRig

VFS = "folder-faults"
State = dict[str, bytes]


class Trial:
    """A prepared store whose disk fails as planned."""

    def __init__(self, home: Path, where: str, number: int = errno.EIO) -> None:
        self.plan = Plan()
        files = StrickenFiles(self.plan if where == "files" else Plan(), number)
        self.vfs = StrickenVfs(VFS, self.plan if where == "sqlite" else Plan())
        home.mkdir()
        self.rig = FolderRig(home, files, VFS)
        prepare(self.rig)
        self.old = self.rig.tree()
        self.rig.reopen()


def state_after(home: Path, command: Callable[[FolderRig], object]) -> State:
    """What a command leads to where nothing fails."""
    rig = FolderRig(home)
    prepare(rig)
    command(rig)
    state = rig.tree()
    rig.close()
    return state


# What SQLite meets while it closes a database can be raised nowhere, so apsw only mentions it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", ["once", "lasting"])
@pytest.mark.parametrize("where", ["files", "sqlite"])
@pytest.mark.fault("ROW-04", "BAD-13")
def test_a_failing_operation_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, where: str, kind: str, name: str
) -> None:
    command = COMMANDS[name]
    new = state_after(tmp_path / "undisturbed", command)
    at = 0
    while True:
        at += 1
        trial = Trial(tmp_path / str(at), where, errno.ENOSPC if at % 2 else errno.EIO)
        rig = trial.rig
        trial.plan.arm(at, kind)
        try:
            command(rig)
        except Unavailable:
            expected = trial.old
        else:
            expected = new
        struck = trial.plan.struck
        trial.plan.mend()
        rig.clock.seconds += 10
        assert rig.tree() == expected, (at, where, kind)
        rig.put("/afterwards.md", b"it goes on\n")
        rig.check()
        rig.crash()
        assert rig.tree() == {**expected, "/afterwards.md": b"it goes on\n"}, at
        assert rig.external() == []
        rig.close()
        if not struck:
            break
    assert at > 10


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("where", ["files", "sqlite"])
@pytest.mark.fault("ROW-01", "ROW-02", "BAD-05")
def test_a_kill_at_any_operation_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, where: str, name: str
) -> None:
    command = COMMANDS[name]
    new = state_after(tmp_path / "undisturbed", command)
    at = 0
    while True:
        at += 1
        trial = Trial(tmp_path / str(at), where)
        rig = trial.rig
        acknowledged, was_killed = in_a_child(lambda: command(rig), trial.plan, at)  # noqa: B023
        rig.crash()
        first = seen_by_views(rig, {*trial.old, *new})
        state = rig.tree()
        assert state in ([new] if acknowledged else [trial.old, new]), (at, acknowledged)
        assert first == state, (
            f"views showed what the next turn took back, or did not know it: {at}"
        )
        assert rig.external() == []
        rig.clock.seconds += 10
        rig.put("/afterwards.md", b"it goes on\n")
        rig.check()
        assert rig.external() == []
        rig.close()
        if not was_killed:
            break
    assert at > 5  # so many changes of the disk, and more


def seen_by_views(rig: FolderRig, paths: set[str]) -> State:
    """What reading shows before anybody takes a turn."""
    seen: State = {}
    for path in paths:
        with suppress(NotFound):
            seen[path] = rig.read(path)
    return seen


def in_a_child(command: Callable[[], object], plan: Plan, at: int) -> tuple[bool, bool]:
    """Run a command in a process that is killed at the ``at``-th operation; whether it had been
    acknowledged by then, and whether it was killed in the midst of it."""
    receive, send = os.pipe()
    with warnings.catch_warnings():
        # The test runner's threads are none that hold anything of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            plan.arm(at, "kill")
            command()
            os.write(send, b"done")
        except BaseException:  # noqa: BLE001 - a child must not go on into the runner's code
            os._exit(1)
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(send)
    acknowledged = os.read(receive, 10) == b"done"
    os.close(receive)
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    assert ended in {9, -signal.SIGKILL}, "the command failed by itself"
    return acknowledged, ended == 9
