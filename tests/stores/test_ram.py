"""The RAM backend keeps every promise of the store contract."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import Misuse
from memoranda.stores import forks
from memoranda.stores.base import Backend, Context, Edit
from memoranda.stores.ram import RamBackend
from memoranda.testing.promises.steps import append, p, put, read, tree
from memoranda.testing.store_suite import StoreSuite
from memoranda.text.splice import Splice
from tests.stores.fork import in_a_child

AGENT = Context(command="test")


class TestRamStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return RamBackend()


@pytest.mark.parametrize("name", ["", "shared"])
def test_a_child_of_a_fork_has_a_copy_of_its_own_though_another_thread_was_at_work(
    name: str,
) -> None:
    backend = RamBackend(name)
    others = RamBackend(name)
    store = run_now(backend.for_user("acme"))
    run_now(put(store, "/a.md", b""))
    run_now(store.record(AGENT))
    entered, leave = threading.Event(), threading.Event()

    def hold(old: bytes) -> Splice:
        entered.set()
        assert leave.wait(30)
        return append(b"h")(old)

    holder = threading.Thread(target=lambda: run_now(store.apply([Edit(p("/a.md"), hold)], AGENT)))
    holder.start()
    assert entered.wait(30)
    threading.Timer(0.05, leave.set).start()

    def work() -> None:
        assert run_now(read(store, "/a.md")) == b"h"
        run_now(put(store, "/child.md", b"c"))
        assert run_now(store.verify()).ok

    assert in_a_child(work) == 0
    holder.join()
    run_now(put(store, "/parent.md", b"p"))
    assert sorted(run_now(tree(store))) == ["/a.md", "/parent.md"]
    assert run_now(store.verify()).ok
    run_now(others.close())
    run_now(backend.close())


def test_a_child_of_a_fork_amid_work_may_not_use_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forks, "LONGEST_WAIT_SECONDS", 0.05)
    backend = RamBackend()
    store = run_now(backend.for_user("acme"))
    run_now(put(store, "/a.md", b"x"))

    def work() -> None:
        for attempt in (read(store, "/a.md"), put(store, "/b.md", b"x")):
            with pytest.raises(Misuse, match="forked off"):
                run_now(attempt)
        with Memory.open("memory:") as fresh:
            fresh.write("/memories/a", "x")

    def fork_amid(old: bytes) -> Splice:
        assert in_a_child(work) == 0
        return append(b"!")(old)

    run_now(store.apply([Edit(p("/a.md"), fork_amid)], AGENT))
    assert run_now(read(store, "/a.md")) == b"x!"
    run_now(backend.close())


def test_a_reader_that_does_not_end_keeps_a_fork_from_using_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forks, "LONGEST_WAIT_SECONDS", 0.05)
    backend = RamBackend()
    store = run_now(backend.for_user("acme"))
    run_now(put(store, "/a.md", b"x"))
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with backend.database.reading():
            entered.set()
            assert leave.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(30)

    def work() -> None:
        with pytest.raises(Misuse, match="forked off"):
            run_now(read(store, "/a.md"))

    assert in_a_child(work) == 0
    leave.set()
    holder.join()
    run_now(put(store, "/a.md", b"y"))
    run_now(backend.close())


def test_a_transaction_that_cannot_begin_keeps_nobody_else_out() -> None:
    database = RamBackend().database
    with database.writing(), pytest.raises(apsw.SQLError), database.writing():
        pass

    def work() -> None:
        with database.writing():
            done.set()

    done = threading.Event()
    other = threading.Thread(target=work, daemon=True)
    other.start()
    assert done.wait(30)
    other.join()
