"""Backends of one process: shared by URL, counted, closed by the last one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import Misuse, Unavailable
from memoranda.shared_backends import SharedBackend, acquire, release
from memoranda.stores.base import Backend
from memoranda.stores.ram import RamBackend
from tests.house.repository import SOURCE

PATIENCE_SECONDS = 30


class Watched(RamBackend):
    """Notes when it is closed."""

    closed = 0

    async def close(self) -> None:
        self.closed += 1
        await super().close()


def opened(url: str) -> Backend:
    return Watched()


@pytest.mark.parametrize("url", ["memory:", "MEMORY:"])
def test_a_backend_in_memory_is_whose_who_opened_it(url: str) -> None:
    first, second = acquire(url, opened), acquire(url, opened)
    assert first.backend is not second.backend
    run_now(release(first))
    run_now(release(second))


def test_one_url_is_one_backend_and_the_last_release_closes_it() -> None:
    first = acquire("test://one", opened)
    second = acquire("test://one", opened)
    assert first is second
    backend: Any = first.backend
    run_now(release(first))
    assert backend.closed == 0
    run_now(release(second))
    assert backend.closed == 1
    third = acquire("test://one", opened)
    assert third.backend is not backend
    run_now(release(third))


def test_other_urls_are_other_backends() -> None:
    shared = [acquire(url, opened) for url in ("test://a", "test://b")]
    assert shared[0].backend is not shared[1].backend
    for one in shared:
        run_now(release(one))


def test_the_spellings_of_a_path_are_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shared = [acquire(url, opened) for url in ("./memory", "memory", str(tmp_path / "memory"))]
    assert len({id(one) for one in shared}) == 1
    for one in shared:
        run_now(release(one))


def test_a_relative_path_is_another_place_in_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared: list[SharedBackend] = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        shared += [acquire("memory", opened), acquire("test:///memory.db", opened)]
    assert len({id(one.backend) for one in shared}) == 4
    for one in shared:
        run_now(release(one))


def test_a_nameless_backend_in_memory_is_nobody_elses() -> None:
    shared = [acquire("memory:", opened), acquire("memory:", opened)]
    assert shared[0].backend is not shared[1].backend
    for one in shared:
        run_now(release(one))
    backends: list[Any] = [one.backend for one in shared]
    assert [backend.closed for backend in backends] == [1, 1]


@pytest.mark.parametrize("url", ["", None, 7, Path("memory")])
def test_what_is_no_url_is_refused(url: Any) -> None:
    with pytest.raises(Misuse, match="path or a URL"):
        acquire(url, opened)


def test_what_cannot_be_opened_leaves_nothing_behind() -> None:
    def fail(url: str) -> Backend:
        raise Unavailable("no disk")

    with pytest.raises(Unavailable):
        acquire("test://bad", fail)
    run_now(release(acquire("test://bad", opened)))


class SlowToClose(Watched):
    """Is closed only once the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = threading.Event()
        self.go_on = threading.Event()

    async def close(self) -> None:
        self.closing.set()
        assert self.go_on.wait(PATIENCE_SECONDS)
        await super().close()


def test_a_url_that_is_being_closed_is_opened_anew_only_afterwards() -> None:
    slow = SlowToClose()
    closer = threading.Thread(
        target=lambda: run_now(release(acquire("test://slow", lambda url: slow)))
    )
    closer.start()
    assert slow.closing.wait(PATIENCE_SECONDS)
    seen: list[int] = []
    got: list[SharedBackend] = []

    def open_again(url: str) -> Backend:
        seen.append(slow.closed)
        return Watched()

    opener = threading.Thread(target=lambda: got.append(acquire("test://slow", open_again)))
    opener.start()
    run_now(release(acquire("test://another", opened)))  # nobody else has to wait
    slow.go_on.set()
    closer.join()
    opener.join()
    assert seen == [1]
    run_now(release(got[0]))


class Suspending(Watched):
    """A backend that needs an event loop to be closed."""

    suspends = True

    async def close(self) -> None:
        await asyncio.sleep(0)
        await super().close()


def test_a_backend_that_suspends_is_reached_through_a_loop_of_its_own() -> None:
    shared = acquire("test://loop", lambda url: Suspending())
    backend: Any = shared.backend
    shared.drive(release(shared))
    assert backend.closed == 1
    shared.end()
    assert not any(thread.name == "memoranda-loop" for thread in threading.enumerate())


def test_the_loop_goes_on_while_somebody_uses_the_backend() -> None:
    shared = acquire("test://loop2", lambda url: Suspending())
    acquire("test://loop2", opened)
    shared.drive(release(shared))
    shared.end()
    assert any(thread.name == "memoranda-loop" for thread in threading.enumerate())
    shared.drive(release(shared))
    shared.end()


def test_a_failure_to_close_is_raised_and_the_url_may_be_opened_again() -> None:
    class Failing(RamBackend):
        async def close(self) -> None:
            raise Unavailable("disk full")

    with pytest.raises(Unavailable):
        run_now(release(acquire("test://failing", lambda url: Failing())))
    run_now(release(acquire("test://failing", opened)))


def test_a_forked_child_begins_with_nothing_open_and_no_lock_held() -> None:
    shared = acquire("test://fork", opened)
    backend: Any = shared.backend
    child = os.fork()
    if child == 0:  # pragma: no cover  (the child's coverage dies with it)
        other = acquire("test://fork", opened)
        os._exit(0 if other.backend is not backend and other.users == 1 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert shared.users == 1
    run_now(release(shared))


def test_what_is_open_at_the_end_of_the_process_is_closed() -> None:
    code = """
from memoranda.shared_backends import acquire
from memoranda.stores.ram import RamBackend

class Watched(RamBackend):
    async def close(self):
        print(self.name, "closed")

class Suspending(Watched):
    suspends = True

class Failing(Watched):
    async def close(self):
        raise OSError("as told")

def opener(kind, name):
    backend = kind()
    backend.name = name
    return lambda url: backend

acquire("test://1", opener(Watched, "first"))
acquire("test://2", opener(Failing, "second"))
acquire("test://3", opener(Suspending, "third"))
acquire("test://4", opener(Watched, "fourth"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(done.stdout.splitlines()) == ["first closed", "fourth closed"]
    assert "as told" in done.stderr
