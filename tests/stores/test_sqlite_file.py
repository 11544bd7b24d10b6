"""The file of the SQLite backend: who may read it, what else may lie there, who else uses it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Corrupt, MemorandaError, Misuse, Unavailable, UnknownId
from memoranda.path import MemoryPath
from memoranda.stores import forks, reader_pool, sqlite
from memoranda.stores.base import Context, Edit, Put, Retention, Store
from memoranda.stores.log import database, sql_batch
from memoranda.stores.log.database import open_connection
from memoranda.stores.log.retention import DEFAULT_RETENTION
from memoranda.stores.log.sql_batch import Batch, ChangeJob, Place
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend, SqliteDatabase
from memoranda.stores.turnstile import Turnstile
from memoranda.testing.promises.steps import append, p, put, read, tree
from memoranda.text.splice import Splice
from tests.stores.fork import in_a_child

AGENT = Context(command="test")


def opened(
    path: Path,
    clock: Callable[[], int] = time.time_ns,
    retention: Retention = DEFAULT_RETENTION,
) -> tuple[SqliteBackend, Store]:
    """A backend and its user's store."""
    backend = SqliteBackend(path, clock=clock, retention=retention)
    return backend, run_now(backend.for_user("acme"))


def mode_of(path: Path) -> int:
    """Permissions."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_the_files(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "new" / "deeper" / "f.db"
    before = os.umask(umask)
    try:
        backend, store = opened(path)
        run_now(put(store, "/a.md", b"x"))
        for file in path.parent.iterdir():
            assert mode_of(file) == 0o600, file.name
        assert mode_of(path.parent) == mode_of(path.parent.parent) == 0o700
        run_now(backend.close())
    finally:
        os.umask(before)


def test_reading_makes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    backend, store = opened(path)
    assert run_now(tree(store)) == {}
    assert run_now(backend.find_user("acme")) is None
    assert list(tmp_path.iterdir()) == []
    path.touch()
    assert run_now(tree(store)) == {}
    assert path.stat().st_size == 0
    run_now(put(store, "/a.md", b"x"))
    assert run_now(tree(store)) == {"/a.md": b"x"}
    run_now(backend.close())


def test_a_database_that_was_only_begun_is_made_whole(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    database.connect(str(path)).close()
    backend, store = opened(path)
    assert run_now(tree(store)) == {}
    run_now(put(store, "/a.md", b"x"))
    run_now(backend.close())


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    db = open_connection(str(path))
    db.execute("CREATE TABLE theirs(x)")
    db.close()
    text = tmp_path / "text.db"
    text.write_bytes(b"this is no database, and is longer than a header has to be" * 20)
    for other in (path, text):
        before = other.read_bytes()
        backend, store = opened(other)
        with pytest.raises(Corrupt):
            run_now(tree(store))
        with pytest.raises(Corrupt):
            run_now(put(store, "/a.md", b"x"))
        run_now(backend.close())
        assert other.read_bytes() == before


def test_a_format_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    backend, store = opened(path)
    run_now(put(store, "/a.md", b"x"))
    run_now(backend.close())
    db = open_connection(str(path))
    db.execute("PRAGMA user_version = 99")
    db.close()
    backend, store = opened(path)
    for work in (tree(store), put(store, "/b.md", b"x")):
        with pytest.raises(Unavailable, match="format 99"):
            run_now(work)
    run_now(backend.close())


def test_a_log_without_its_database_is_not_played_into_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    Path(f"{path}-wal").write_bytes(b"left over")
    backend, store = opened(path)
    with pytest.raises(Corrupt):
        run_now(put(store, "/a.md", b"x"))
    assert not path.exists()
    run_now(backend.close())


@pytest.mark.parametrize("where", ["file/f.db", "directory"])
def test_a_place_that_can_hold_no_file_is_unavailable(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "directory").mkdir()
    backend, store = opened(tmp_path / where)
    for work in (tree(store), put(store, "/a.md", b"x")):
        with pytest.raises(Unavailable):
            run_now(work)
    run_now(backend.close())


def test_a_file_that_was_replaced_while_it_was_open_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    backend, store = opened(path)
    run_now(put(store, "/a.md", b"x"))
    path.rename(tmp_path / "moved.db")
    with pytest.raises(Unavailable, match="moved or replaced"):
        run_now(put(store, "/b.md", b"x"))
    path.touch()
    with pytest.raises(Unavailable, match="moved or replaced"):
        run_now(put(store, "/b.md", b"x"))
    (tmp_path / "moved.db").rename(path)
    run_now(put(store, "/b.md", b"x"))
    assert sorted(run_now(tree(store))) == ["/a.md", "/b.md"]
    run_now(backend.close())


def test_a_file_that_vanishes_while_it_is_opened_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.db"
    backend, store = opened(path)
    enter = Turnstile.enter

    def vanish(self: Turnstile) -> None:
        enter(self)
        path.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(Turnstile, "enter", vanish)
        with pytest.raises(Unavailable):
            run_now(put(store, "/a.md", b"x"))
    run_now(put(store, "/a.md", b"x"))
    run_now(backend.close())


def test_a_lock_file_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "f.db-lock").mkdir()
    backend, store = opened(tmp_path / "f.db")
    with pytest.raises(Unavailable):
        run_now(put(store, "/a.md", b"x"))
    run_now(backend.close())


def test_who_makes_the_file_first_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.db"
    exists = os.path.exists

    def exists_not_yet(where: str) -> bool:
        path.touch(0o600)
        return where != str(path) and exists(where)

    backend, store = opened(path)
    with monkeypatch.context() as patch:
        patch.setattr(os.path, "exists", exists_not_yet)
        run_now(put(store, "/a.md", b"x"))
    assert run_now(tree(store)) == {"/a.md": b"x"}
    run_now(backend.close())


def test_a_writer_that_keeps_the_database_is_waited_for_and_then_it_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    path = tmp_path / "f.db"
    backend, store = opened(path)
    run_now(put(store, "/a.md", b"x"))
    stranger = open_connection(str(path))
    stranger.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="in use"):
        run_now(put(store, "/a.md", b"y"))
    assert run_now(read(store, "/a.md")) == b"x"
    stranger.execute("ROLLBACK")
    run_now(put(store, "/a.md", b"y"))
    stranger.close()
    run_now(backend.close())


def test_what_a_reader_still_sees_cannot_be_wiped_from_the_log_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    path = tmp_path / "f.db"
    backend, store = opened(path)
    (made,) = run_now(put(store, "/a.md", b"secret-7x"))
    run_now(put(store, "/a.md", b"clean"))
    stranger = open_connection(str(path))
    stranger.execute("BEGIN")
    stranger.execute("SELECT * FROM node").fetchone()
    with pytest.raises(Unavailable, match="still reads"):
        run_now(store.redact(made.id, AGENT))
    assert run_now(store.version(made.id)).redacted_at_ns is not None
    stranger.execute("COMMIT")
    stranger.close()
    run_now(store.redact(made.id, AGENT))
    assert not any(b"secret-7x" in file.read_bytes() for file in tmp_path.iterdir())
    run_now(backend.close())


def test_more_readers_than_are_kept_are_served(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a.md", b"x"))
    count = reader_pool.MOST_IDLE + 3
    together = threading.Barrier(count)
    seen: list[bytes] = []

    def work() -> None:
        with backend.database.reading():
            together.wait(30)
        seen.append(run_now(read(store, "/a.md")))

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [b"x"] * count
    run_now(backend.close())


def test_a_child_of_a_fork_opens_everything_anew_and_harms_nothing_of_the_parents(
    tmp_path: Path,
) -> None:
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a.md", b""))

    def work() -> None:
        for _ in range(20):
            run_now(store.apply([Edit(p("/a.md"), append(b"c"))], AGENT))

    entered, leave = threading.Event(), threading.Event()

    def hold(old: bytes) -> Splice:
        entered.set()
        assert leave.wait(30)
        return append(b"h")(old)

    holder = threading.Thread(target=lambda: run_now(store.apply([Edit(p("/a.md"), hold)], AGENT)))
    holder.start()
    assert entered.wait(30)
    # The child must not wait for the thread that holds everything here and is not there.
    threading.Timer(0.05, leave.set).start()
    assert in_a_child(work) == 0
    holder.join()
    run_now(store.apply([Edit(p("/a.md"), append(b"p"))], AGENT))
    assert sorted(run_now(read(store, "/a.md"))) == sorted(b"c" * 20 + b"hp")
    assert run_now(store.verify()).ok
    run_now(backend.close())


def test_a_child_keeps_what_it_wrote_when_the_parent_closes(tmp_path: Path) -> None:
    """SQLite's locks are the process's: a child that keeps the parent's connections loses this."""
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a.md", b"x"))
    run_now(read(store, "/a.md"))
    begun, go_on = os.pipe(), os.pipe()

    def work() -> None:
        assert run_now(read(store, "/a.md")) == b"x"
        os.write(begun[1], b"x")
        os.read(go_on[0], 1)
        run_now(put(store, "/child.md", b"y"))

    results: list[int] = []
    child = threading.Thread(target=lambda: results.append(in_a_child(work)))
    child.start()
    os.read(begun[0], 1)
    run_now(put(store, "/parent.md", b"z"))
    run_now(backend.close())
    os.write(go_on[1], b"x")
    child.join()
    for end in (*begun, *go_on):
        os.close(end)
    assert results == [0]
    backend, store = opened(tmp_path / "f.db")
    assert sorted(run_now(tree(store))) == ["/a.md", "/child.md", "/parent.md"]
    assert run_now(store.verify()).ok
    run_now(backend.close())


def test_a_child_of_a_fork_amid_work_may_not_use_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "LONGEST_WAIT_SECONDS", 0.05)
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a.md", b"x"))
    (tmp_path / "g.db").symlink_to(tmp_path / "f.db")

    def work() -> None:
        for path in ("f.db", "g.db"):
            _, again = opened(tmp_path / path)
            for attempt in (read(again, "/a.md"), put(again, "/b.md", b"x")):
                with pytest.raises(Misuse, match="forked off"):
                    run_now(attempt)
        _, other = opened(tmp_path / "other.db")
        assert_writes(other)

    def fork_amid(old: bytes) -> Splice:
        assert in_a_child(work) == 0
        return append(b"!")(old)

    run_now(store.apply([Edit(p("/a.md"), fork_amid)], AGENT))
    with backend.database.reading():
        assert in_a_child(work) == 0
    assert run_now(read(store, "/a.md")) == b"x!"
    run_now(put(store, "/b.md", b"y"))
    run_now(backend.close())


def test_a_backend_that_was_never_used_survives_a_fork(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    assert in_a_child(lambda: assert_writes(store)) == 0
    assert run_now(tree(store)) == {"/a.md": b"x"}
    run_now(backend.close())


def assert_writes(store: Store) -> None:
    """One write, read again."""
    run_now(put(store, "/a.md", b"x"))
    assert run_now(tree(store)) == {"/a.md": b"x"}


PROCESS = """
import sys
from memoranda.drive import run_now
from memoranda.path import MemoryPath
from memoranda.stores.base import Context, Edit
from memoranda.stores.sqlite import SqliteBackend, SqliteDatabase
from memoranda.stores.turnstile import Turnstile
from memoranda.text.splice import Splice

path, name, times = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
backend = SqliteBackend(path)
store = run_now(backend.for_user("acme"))
line = lambda old: Splice(len(old), len(old), name + b"\\n")
sys.stdin.readline()
for _ in range(times):
    run_now(store.apply([Edit(MemoryPath.of(("a.md",)), line)], Context()))
run_now(backend.close())
"""


def test_processes_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    backend, store = opened(path)
    run_now(put(store, "/a.md", b""))
    source = str(Path(sqlite.__file__).parents[2])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(path), f"p{number}", "60"],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": source},
        )
        for number in range(3)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    for _ in range(60):
        run_now(store.apply([Edit(p("/a.md"), append(b"here\n"))], AGENT))
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    lines = run_now(read(store, "/a.md")).split()
    assert {name: lines.count(name) for name in set(lines)} == {
        b"p0": 60, b"p1": 60, b"p2": 60, b"here": 60,
    }  # fmt: skip
    assert run_now(store.verify()).ok
    run_now(backend.close())


def test_a_store_that_another_process_erased_is_unknown_and_its_user_can_begin_anew(
    tmp_path: Path,
) -> None:
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a.md", b"x"))
    run_now(store.record(AGENT))
    other, _ = opened(tmp_path / "f.db")
    run_now(other.erase(store.id, AGENT))
    for work in (tree(store), put(store, "/b.md", b"y"), store.redact("memver_0", AGENT)):
        with pytest.raises(UnknownId):
            run_now(work)
    again = run_now(backend.for_user("acme"))
    run_now(put(again, "/c.md", b"z"))
    assert run_now(tree(again)) == {"/c.md": b"z"}
    assert again.id != store.id
    run_now(other.close())
    run_now(backend.close())


def test_numbers_of_stores_are_not_used_again_and_end_some_day(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a.md", b"x"))
    run_now(backend.erase(store.id, AGENT))
    other = run_now(backend.create("other"))
    db = open_connection(str(tmp_path / "f.db"))
    assert db.execute("SELECT number FROM store WHERE id = ?", (other.id,)).get == 2
    db.execute("UPDATE meta SET v = ? WHERE k = 'stores'", (sql_batch.MOST_STORES,))
    db.close()
    with pytest.raises(Unavailable):
        run_now(backend.create("one too many"))
    run_now(backend.close())


def test_a_refused_first_change_makes_no_store(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    with pytest.raises(MemorandaError):
        run_now(store.apply([Edit(p("/none"), append(b""))], AGENT))
    assert run_now(backend.find_user("acme")) is None
    run_now(store.apply([], AGENT))
    run_now(store.record(AGENT))
    run_now(store.close())
    assert run_now(backend.find_user("acme")) is None
    others = [run_now(backend.for_user(f"user{number}")) for number in range(2)]
    run_now(put(others[0], "/a", b"x"))
    assert [info.user for info in run_now(backend.list()).stores] == ["user0"]
    run_now(backend.close())


def test_a_refused_first_change_makes_no_store_beside_one_that_succeeds(tmp_path: Path) -> None:
    backend, good = opened(tmp_path / "f.db")
    database = SqliteDatabase(str(tmp_path / "f.db"))
    jobs = [
        ChangeJob(Place(f"memstore_{user}", "default", user), [change], AGENT)
        for user, change in (
            ("other", Edit(p("/none"), append(b""))),
            ("acme", Put(p("/a"), b"x")),
            ("acme2", Put(p("/"), b"x")),
        )
    ]
    batch = Batch(jobs, 10**18, DEFAULT_RETENTION)
    transaction = database.writing()
    with transaction as db:
        batch.run(db)
    batch.settle(is_done=transaction.is_done)
    database.close()
    assert [type(job.error).__name__ for job in jobs] == ["NotFound", "NoneType", "RootRefused"]
    assert [info.user for info in run_now(backend.list()).stores] == ["acme"]
    assert run_now(tree(good)) == {"/a": b"x"}
    run_now(backend.close())


def test_an_error_of_an_edit_is_its_callers_alone(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a", b"x"))

    def fail(old: bytes) -> Splice:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_now(store.apply([Edit(p("/a"), fail)], AGENT))
    run_now(put(store, "/a", b"y"))
    run_now(backend.close())


def test_records_are_written_with_the_next_change_after_a_second_or_at_the_end(
    tmp_path: Path,
) -> None:
    now = [10**18]
    backend, store = opened(tmp_path / "f.db", clock=lambda: now[0])
    db = open_connection(str(tmp_path / "f.db"))

    def written() -> object:
        return db.execute("SELECT count(*) FROM event WHERE node IS NULL").get

    run_now(put(store, "/a", b"x"))
    run_now(store.record(AGENT))
    assert written() == 0
    run_now(put(store, "/a", b"y"))
    assert written() == 1
    run_now(store.record(AGENT))
    now[0] += 10**9
    run_now(read(store, "/a"))
    assert written() == 2
    run_now(store.record(AGENT))
    run_now(store.touch([p("/a")], now[0]))
    run_now(store.close())
    assert written() == 3
    again = run_now(backend.for_user("acme"))
    run_now(again.record(AGENT))
    run_now(backend.close())
    assert written() == 4
    assert db.execute("SELECT used FROM node WHERE name = 'a'").get == now[0]
    db.close()


def test_records_that_could_not_be_written_wait_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 10)
    path = tmp_path / "f.db"
    backend, store = opened(path)
    run_now(put(store, "/a", b"x"))
    run_now(store.record(AGENT))
    stranger = open_connection(str(path))
    stranger.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable):
        run_now(put(store, "/a", b"y"))
    stranger.execute("ROLLBACK")
    run_now(put(store, "/a", b"y"))
    assert stranger.execute("SELECT count(*) FROM event WHERE node IS NULL").get == 1
    stranger.close()
    run_now(backend.close())


def test_a_closed_backend_refuses_everything(tmp_path: Path) -> None:
    for backend in (SqliteBackend(tmp_path / "f.db"), RamBackend()):
        run_now(backend.close())
        for work in (
            backend.for_user("acme"),
            backend.find_user("acme"),
            backend.create("x"),
            backend.list(),
        ):
            with pytest.raises(Misuse):
                run_now(work)


def test_history_goes_as_the_backend_was_told(tmp_path: Path) -> None:
    now = [10**18]
    backend, store = opened(
        tmp_path / "f.db",
        clock=lambda: now[0],
        retention=Retention(keep_days=1, keep_newest=2),
    )
    for number in range(200):
        now[0] += 3600 * 10**9
        run_now(put(store, "/a", bytes([number]) * 3))
    assert len(run_now(store.versions(limit=1000)).versions) <= 27
    assert run_now(store.verify()).ok
    run_now(backend.close())


def test_ids_of_a_store_that_is_not_made_yet_are_those_it_will_have(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    promised = store.id
    assert run_now(backend.for_user("acme")).id == promised
    run_now(put(store, "/a", b"x"))
    assert store.id == promised
    run_now(store.close())
    assert store.id == promised
    run_now(backend.close())
    assert store.id == promised


def test_a_relative_file_stays_where_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    backend, store = opened(Path("f.db"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run_now(store.apply([Put(MemoryPath.of(("a",)), b"x")], AGENT))
    assert (tmp_path / "f.db").exists()
    run_now(backend.close())


def test_two_ways_to_one_store_in_one_batch_are_one_turn(tmp_path: Path) -> None:
    backend, store = opened(tmp_path / "f.db")
    run_now(put(store, "/a", b"x"))
    database = SqliteDatabase(str(tmp_path / "f.db"))
    places = [Place("memstore_x", "default", "acme"), Place(store.id, "default", None)]
    for place in places:
        place.records.note(AGENT, 1)
    jobs = [ChangeJob(place, [Edit(p("/a"), append(b"!"))], AGENT) for place in places]
    batch = Batch(jobs, 10**18, DEFAULT_RETENTION)
    transaction = database.writing()
    with transaction as db:
        batch.run(db)
    batch.settle(is_done=transaction.is_done)
    database.close()
    assert [job.error for job in jobs] == [None, None]
    assert {place.id for place in places} == {store.id}
    assert run_now(read(store, "/a")) == b"x!!"
    assert run_now(store.verify()).ok
    run_now(backend.close())
