"""The SQLite backend, whatever operation fails and wherever it is killed: the old state or the new.

Every operation of SQLite on its files is struck in turn, from the opening of the database to the
end of a command, until a run meets no strike.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from memoranda.drive import run_now
from memoranda.errors import Corrupt, Unavailable
from memoranda.stores.base import Change, Context, Edit, EditFunction, Move, Put, Remove, Version
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.promises.steps import p, tree
from tests.crash.folder_commands import COMMANDS, prepare
from tests.crash.strikes import Plan, StrickenVfs

VFS = "sqlite-faults"
AGENT = Context(command="test")
State = dict[str, bytes]


class SqliteRig:
    """A backend on one file, with the verbs that the commands use."""

    def __init__(self, home: Path, vfs: StrickenVfs | None = None) -> None:
        self.path = home / "stores.db"
        self.vfs = vfs  # SQLite knows it for as long as this does
        self.open()

    def open(self) -> None:
        """A backend that has nothing open yet."""
        self.backend = SqliteBackend(self.path, vfs=None if self.vfs is None else VFS)
        self.store = run_now(self.backend.for_user("acme"))

    def close(self) -> None:
        """Close it."""
        run_now(self.backend.close())

    def reopen(self) -> None:
        """As a new process."""
        self.close()
        self.open()

    def apply(self, *changes: Change) -> tuple[Version, ...]:
        """A batch."""
        return run_now(self.store.apply(changes, AGENT))

    def put(self, path: str, content: bytes) -> object:
        """A Put."""
        return self.apply(Put(p(path), content))

    def edit(self, path: str, edit: EditFunction) -> object:
        """An Edit."""
        return self.apply(Edit(p(path), edit))

    def remove(self, path: str) -> object:
        """A Remove."""
        return self.apply(Remove(p(path)))

    def move(self, source: str, target: str) -> object:
        """A Move."""
        return self.apply(Move(p(source), p(target)))

    def tree(self) -> State:
        """All there is."""
        return run_now(tree(self.store))

    def check(self) -> None:
        """Verify."""
        assert run_now(self.store.verify()).problems == ()


Command = Callable[[SqliteRig], object]
ALL: dict[str, Command] = {
    **cast("dict[str, Command]", COMMANDS),
    "redact": lambda rig: run_now(rig.store.redact(first_version(rig), AGENT)),
}


def first_version(rig: SqliteRig) -> str:
    """The oldest version of /a.md, which is no head."""
    found = run_now(rig.store.versions()).versions
    return min((one for one in found if one.path == p("/a.md")), key=lambda one: one.seq).id


def trial(home: Path, plan: Plan) -> SqliteRig:
    """A prepared store, closed and opened anew, on a disk that can fail."""
    home.mkdir()
    rig = SqliteRig(home, StrickenVfs(VFS, plan))
    prepare(cast("Any", rig))
    rig.reopen()
    return rig


def states(home: Path, command: Command) -> tuple[State, State]:
    """What is there before and after a command where nothing fails."""
    home.mkdir()
    rig = SqliteRig(home)
    prepare(cast("Any", rig))
    old = rig.tree()
    command(rig)
    new = rig.tree()
    rig.close()
    return old, new


# What SQLite meets while it closes a database can be raised nowhere, so apsw only mentions it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("kind", ["once", "lasting"])
def test_a_failing_operation_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, kind: str, name: str
) -> None:
    old, new = states(tmp_path / "undisturbed", ALL[name])
    at = 0
    struck = True
    while struck:
        at += 1
        plan = Plan()
        rig = trial(tmp_path / str(at), plan)
        plan.arm(at, kind)
        try:
            ALL[name](rig)
        except (Unavailable, Corrupt):  # a header that can't be read looks like no database
            expected = [old] if name != "redact" else [old, new]
        else:
            expected = [new]
        struck = plan.struck
        plan.mend()
        state = rig.tree()
        assert state in expected, (at, kind)
        rig.put("/afterwards.md", b"it goes on\n")
        rig.check()
        rig.reopen()
        assert rig.tree() == {**state, "/afterwards.md": b"it goes on\n"}
        rig.check()
        rig.close()
        shutil.rmtree(tmp_path / str(at))
    assert at > 10


@pytest.mark.parametrize("name", ALL)
def test_a_kill_at_any_operation_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, name: str
) -> None:
    old, new = states(tmp_path / "undisturbed", ALL[name])
    at = 0
    killed = True
    while killed:
        at += 1
        plan = Plan()
        rig = trial(tmp_path / str(at), plan)
        rig.close()
        home = tmp_path / str(at)
        acknowledged, killed = in_a_child(lambda: ALL[name](SqliteRig(home, rig.vfs)), plan, at)  # noqa: B023
        rig.open()
        state = rig.tree()
        assert state in ([new] if acknowledged else [old, new]), (at, acknowledged)
        rig.put("/afterwards.md", b"it goes on\n")
        rig.check()
        rig.close()
        shutil.rmtree(tmp_path / str(at))
    assert at > 5  # so many changes of the disk, and more


@pytest.mark.parametrize("kind", ["once", "lasting"])
def test_a_failing_operation_amid_the_making_of_the_database_leaves_none_or_a_whole_one(
    tmp_path: Path, kind: str
) -> None:
    at = 0
    struck = True
    while struck:
        at += 1
        plan = Plan()
        home = tmp_path / str(at)
        rig = SqliteRig(home, StrickenVfs(VFS, plan))
        plan.arm(at, kind)
        try:
            rig.put("/a.md", b"x")
        except (Unavailable, Corrupt):
            expected: State = {}
        else:
            expected = {"/a.md": b"x"}
        struck = plan.struck
        plan.mend()
        assert rig.tree() == expected, (at, kind)
        rig.put("/b.md", b"y")
        rig.reopen()
        assert rig.tree() == {**expected, "/b.md": b"y"}
        rig.check()
        rig.close()
    assert at > 10


def in_a_child(work: Callable[[], object], plan: Plan, at: int) -> tuple[bool, bool]:
    """Run something in a process that is killed at the ``at``-th operation; whether it had been
    acknowledged by then, and whether it was killed in the midst of it."""
    receive, send = os.pipe()
    with warnings.catch_warnings():
        # The test runner's threads are none that hold anything of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            plan.arm(at, "kill")
            work()
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


def _run(*command: str) -> int:
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 5 MB, where one can be had."""
    home = tmp_path / "disk"
    home.mkdir()
    if os.geteuid() != 0 or _run("mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(home)) != 0:
        pytest.skip("no small file system can be mounted here")
    try:
        yield home
    finally:
        _run("umount", "-l", str(home))


@pytest.mark.fault("BAD-02")
def test_a_full_disk_refuses_keeps_what_was_acknowledged_and_goes_on(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(3_000_000))
    rig = SqliteRig(small_disk)
    acknowledged: State = {}
    refused = 0
    for number in range(400):
        content = os.urandom(10_000)
        try:
            rig.put(f"/{number}.md", content)
        except Unavailable:
            refused += 1
            if refused == 20:
                break
        else:
            acknowledged[f"/{number}.md"] = content
    assert refused == 20
    assert rig.tree() == acknowledged
    ballast.unlink()
    rig.put("/last.md", b"room again")
    rig.close()
    rig.open()
    assert rig.tree() == {**acknowledged, "/last.md": b"room again"}
    rig.check()
    rig.close()
