"""Many at once: threads, processes, forks, editors, and more stores than may be open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Conflict, Misuse, NotFound, Unavailable
from memoranda.stores import forks
from memoranda.stores.base import Context, Edit, Put, VersionFilter
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.clock import CLOCK
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.place import open_places
from memoranda.stores.folder.store import FolderStore
from memoranda.testing.promises.steps import append, p
from memoranda.text.splice import Splice
from tests.stores.folder_rig import AGENT, USER, FolderRig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[FolderRig]:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    yield rig
    rig.close()


def in_a_child(work: Callable[[], object]) -> int:
    """Start a process that does ``work``; its pid. It ends with 0 if nothing was raised."""
    with warnings.catch_warnings():
        # The test runner's threads are none that hold anything of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a child must not go on into the runner's code
            os._exit(1)
        os._exit(0)
    return child


def succeeds(child: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


INSERTS = """
import sys
from memoranda.drive import run_now
from memoranda.stores.base import Context, Edit
from memoranda.stores.folder.backend import FolderBackend
from memoranda.testing.promises.steps import append, p

store = run_now(FolderBackend(sys.argv[1]).for_user("acme"))
for number in range(200):
    line = b"%s-%d\\n" % (sys.argv[2].encode(), number)
    run_now(store.apply([Edit(p("/a.md"), append(line))], Context()))
"""


def test_four_processes_lose_none_of_their_lines(rig: FolderRig) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", INSERTS, str(rig.home / "memory"), str(number)])
        for number in range(4)
    ]
    assert [process.wait() for process in processes] == [0] * 4
    lines = rig.read("/a.md").decode().splitlines()[1:]
    assert sorted(lines) == sorted(f"{a}-{b}" for a in range(4) for b in range(200))
    rig.check()


def test_threads_share_commits_and_lose_none_of_their_lines(rig: FolderRig) -> None:
    def live(number: int) -> None:
        for line in range(50):
            rig.edit("/a.md", append(b"%d-%d\n" % (number, line)))

    threads = [threading.Thread(target=live, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = rig.read("/a.md").decode().splitlines()[1:]
    assert sorted(lines) == sorted(f"{a}-{b}" for a in range(8) for b in range(50))
    rig.check()


class HeldUp(Files):
    """A disk on which a commit's followers gather before it goes on."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.reached = threading.Event()

    def lock(self, descriptor: int) -> None:
        self.reached.set()
        self.gate.wait(10)
        super().lock(descriptor)


def test_commands_that_wait_together_are_done_together(tmp_path: Path) -> None:
    files = HeldUp()
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"")
    files.gate.clear()
    files.reached.clear()
    outcomes: dict[str, object] = {}

    def run(name: str, work: Callable[[], object]) -> None:
        try:
            outcomes[name] = work()
        except Exception as error:  # noqa: BLE001 - what a caller gets is what is looked at
            outcomes[name] = error

    def begin(name: str, work: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=run, args=(name, work))
        thread.start()
        return thread

    def fail(_: bytes) -> Splice:
        raise Conflict("not mine")

    leader = begin("leader", lambda: rig.put("/leader.md", b"x"))
    assert files.reached.wait(10)
    followers = [
        begin("edit", lambda: rig.edit("/a.md", append(b"1"))),
        begin("edit again", lambda: rig.edit("/a.md", append(b"2"))),
        begin("directory", lambda: rig.put("/d/x.md", b"x")),
        begin("in its way", lambda: rig.put("/d", b"x")),
        begin("move", lambda: rig.move("/leader.md", "/moved.md")),
        begin("after", lambda: rig.put("/after.md", b"x")),
        begin("broken", lambda: rig.edit("/a.md", fail)),
    ]
    writer = rig.store._place.writer  # pyright: ignore[reportPrivateUsage]
    assert writer is not None
    while len(writer.group._waiting) < len(followers):  # pyright: ignore[reportPrivateUsage]
        time.sleep(0.001)
    files.gate.set()
    for thread in (leader, *followers):
        thread.join()
    assert sorted(rig.read("/a.md")) == sorted(b"12")
    assert rig.read("/after.md") == b"x"
    assert isinstance(outcomes["broken"], Conflict)
    rig.check()
    rig.close()


class TestAFork:
    def test_leaves_parent_and_child_with_a_store_each(self, rig: FolderRig) -> None:
        child = in_a_child(lambda: rig.edit("/a.md", append(b"child\n")))
        assert succeeds(child)
        rig.edit("/a.md", append(b"parent\n"))
        assert rig.read("/a.md") == b"one\nchild\nparent\n"
        rig.check()

    def test_while_the_parent_writes_leaves_both_whole(self, rig: FolderRig) -> None:
        stop = threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                rig.put("/parent.md", b"%d" % number)
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(5):
                path = f"/child{number}.md"
                assert succeeds(in_a_child(lambda: rig.put(path, b"x")))  # noqa: B023
        finally:
            stop.set()
            thread.join()
        assert len(rig.tree()) == 7
        rig.check()

    def test_amid_work_leaves_the_store_to_the_parent(
        self, rig: FolderRig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(forks, "LONGEST_WAIT_SECONDS", 0.05)
        other = run_now(rig.backend.for_user("other"))
        run_now(other.apply([Put(p("/a.md"), b"x")], Context()))

        def child() -> None:
            signal.alarm(20)  # ends it if it waits
            for again in (rig, FolderRig(rig.home)):
                uses: list[Callable[[], object]] = [
                    lambda: again.read("/a.md"),  # noqa: B023
                    lambda: again.put("/b.md", b"x"),  # noqa: B023
                ]
                for use in uses:
                    with pytest.raises(Misuse, match="forked off amid work"):
                        use()
            run_now(other.apply([Put(p("/b.md"), b"x")], Context()))

        def fork_amid(old: bytes) -> Splice:
            assert succeeds(in_a_child(child))
            return append(b"!")(old)

        rig.edit("/a.md", fork_amid)
        assert rig.read("/a.md") == b"one\n!"
        rig.put("/c.md", b"x")
        assert run_now(other.read(p("/b.md"))).data == b"x"
        rig.check()
        rig.reopen()
        rig.check()


class TestMoreStoresThanMayBeOpen:
    @pytest.fixture(autouse=True)
    def few_descriptors(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("memoranda.stores.folder.place.LEAST_OPEN", 4)
        monkeypatch.setattr(type(open_places), "most", 4)

    def test_are_opened_and_closed_as_they_are_used(self, tmp_path: Path) -> None:
        backend = FolderBackend(tmp_path)
        stores = [run_now(backend.for_user(f"user{number}")) for number in range(20)]
        for round_ in range(3):
            for number, store in enumerate(stores):
                text = b"%d-%d" % (number, round_)
                run_now(store.apply([Put(p("/a.md"), text)], AGENT))
                assert run_now(store.read(p("/a.md"))).data == text
        mine = [store for store in stores if store._place.writer is not None]  # pyright: ignore[reportPrivateUsage]
        assert len(mine) <= 4
        run_now(backend.close())
        assert not any(store._place.writer for store in stores)  # pyright: ignore[reportPrivateUsage]

    def test_may_be_used_by_many_threads(self, tmp_path: Path) -> None:
        backend = FolderBackend(tmp_path)
        stores = [run_now(backend.for_user(f"user{number}")) for number in range(8)]
        for store in stores:
            run_now(store.apply([Put(p("/a.md"), b"")], AGENT))
        failures: list[BaseException] = []

        def live(mine: int) -> None:
            try:
                for number in range(40):
                    store = stores[(mine + number) % len(stores)]
                    run_now(store.apply([Edit(p("/a.md"), append(b"x"))], AGENT))
                    run_now(store.read(p("/a.md")))
                    run_now(store.stat(p("/a.md")))
            except BaseException as failure:  # noqa: BLE001 - shown below
                failures.append(failure)

        threads = [threading.Thread(target=live, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert sum(run_now(store.read(p("/a.md"))).size_bytes for store in stores) == 240
        run_now(backend.close())


def test_a_store_that_nobody_uses_is_closed_when_another_is_opened(rig: FolderRig) -> None:
    rig.clock.seconds += 100
    other = run_now(rig.backend.for_user("other"))
    run_now(other.apply([Put(p("/a.md"), b"x")], AGENT))
    assert rig.store._place.writer is None  # pyright: ignore[reportPrivateUsage]
    assert not (rig.directory / "history.db-wal").exists()
    rig.check()


class OnANetwork(Files):
    """A disk that is shared through a network."""

    def filesystem_type(self, descriptor: int) -> int:
        return 0x6969


@pytest.mark.fault("ROW-18")
def test_on_a_network_disk_one_process_has_a_store_alone(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path, OnANetwork())
    rig.put("/a.md", b"one\n")
    rig.edit("/a.md", append(b"two\n"))
    other = FolderRig(tmp_path, OnANetwork())
    with pytest.raises(Unavailable, match="in use by another process"):
        other.read("/a.md")
    assert not (rig.directory / "history.db-shm").exists()
    rig.check()
    rig.close()
    assert other.read("/a.md") == b"one\ntwo\n"
    other.close()


# ---------------------------------------------------------------- an editor


def in_place(path: Path, content: bytes) -> None:
    """Truncate, then write: most small editors."""
    with path.open("wb", buffering=0) as file:
        file.write(content[: len(content) // 2])
        file.write(content[len(content) // 2 :])


def by_rename(path: Path, content: bytes) -> None:
    """A new file, renamed over the old one: careful editors."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_bytes(content)
    beside.rename(path)


def with_backup(path: Path, content: bytes) -> None:
    """The old file becomes the backup, then a new one is written: vim, emacs."""
    path.rename(path.with_name(f"{path.name}~"))
    path.write_bytes(content)


@pytest.mark.parametrize("save", [in_place, by_rename, with_backup])
def test_beside_an_editor_no_save_and_no_acknowledged_edit_is_lost(
    tmp_path: Path, save: Callable[[Path, bytes], None], request: pytest.FixtureRequest
) -> None:
    seconds = 60.0 if request.config.getoption("--full") else 2.0
    backend = FolderBackend(tmp_path, clock=CLOCK)
    store: FolderStore = run_now(backend.for_user(USER))
    run_now(store.apply([Put(p("/a.md"), b"begin\n")], Context()))
    file = tmp_path / "stores" / USER / "memories/a.md"
    saved: list[bytes] = []
    stop = threading.Event()

    def edit_by_hand() -> None:
        while not stop.is_set():
            line = b"editor %d\n" % len(saved)
            try:
                text = file.read_bytes() + line
            except FileNotFoundError:
                continue  # the agent's exchange is under way on a disk without one
            save(file, text[-20_000:])
            saved.append(line)
            stop.wait(1 / 80)

    editor = threading.Thread(target=edit_by_hand)
    editor.start()
    acknowledged: list[bytes] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        line = b"agent %d\n" % len(acknowledged)
        try:
            run_now(store.apply([Edit(p("/a.md"), append(line))], Context()))
        except (Conflict, NotFound):
            continue  # a slow editor's file may be away for long enough to be believed gone
        acknowledged.append(line)
    stop.set()
    editor.join()
    run_now(store.list(p("/")))  # takes in the last save
    texts = [run_now(store.read(p("/a.md"))).data]
    after: str | None = None
    while True:
        page = run_now(store.versions(VersionFilter(), content=True, after=after, limit=500))
        texts += [version.content for version in page.versions if version.content is not None]
        after = page.after
        if after is None:
            break
    everything = set(b"".join(texts).splitlines(keepends=True))
    assert [line for line in acknowledged if line not in everything] == []
    assert [line for line in saved if line not in everything] == []
    assert len(acknowledged) > 1
    assert run_now(store.verify()).ok
    run_now(backend.close())
