"""Closing many stores: several at a time, and all of them whatever happens."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.path import parse_path
from memoranda.stores.base import Context, Put
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.place import MOST_CLOSING


def filled(home: Path, users: int) -> FolderBackend:
    backend = FolderBackend(home)
    for number in range(users):
        store = run_now(backend.for_user(f"user{number}"))
        run_now(store.apply([Put(parse_path("/memories/a.md"), b"one\n")], Context()))
    return backend


def open_logs(home: Path) -> list[Path]:
    return list(home.glob("stores/*/history.db-wal"))


def test_all_open_stores_are_closed_with_their_backend(tmp_path: Path) -> None:
    users = MOST_CLOSING + 3
    backend = filled(tmp_path, users)
    assert len(open_logs(tmp_path)) == users
    before = threading.active_count()
    run_now(backend.close())
    assert open_logs(tmp_path) == []
    assert threading.active_count() == before


def test_stores_are_closed_one_by_one_where_no_thread_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    backend = filled(tmp_path, 3)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    run_now(backend.close())
    assert open_logs(tmp_path) == []
