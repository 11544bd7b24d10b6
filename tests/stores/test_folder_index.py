"""What a folder's backend knows of its stores stays true while others make and list stores."""

from __future__ import annotations

import errno
import gc
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import MemorandaError, Unavailable, UnknownId
from memoranda.stores import control
from memoranda.stores.base import Backend, StoreInfo
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.file_port import Files
from memoranda.stores.log.connection import Connection
from tests.stores.folder_rig import AGENT, USER, FolderRig

DAY_NS = 86_400 * 1_000_000_000


class Watched(Files):
    """Files with somebody who acts, once, right after names were listed or a name was looked at."""

    then: Callable[[], object] | None = None
    after_stat: Callable[[], object] | None = None

    def names(self, directory: int) -> list[str]:
        found = super().names(directory)
        then, self.then = self.then, None
        if then is not None:
            then()
        return found

    def stat(self, name: str, directory: int) -> os.stat_result:
        found = super().stat(name, directory)
        then, self.after_stat = self.after_stat, None
        if then is not None:
            then()
        return found


def test_a_store_that_is_made_while_stores_are_listed_keeps_its_particulars(
    tmp_path: Path,
) -> None:
    files = Watched()
    lists, makes = FolderBackend(tmp_path, files=files), FolderBackend(tmp_path)
    run_now(makes.create("first"))
    run_now(lists.list())
    made: list[StoreInfo] = []
    files.then = lambda: made.append(
        run_now(makes.create("second", description="kept", metadata={"a": "b"}))
    )
    run_now(lists.list())
    assert run_now(makes.info(made[0].id)) == made[0]


def test_a_store_that_is_listed_while_it_is_made_keeps_its_particulars(tmp_path: Path) -> None:
    lists = FolderBackend(tmp_path)
    makes: Any = FolderBackend(tmp_path)
    index = makes._index
    writing = index.writing

    @contextmanager
    def listed_first(*, durable: bool) -> Generator[Connection]:
        index.writing = writing
        run_now(lists.list())
        with writing(durable=durable) as db:
            yield db

    index.writing = listed_first
    made = run_now(makes.create("new", description="kept"))
    assert run_now(lists.info(made.id)) == made


@pytest.mark.parametrize("in_the_way", ["", "stores", "control.db"])
def test_what_lies_in_the_way_is_unavailable_and_not_named(tmp_path: Path, in_the_way: str) -> None:
    root = tmp_path / "memory"
    if in_the_way == "control.db":
        (root / "stores").mkdir(parents=True)
        (root / in_the_way).mkdir()
    elif in_the_way:
        root.mkdir()
        (root / in_the_way).write_bytes(b"")
    else:
        root.write_bytes(b"")
    backend = FolderBackend(root)
    for ask in (_list, _create):
        with pytest.raises(Unavailable) as caught:
            ask(backend)
        assert str(tmp_path) not in str(caught.value)


def _list(backend: Backend) -> None:
    run_now(backend.list())


def _create(backend: Backend) -> None:
    run_now(backend.create("new"))


def test_a_closed_backend_holds_nothing_open(tmp_path: Path) -> None:
    gc.collect()  # what other tests left
    before = len(os.listdir("/proc/self/fd"))
    backend = FolderBackend(tmp_path)
    run_now(backend.create("new"))
    run_now(backend.close())
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_somebody_removed_begins_anew(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one")
    shutil.rmtree(tmp_path / "memory")
    rig.put("/b.md", b"two")
    assert rig.on_disk() == {"/b.md": b"two"}


def test_a_store_whose_directory_somebody_removed_is_listed_no_more(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one")
    kept = run_now(rig.backend.create("kept"))
    assert len(run_now(rig.backend.list()).stores) == 2
    shutil.rmtree(rig.directory)
    assert run_now(rig.backend.list()).stores == (kept,)
    assert run_now(rig.backend.find_user(USER)) is None


def test_a_store_that_is_removed_while_it_is_archived_is_unknown(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path, watched := Watched())
    rig.put("/a.md", b"one")
    info = run_now(rig.backend.find_user(USER))
    assert info is not None
    watched.after_stat = lambda: shutil.rmtree(rig.directory)
    with pytest.raises(UnknownId):
        run_now(rig.backend.archive(info.id))
    assert run_now(rig.backend.list()).stores == ()


def test_what_is_no_store_is_not_listed(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one")
    (rig.directory.parent / "no store=").mkdir()
    (rig.directory.parent / "empty").mkdir()
    (rig.directory.parent / "a file").write_bytes(b"")
    assert [each.user for each in run_now(rig.backend.list()).stores] == [USER]


class Failing(Files):
    """A disk that can't be read while ``fails``."""

    fails = False

    def _look(self) -> None:
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def names(self, directory: int) -> list[str]:
        self._look()
        return super().names(directory)

    def stat(self, name: str, directory: int) -> os.stat_result:
        self._look()
        return super().stat(name, directory)


def test_a_disk_that_cannot_be_read_is_not_taken_for_one_without_stores(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path, files := Failing())
    rig.put("/a.md", b"one")
    files.fails = True
    for ask in (rig.backend.list, lambda: rig.backend.find_user(USER)):
        with pytest.raises(Unavailable):
            run_now(ask())
    files.fails = False
    assert len(run_now(rig.backend.list()).stores) == 1


def test_old_history_goes_though_nobody_says_how_much_is_to_stay(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    assert AGENT.retention is None
    for number in range(30):
        rig.clock.at_ns += 20 * DAY_NS
        rig.clock.seconds += 100  # only what is on disk for certain may go
        rig.put("/a.md", b"%d\n" % number * 500)
    assert run_now(rig.store.usage()).versions < 20


def test_an_index_that_cannot_be_set_up_is_closed_again_and_set_up_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = FolderBackend(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(control, "TABLES", "no statement")
        with pytest.raises(MemorandaError):
            _create(backend)
    index = str(tmp_path / "control.db")
    held = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.exists()]
    assert index not in held
    made = run_now(backend.create("new"))
    assert run_now(backend.info(made.id)) == made
    run_now(backend.close())
