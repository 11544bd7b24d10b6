"""Whoever leads a batch answers for its own job and for nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Unavailable
from memoranda.path import parse_path
from memoranda.stores.base import Context, Put
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.batch import Batches
from memoranda.stores.folder.jobs import FolderJob, nothing
from memoranda.stores.folder.open_tree import Reopen
from memoranda.stores.folder.store import FolderStore

FAULTS: list[Callable[[], Exception]] = [
    lambda: Unavailable("The log can't be read."),
    lambda: OSError("The disk is gone."),
    Reopen,
]


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    backend = FolderBackend(tmp_path)
    store = run_now(backend.for_user("acme"))
    assert isinstance(store, FolderStore)
    put = Put(parse_path("/memories/a.md"), b"a\n")
    run_now(store.apply([put], Context()))
    return store


@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_after_the_leaders_commit_is_not_the_leaders(
    store: FolderStore, fault: Callable[[], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = store._writer()  # pyright: ignore[reportPrivateUsage]
    assert writer is not None

    def commits_one_and_fails(_: Batches, jobs: Sequence[FolderJob]) -> None:
        jobs[0].done = True
        raise fault()

    monkeypatch.setattr(Batches, "run", commits_one_and_fails)
    writer.run(FolderJob(nothing))


def test_what_fails_before_the_commit_is_the_leaders(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = store._writer()  # pyright: ignore[reportPrivateUsage]
    assert writer is not None

    def fails(_: Batches, jobs: Sequence[FolderJob]) -> None:
        raise Unavailable("The log can't be read.")

    monkeypatch.setattr(Batches, "run", fails)
    with pytest.raises(Unavailable):
        writer.run(FolderJob(nothing))
