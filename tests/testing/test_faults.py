"""The stores that misbehave do so at the call they were told, and keep every promise otherwise."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Conflict, Unavailable
from memoranda.path import ROOT
from memoranda.stores.base import Backend, Store, WrapperStore
from memoranda.testing.faults import (
    CRASH_EXIT_CODE,
    Call,
    FailingStore,
    InterceptingStore,
    RecordingStore,
    SlowStore,
    StrickenStore,
    SuspendingStore,
    WrappingBackend,
)
from memoranda.testing.promises.lifetime import EVERY_CALL
from memoranda.testing.promises.steps import put, read, tree
from tests.testing.dict_store import DictBackend, Disk
from tests.testing.test_store_suite import DictSuite


def new_store() -> Store:
    return run_now(DictBackend(Disk()).for_user("acme"))


class TestAWrapperThatAddsNothing(DictSuite):
    """``WrapperStore`` passes every promise on."""

    def wrap(self, store: Store) -> Store:
        return WrapperStore(store)


class TestAnInterceptingStore(DictSuite):
    """A store that is looked at keeps every promise."""

    def wrap(self, store: Store) -> Store:
        return RecordingStore(InterceptingStore(store))


class TestAFaultThatNeverStrikes(DictSuite):
    """A store whose fault is yet to come keeps every promise, slow or not."""

    def wrap(self, store: Store) -> Store:
        return SlowStore(FailingStore(store, Call(10**9)), lambda name: None)


class TestASuspendingStore(DictSuite):
    """A store that suspends keeps every promise on the event loop."""

    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        inner = await super().open_backend(home)
        return WrappingBackend(
            inner, lambda store: SuspendingStore(store, lambda: asyncio.sleep(0)), suspends=True
        )


def test_every_call_of_a_store_is_intercepted() -> None:
    store = RecordingStore(new_store())
    run_now(put(store, "/a.md", b"x"))
    for name, call in EVERY_CALL:
        if name not in {"locate", "version", "redact"}:
            run_now(_finish(call, store))
    run_now(store.close())
    assert set(store.calls) | {"locate", "version", "redact"} == {
        *(name for name, _ in EVERY_CALL),
        "close",
    }


async def _finish(call: Callable[[Store], Awaitable[object]], store: Store) -> None:
    await call(store)


def test_the_call_that_was_named_fails_and_no_other() -> None:
    store = FailingStore(new_store(), Call(2, "apply"))
    run_now(put(store, "/a.md", b"1"))
    with pytest.raises(Unavailable):
        run_now(put(store, "/b.md", b"2"))
    run_now(put(store, "/c.md", b"3"))
    assert run_now(tree(store)) == {"/a.md": b"1", "/c.md": b"3"}


def test_any_call_counts_where_none_is_named() -> None:
    store = FailingStore(new_store(), Call(2))
    run_now(put(store, "/a.md", b"1"))
    with pytest.raises(Unavailable):
        run_now(read(store, "/a.md"))
    assert run_now(read(store, "/a.md")) == b"1"


def test_a_fault_after_the_work_loses_only_the_answer() -> None:
    store = FailingStore(new_store(), Call(1, "apply", done=True), Conflict())
    with pytest.raises(Conflict):
        run_now(put(store, "/a.md", b"1"))
    assert run_now(tree(store)) == {"/a.md": b"1"}


def test_a_stricken_store_has_to_say_what_strikes() -> None:
    with pytest.raises(NotImplementedError):
        run_now(StrickenStore(new_store(), Call(1)).usage())


def test_a_slow_store_waits_for_what_it_is_given() -> None:
    gate, begun = threading.Event(), threading.Event()

    def wait(name: str) -> None:
        assert name == "usage"
        begun.set()
        gate.wait(30)

    store = SlowStore(new_store(), wait)
    thread = threading.Thread(target=lambda: run_now(store.usage()))
    thread.start()
    assert begun.wait(30)
    assert thread.is_alive()
    gate.set()
    thread.join(30)
    assert not thread.is_alive()


CRASH = """
from memoranda.drive import run_now
from memoranda.testing.faults import Call, CrashingStore
from memoranda.testing.promises.steps import put
from tests.testing.test_faults import new_store

store = CrashingStore(new_store(), Call(2, "apply"))
run_now(put(store, "/a.md", b"1"))
try:
    run_now(put(store, "/b.md", b"2"))
finally:
    print("cleaned up")
"""


def test_a_crashing_store_ends_the_process_on_the_spot() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASH],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "src:."},
    )
    assert (done.returncode, done.stdout) == (CRASH_EXIT_CODE, ""), done.stderr


def test_a_wrapping_backend_wraps_the_stores_of_users_and_of_ids() -> None:
    backend = WrappingBackend(DictBackend(Disk()), RecordingStore)
    info = run_now(backend.create("one"))
    for store in (run_now(backend.for_user("acme")), run_now(backend.open(info.id))):
        assert isinstance(store, RecordingStore)
        run_now(store.list(ROOT))
        assert store.calls == ["list"]
