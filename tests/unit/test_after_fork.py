"""A child of a fork goes on whatever its parent's threads held at that instant."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from memoranda.adapters.anthropic import MemoryTool
from memoranda.drive import BackgroundLoop, run_now
from memoranda.policies.rate import Rate
from memoranda.stores.postgres.address import parse
from memoranda.stores.postgres.sync_port import SyncPort
from memoranda.stores.ram import RamBackend
from memoranda.text.line_index import IndexCache, LineIndex
from tests.stores.fork import in_a_child

Held = tuple[AbstractContextManager[object], Callable[[], object]]


async def nothing() -> str:
    return "done"


def lock_of(thing: object, name: str) -> AbstractContextManager[object]:
    lock: AbstractContextManager[object] = vars(thing)[name]
    return lock


def of_a_rate(_: Path) -> Held:
    rate = Rate(10)
    return lock_of(rate, "_lock"), rate.take


def of_an_index_of_lines(_: Path) -> Held:
    indexes = IndexCache()
    indexes.put("a.md", 1, LineIndex())
    return lock_of(indexes, "_lock"), lambda: indexes.put("b.md", 1, LineIndex())


def of_a_loop(_: Path) -> Held:
    loop = BackgroundLoop()

    def use() -> None:
        assert loop.run(nothing()) == "done"
        loop.close()

    return lock_of(loop, "_starting"), use


def of_a_tool(home: Path) -> Held:
    tool = MemoryTool(home / "memory")
    return lock_of(vars(tool)["_source"], "_lock"), lambda: tool.memory


def of_a_pool(_: Path) -> Held:
    port = SyncPort(parse("postgresql://127.0.0.1:1/x"))
    return lock_of(port, "_opening"), lambda: run_now(port.close())


@pytest.mark.parametrize("lock", [of_a_rate, of_an_index_of_lines, of_a_loop, of_a_tool, of_a_pool])
def test_a_lock_that_a_thread_of_the_parent_held_is_free(
    tmp_path: Path, lock: Callable[[Path], Held]
) -> None:
    held, use = lock(tmp_path)

    def work() -> None:
        signal.alarm(20)  # ends the child if it waits
        use()

    with held:
        assert in_a_child(work) == 0


def test_a_loop_that_ran_in_the_parent_is_begun_anew_in_the_child_and_goes_on_in_the_parent() -> (
    None
):
    loop = BackgroundLoop()
    assert loop.run(nothing()) == "done"

    def work() -> None:
        signal.alarm(20)
        assert loop.run(nothing()) == "done"
        loop.close()

    assert in_a_child(work) == 0
    assert loop.run(nothing()) == "done"
    loop.close()


def test_a_named_memory_in_ram_is_one_without_a_lock() -> None:
    one, other = (RamBackend("after a fork").database for _ in range(2))
    assert one is other
