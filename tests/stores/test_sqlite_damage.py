"""A damaged file of the SQLite backend: never taken for a new one, never a foreign error, and
``verify`` reports it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Corrupt, MemorandaError, Unavailable
from memoranda.operations.moments import batch_of
from memoranda.stores.base import Context, Move, Remove, Store
from memoranda.stores.log.database import open_connection
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.promises.steps import p, put, read, tree

AGENT = Context(command="test")
PAGE_BYTES = 4096


def opened(path: Path) -> tuple[SqliteBackend, Store]:
    """A backend and its user's store."""
    backend = SqliteBackend(path)
    return backend, run_now(backend.for_user("acme"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed database with one memory."""
    file = tmp_path / "f.db"
    backend, store = opened(file)
    run_now(put(store, "/a.md", b"x"))
    run_now(backend.close())
    return file


def assert_refused(store: Store, error: type[MemorandaError], said: str) -> None:
    """Reads and writes raise it; verify reports what is damage."""
    for work in (tree(store), put(store, "/b.md", b"y"), store.usage()):
        with pytest.raises(error, match=said):
            run_now(work)


# ---------------------------------------------------------------- an emptied file


def test_an_emptied_file_is_damage_and_not_a_new_database(path: Path) -> None:
    os.truncate(path, 0)
    backend, store = opened(path)
    assert_refused(store, Corrupt, "empty though it held something")
    (problem,) = run_now(store.verify()).problems
    assert problem.code == "database"
    assert "copy" in problem.remedy
    run_now(backend.close())
    assert path.stat().st_size == 0


def test_a_file_that_is_emptied_while_it_is_open_acknowledges_nothing_more(path: Path) -> None:
    backend, store = opened(path)
    run_now(put(store, "/a.md", b"xx"))
    os.truncate(path, 0)
    assert_refused(store, Corrupt, "empty though it held something")
    assert not run_now(store.verify()).ok
    run_now(backend.close())


def test_an_emptied_file_that_was_only_read_is_damage(path: Path) -> None:
    (path.parent / "f.db-lock").unlink()
    backend, store = opened(path)
    assert run_now(read(store, "/a.md")) == b"x"
    with backend.database.reading():  # the connection that there is
        os.truncate(path, 0)
        with pytest.raises(Corrupt), backend.database.reading():
            pass
    run_now(backend.close())


def test_an_emptied_file_beside_its_log_is_damage(path: Path) -> None:
    os.truncate(path, 0)
    (path.parent / "f.db-lock").unlink()
    Path(f"{path}-wal").write_bytes(b"left over")
    backend, store = opened(path)
    assert_refused(store, Corrupt, "empty though it held something")
    run_now(backend.close())


def test_a_removed_file_begins_anew_and_an_empty_one_that_was_never_a_database_too(
    path: Path,
) -> None:
    path.unlink()
    for is_there in (False, True):
        if is_there:
            path.touch()
        backend, store = opened(path)
        assert run_now(tree(store)) == {}
        run_now(put(store, "/new.md", b"y"))
        assert run_now(tree(store)) == {"/new.md": b"y"}
        run_now(backend.close())
        for name in ("f.db", "f.db-lock"):
            (path.parent / name).unlink()


def test_a_kill_right_after_the_file_was_made_again_leaves_no_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.unlink()
    backend, store = opened(path)
    with monkeypatch.context() as patch:
        patch.setattr("memoranda.stores.sqlite.connect", killed)
        with pytest.raises(KeyboardInterrupt):
            run_now(put(store, "/a.md", b"x"))
    assert path.stat().st_size == 0
    assert run_now(tree(store)) == {}
    run_now(put(store, "/a.md", b"again"))
    run_now(backend.close())


def killed(*_: object, **__: object) -> None:
    """Stands for a process that ends here."""
    raise KeyboardInterrupt


def test_a_database_whose_mark_is_missing_is_marked_by_its_next_writer(path: Path) -> None:
    (path.parent / "f.db-lock").unlink()
    backend, store = opened(path)
    run_now(put(store, "/b.md", b"y"))
    run_now(backend.close())
    os.truncate(path, 0)
    backend, store = opened(path)
    assert_refused(store, Corrupt, "empty though it held something")
    run_now(backend.close())


def test_a_mark_that_cannot_be_written_leaves_nothing_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path.parent / "f.db-lock").unlink()
    backend, store = opened(path)

    def full(*_: object) -> None:
        raise OSError(28, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(Unavailable):
            run_now(put(store, "/b.md", b"y"))
    assert not Path(f"{path}-wal").exists(), "the connection was closed"
    run_now(put(store, "/b.md", b"y"))
    run_now(backend.close())


def test_a_file_that_is_gone_or_another_is_not_read_as_an_empty_store(path: Path) -> None:
    backend, store = opened(path)
    run_now(put(store, "/b.md", b"y"))
    with backend.database.reading():
        path.rename(path.parent / "elsewhere.db")
        with pytest.raises(Unavailable, match="moved or replaced"):
            run_now(tree(store))
        other, others = opened(path)
        with pytest.raises(Corrupt, match="write-ahead log is there"):
            run_now(tree(others))
        run_now(other.close())
    run_now(backend.close())


# ---------------------------------------------------------------- a log that is lost


@pytest.mark.parametrize("names", [("f.db-wal",), ("f.db-shm",), ("f.db-wal", "f.db-shm")])
def test_a_log_that_is_removed_while_open_costs_nothing_acknowledged(
    path: Path, names: tuple[str, ...]
) -> None:
    backend, store = opened(path)
    run_now(put(store, "/b.md", b"in the log"))
    for name in names:
        (path.parent / name).unlink()
    for _ in range(2):
        with pytest.raises(Unavailable, match="open it anew"):
            run_now(put(store, "/c.md", b"y"))
    # As if killed here: what another process finds is the file alone.
    copied = path.parent / "copy.db"
    copied.write_bytes(path.read_bytes())
    _, others = opened(copied)
    assert run_now(tree(others)) == {"/a.md": b"x", "/b.md": b"in the log"}
    run_now(backend.close())
    backend, store = opened(path)
    run_now(put(store, "/c.md", b"y"))
    assert sorted(run_now(tree(store))) == ["/a.md", "/b.md", "/c.md"]
    assert run_now(store.verify()).ok
    run_now(backend.close())


# ---------------------------------------------------------------- garbage


def garbled(data: bytes, chance: random.Random) -> bytes:
    """A database with some pages overwritten, cleared, sprinkled or replaced by others."""
    damaged = bytearray(data)
    pages = len(data) // PAGE_BYTES
    for _ in range(chance.choice((1, 2, 5, 20))):
        at = chance.randrange(pages) * PAGE_BYTES
        other = chance.randrange(pages) * PAGE_BYTES
        page = bytearray(damaged[at : at + PAGE_BYTES])
        for _ in range(20):
            page[chance.randrange(PAGE_BYTES)] = chance.randrange(256)
        damaged[at : at + PAGE_BYTES] = chance.choice(
            (bytes(page), bytes(PAGE_BYTES), chance.randbytes(PAGE_BYTES),
             data[other : other + PAGE_BYTES])
        )  # fmt: skip
    return bytes(damaged)


@pytest.mark.parametrize("cut", [0.5, 0.9])
@pytest.mark.parametrize("seed", range(12))
def test_garbage_and_cut_pages_are_reported_and_raise_no_foreign_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], seed: int, cut: float
) -> None:
    path = tmp_path / "f.db"
    backend, store = opened(path)
    for number in range(20):
        for letter in b"abc":
            run_now(put(store, f"/d{number % 3}/{number}.md", bytes([letter]) * 900 * number))
    run_now(store.apply([Move(p("/d1"), p("/d9"))], AGENT))
    run_now(store.apply([Remove(p("/d2"))], AGENT))
    (newest, *_) = run_now(store.versions()).versions
    run_now(backend.close())
    data = path.read_bytes()
    if seed % 4 == 3:
        path.write_bytes(data[: int(len(data) * cut)])
    else:
        path.write_bytes(garbled(data, random.Random(f"{seed} {cut}")))
    backend, store = opened(path)
    for work in (
        lambda: run_now(tree(store)),
        lambda: run_now(store.versions(content=True)),
        lambda: run_now(store.search("aa", p("/"))),
        lambda: run_now(store.usage()),
        lambda: run_now(batch_of(store, newest)),
        lambda: run_now(put(store, "/d0/new.md", b"y" * 9000)),
        lambda: run_now(backend.list()),
    ):
        quietly(work)
    assert not run_now(store.verify()).ok
    run_now(backend.close())
    assert capfd.readouterr() == ("", "")


def quietly(work: Callable[[], object]) -> None:
    """Do it; damage is a good answer."""
    try:
        work()
    except (Corrupt, Unavailable):
        pass


def test_a_text_that_is_no_utf8_is_damage(path: Path) -> None:
    db = open_connection(str(path))
    db.execute("UPDATE event SET actor = CAST(x'ff' AS TEXT)")
    db.execute("UPDATE control SET description = CAST(x'ff' AS TEXT)")
    db.close()
    backend, store = opened(path)
    for work in (store.versions(), backend.list(), backend.archive(store.id)):
        with pytest.raises(Corrupt):
            run_now(work)
    assert not run_now(store.verify()).ok
    run_now(backend.close())


def test_a_store_that_damage_hides_is_reported(path: Path) -> None:
    def run(statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        db = open_connection(str(path))
        db.execute("PRAGMA writable_schema = ON")
        rows = db.execute(statement, values).fetchall()
        db.close()
        return rows

    # An index that leads past the row: it was put aside while the row changed.
    run("UPDATE control SET user = 'other'")
    (index,) = run("DELETE FROM sqlite_schema WHERE name = 'control_user' RETURNING *")
    run("UPDATE control SET user = 'acme'")
    run("INSERT INTO sqlite_schema VALUES(?, ?, ?, ?, ?)", index)
    backend, store = opened(path)
    assert run_now(tree(store)) == {}
    assert [problem.code for problem in run_now(store.verify()).problems] == ["database"]
    run_now(backend.close())


def test_a_table_that_is_missing_is_damage(path: Path) -> None:
    db = open_connection(str(path))
    db.execute("DROP TABLE piece")
    db.close()
    backend, store = opened(path)
    with pytest.raises(Corrupt):
        run_now(put(store, "/large.md", bytes(100_000)))
    run_now(backend.close())


def test_a_batch_without_versions_is_damage(path: Path) -> None:
    backend, store = opened(path)
    (version,) = run_now(store.versions()).versions
    with pytest.raises(Corrupt):
        run_now(batch_of(store, version._replace(batch=99)))
    run_now(backend.close())


def test_a_database_that_a_newer_version_takes_over_while_it_is_open_is_not_written(
    path: Path,
) -> None:
    backend, store = opened(path)
    run_now(put(store, "/b.md", b"y"))
    newer = open_connection(str(path))
    newer.execute("PRAGMA user_version = 99")
    for _ in range(2):
        with pytest.raises(Unavailable, match="format 99"):
            run_now(put(store, "/c.md", b"y"))
    newer.execute("PRAGMA user_version = 1")
    run_now(put(store, "/c.md", b"y"))
    newer.close()
    run_now(backend.close())


def test_a_store_whose_rows_are_gone_can_be_erased(path: Path) -> None:
    backend, store = opened(path)
    run_now(store.usage())
    run_now(backend.close())
    db = open_connection(str(path))
    db.execute("DELETE FROM store")
    db.close()
    backend, _ = opened(path)
    (info,) = run_now(backend.list()).stores
    run_now(backend.erase(info.id, AGENT))
    assert run_now(backend.list()).stores == ()
    run_now(backend.close())
