"""``AsyncMemory``: the same, awaited, from any event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from memoranda import AsyncMemory, ToolResult, errors
from memoranda.stores.base import Change, Context, Store, Version, WrapperStore
from tests.stand_ins import fresh_store

PATIENCE_SECONDS = 30
REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


def create(path: str, text: str = "x") -> dict[str, str]:
    return {"command": "create", "path": path, "file_text": text}


def run(main: Callable[[AsyncMemory], Coroutine[Any, Any, None]]) -> None:
    async def opened() -> None:
        async with AsyncMemory.open("memory:", user="acme") as memory:
            await main(memory)

    asyncio.run(opened())


def test_a_command_is_done_and_answered() -> None:
    async def main(memory: AsyncMemory) -> None:
        assert await memory.execute(create("/memories/a.md")) == ToolResult(
            "File created successfully at: /memories/a.md"
        )
        answer = await memory.tool_result({"id": "toolu_1", "input": create("/memories/b.md")})
        assert answer["content"] == "File created successfully at: /memories/b.md"
        assert (await memory.execute({"command": "fly"})).is_error

    run(main)


def test_every_method_does_what_its_twin_does(tmp_path: Path) -> None:
    async def main(memory: AsyncMemory) -> None:
        first = await memory.write("/memories/a", "1\n")
        await memory.write("/memories/a", "2\n", if_version=first.id)
        await memory.move("/memories/a", "/memories/d/a")
        assert (await memory.read("/memories/d/a")).text == "2\n"
        assert len(await memory.list()) == 1
        assert len((await memory.page(limit=1)).entries) == 1
        assert len(await memory.search("2")) == 1
        assert (await memory.usage()).files == 1
        assert len(await memory.history()) == 3
        assert len((await memory.versions(limit=2)).versions) == 2
        assert (await memory.version(first.id)).content == b"1\n"
        assert (await memory.diff(first.id)).endswith("-1\n+2\n")
        await memory.restore("/memories/d/a", to=first.id)
        await memory.undo()
        await memory.redact(first.id)
        assert (await memory.export(tmp_path)).files == 1
        await memory.remove("/memories/d")
        assert len((await memory.import_(tmp_path)).written) == 1
        assert (await memory.verify()).ok
        await memory.erase(confirm="acme")
        assert await memory.history() == ()

    run(main)


def test_it_may_be_used_from_several_event_loops_in_turn() -> None:
    memory = AsyncMemory.open("memory:")
    assert not asyncio.run(memory.execute(create("/memories/a"))).is_error
    assert asyncio.run(memory.read("/memories/a")).text == "x"
    asyncio.run(memory.close())
    with pytest.raises(errors.Misuse, match="closed"):
        asyncio.run(memory.execute(create("/memories/b")))


def test_it_may_be_used_from_several_event_loops_at_once() -> None:
    memory = AsyncMemory.open("memory:")

    async def work(worker: int) -> None:
        names = [f"/memories/{worker}/{number}" for number in range(10)]
        answers = await asyncio.gather(*[memory.execute(create(name)) for name in names])
        assert not any(answer.is_error for answer in answers)

    def in_a_loop_of_its_own(worker: int) -> None:
        asyncio.run(work(worker))

    threads = [threading.Thread(target=in_a_loop_of_its_own, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asyncio.run(memory.usage()).files == 40
    asyncio.run(memory.close())


class Watching(WrapperStore):
    """Notes where and under what a batch is done, and waits when told."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.threads: list[int] = []
        self.requests: list[str] = []
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        self.threads.append(threading.get_ident())
        self.requests.append(REQUEST.get())
        self.began.set()
        assert self.go_on.wait(PATIENCE_SECONDS)
        return await self.inner.apply(changes, context)


def test_a_store_that_blocks_never_holds_the_loop_and_sees_the_callers_context() -> None:
    store = Watching(fresh_store())

    async def main() -> None:
        REQUEST.set("req-1")
        await AsyncMemory.of_store(store).write("/memories/a", "1")

    asyncio.run(main())
    assert store.threads != [threading.get_ident()]
    assert store.requests == ["req-1"]


def test_inline_it_stays_on_the_loops_thread() -> None:
    store = Watching(fresh_store())
    asyncio.run(AsyncMemory.of_store(store, inline=True).write("/memories/a", "1"))
    assert store.threads == [threading.get_ident()]


def test_a_cancelled_write_that_has_begun_is_done_when_the_cancellation_is_raised() -> None:
    store = Watching(fresh_store())
    store.go_on.clear()
    memory = AsyncMemory.of_store(store)

    async def main() -> None:
        task = asyncio.create_task(memory.execute(create("/memories/a")))
        await asyncio.to_thread(store.began.wait, PATIENCE_SECONDS)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        store.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await memory.read("/memories/a")).text == "x"

    asyncio.run(main())


def test_what_is_wrong_with_the_storage_is_told_at_the_first_use() -> None:
    class Broken(WrapperStore):
        async def read(self, *_: Any, **__: Any) -> Any:
            raise errors.Unavailable("no disk")

    memory = AsyncMemory.of_store(Broken(fresh_store()))
    answer = asyncio.run(memory.execute({"command": "view", "path": "/memories/a"}))
    assert answer.content == "Error: The memory is unavailable right now. Try again later."


def test_a_store_that_cannot_be_opened_is_an_answer_unless_the_program_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from memoranda.stores.ram import RamBackend

    class Unopenable(RamBackend):
        error: Exception = errors.Corrupt("torn")

        async def for_user(self, user: str, workspace: str = "default") -> Any:
            raise self.error

    backend = Unopenable()

    def open_it(url: str) -> Unopenable:
        return backend

    monkeypatch.setattr("memoranda.opening.open_backend", open_it)

    async def main() -> None:
        memory = AsyncMemory.open("test://unopenable")
        answer = await memory.execute(create("/memories/a"))
        assert answer.content == "Error: The memory is unavailable right now. Try again later."
        with pytest.raises(errors.Corrupt):
            await memory.list()
        backend.error = errors.Misuse("not our folder")
        with pytest.raises(errors.Misuse, match="not our folder"):
            await memory.execute(create("/memories/a"))
        with pytest.raises(errors.Misuse):
            await memory.__aenter__()
        await memory.close()

    asyncio.run(main())


def test_upkeep_does_what_its_twin_does() -> None:
    async def main(memory: AsyncMemory) -> None:
        first = await memory.write("/memories/a", "1")
        await memory.write("/memories/a", "2")
        assert [each.path for each in (await memory.preview_restore(to=first.id)).changes] == [
            first.path
        ]
        assert (await memory.read("/memories/a")).text == "2"
        assert (await memory.hold("/memories/a", reason="a case")).reason == "a case"
        assert [each.path for each in await memory.holds()] == [first.path]
        assert await memory.lift_hold("/memories/a")
        assert await memory.holds() == ()
        assert (await memory.sweep()).removed == ()
        assert (await memory.repair()).ok
        assert await memory.notices() == ()
        assert (await memory.audit(limit=1))[0].command == "sweep"

    run(main)
