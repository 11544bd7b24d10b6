"""``Memory``: what Claude sends, what programs do, and nothing raised for a model's mistake."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memoranda import AsyncMemory, Limits, Memory, Policy, ToolResult, errors
from memoranda.drive import run_now
from memoranda.path import parse_path
from memoranda.store_source import GivenStore
from memoranda.stores.base import (
    Capabilities,
    Change,
    Content,
    Context,
    Directory,
    Entry,
    Put,
    Remove,
    Store,
    Version,
    VersionFilter,
    WrapperStore,
)
from memoranda.stores.ram import RamBackend
from tests.stand_ins import fresh_store

UNAVAILABLE = ToolResult(
    "Error: The memory is unavailable right now. Try again later.", is_error=True
)
ROOT_VIEW = {"command": "view", "path": "/memories"}


def create(path: str, text: str = "x") -> dict[str, str]:
    return {"command": "create", "path": path, "file_text": text}


@pytest.fixture
def memory() -> Generator[Memory]:
    with Memory.open("memory:", user="acme") as opened:
        yield opened


# ---------------------------------------------------------------- what Claude sends


def test_a_command_is_done_and_answered(memory: Memory) -> None:
    assert memory.execute(create("/memories/a.md", "hi\n")) == ToolResult(
        "File created successfully at: /memories/a.md"
    )
    assert memory.execute({"command": "view", "path": "/memories/a.md"}) == ToolResult(
        "Here's the content of /memories/a.md with line numbers:\n     1\thi"
    )


def test_a_tool_use_block_is_answered_by_a_tool_result_block(memory: Memory) -> None:
    block = SimpleNamespace(id="toolu_1", input=create("/memories/a.md"), name="memory")
    assert memory.tool_result(block) == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "File created successfully at: /memories/a.md",
        "is_error": False,
    }
    (version,) = memory.history()
    assert version.trace_id == "toolu_1"
    answer = memory.tool_result({"id": "toolu_2"})
    assert (answer["tool_use_id"], answer["is_error"]) == ("toolu_2", True)


def test_a_block_that_nobody_can_be_answered_for_is_the_programs_fault(memory: Memory) -> None:
    with pytest.raises(errors.Misuse):
        memory.tool_result({"input": ROOT_VIEW})


def test_versions_name_the_actor_the_command_and_the_trace() -> None:
    with Memory.open("memory:", actor="sesn_42") as memory:
        memory.execute(create("/memories/a"), trace_id="trace-1")
        memory.execute(create("/memories/b"))
        memory.write("/memories/a", "2")
        told = [(v.actor, v.command, v.trace_id) for v in memory.history()]
    assert told == [
        ("sesn_42", "write", None),
        ("sesn_42", "create", None),
        ("sesn_42", "create", "trace-1"),
    ]


def test_a_trace_that_cannot_be_kept_as_it_is_is_kept_harmless(memory: Memory) -> None:
    assert not memory.execute(create("/memories/a"), trace_id="\ud800\n" + "x" * 500).is_error
    assert memory.history()[0].trace_id == "\\ud800\\n" + "x" * 120


class Faulty(WrapperStore):
    """Raises what it is told to."""

    def __init__(self, inner: Store, error: Exception) -> None:
        super().__init__(inner)
        self.error = error

    async def read(self, path: Any, start: int = 0, length: int | None = None) -> Content:
        raise self.error

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        errors.Unavailable("disk full"),
        errors.Corrupt("bad checksum"),
        errors.Misuse("a bug below"),
        OSError(5, "Input/output error", "/srv/tenants/acme/secret.md"),
        ZeroDivisionError(),
        RecursionError(),
        MemoryError(),
    ],
)
def test_whatever_fails_below_is_an_answer_that_says_to_try_later(error: Exception) -> None:
    memory = Memory.of_store(Faulty(fresh_store(), error))
    assert memory.execute(create("/memories/a")) == UNAVAILABLE
    assert memory.execute({"command": "view", "path": "/memories/a"}) == UNAVAILABLE


def test_what_nobody_foresaw_is_logged_without_contents_and_paths(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = OSError(5, "Input/output error", "/srv/tenants/acme/secret.md")
    memory = Memory.of_store(Faulty(fresh_store(), error))
    with caplog.at_level(logging.DEBUG):
        memory.execute(create("/memories/secret.md", "the content"))
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("memoranda", logging.ERROR)
    said = record.getMessage()
    assert said.startswith("A memory command failed: OSError at memoranda.core.execute:")
    assert said.endswith(f"{__name__}.apply:{Faulty.apply.__code__.co_firstlineno + 1}")
    assert record.exc_info is None
    for secret in ("secret", "content", "acme", "srv"):
        assert secret not in said


def test_an_interrupt_is_not_an_answer() -> None:
    class Interrupted(WrapperStore):
        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Memory.of_store(Interrupted(fresh_store())).execute(create("/memories/a"))


def test_a_memory_works_where_an_event_loop_runs(memory: Memory) -> None:
    async def main() -> ToolResult:
        memory.execute(create("/memories/a"))
        return memory.execute({"command": "view", "path": "/memories/a"})

    assert str(asyncio.run(main()).content).endswith("\tx")


def test_threads_share_a_memory(memory: Memory) -> None:
    def work(worker: int) -> None:
        for number in range(20):
            assert not memory.execute(create(f"/memories/{worker}/{number}")).is_error

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.usage().files == 80


# ---------------------------------------------------------------- policies


def test_the_policy_reaches_every_command() -> None:
    policy = Policy(
        on_exists="overwrite",
        limits=Limits(view_chars=3, file_bytes=8, commands_per_minute=5),
    )
    with Memory.open("memory:", policy=policy) as memory:
        memory.execute(create("/memories/a", "1\n2\n3\n"))
        assert not memory.execute(create("/memories/a", "1\n2\n")).is_error
        assert "over the limit" in str(memory.execute(create("/memories/b", "x" * 9)).content)
        assert "[Truncated: " in str(memory.execute({"command": "view", "path": "/memories/a"}))
        memory.execute("no command at all")
        assert memory.execute(ROOT_VIEW).content == (
            "Error: Too many memory commands. Wait 12 seconds, then try again."
        )


def test_without_limits_a_view_shows_everything() -> None:
    text = "line\n" * 20_000
    with Memory.open("memory:", policy=Policy(limits=Limits.unlimited())) as memory:
        memory.execute(create("/memories/a", text))
        shown = str(memory.execute({"command": "view", "path": "/memories/a"}).content)
    assert shown.endswith(" 20000\tline")


def test_a_read_only_memory_can_be_read_and_not_be_changed_by_anybody() -> None:
    store = fresh_store()
    writer = Memory.of_store(store)
    old = writer.write("/memories/a", "1")
    writer.write("/memories/a", "2")
    reader = Memory.of_store(store, policy=Policy(read_only=True))
    assert reader.execute(create("/memories/a")).content == "Error: /memories/a is read-only."
    assert reader.read("/memories/a").text == "2"
    attempts: list[Callable[[], object]] = [
        lambda: reader.write("/memories/b", ""),
        lambda: reader.move("/memories/a", "/memories/b"),
        lambda: reader.remove("/memories/a"),
        lambda: reader.restore("/memories/a", to=old.id),
        reader.undo,
        lambda: reader.redact(old.id),
        lambda: reader.erase(confirm="acme"),
    ]
    for attempt in attempts:
        with pytest.raises(errors.ReadOnly):
            attempt()
    assert len(writer.history()) == 2


# ---------------------------------------------------------------- programs: reading and writing


def test_what_is_written_is_read_back(memory: Memory) -> None:
    version = memory.write("/memories/d/a.md", "ü\r\n")
    read = memory.read("/memories/d/a.md")
    assert (read.text, read.content) == ("ü\r\n", "ü\r\n".encode())
    assert (read.version_id, read.memory_id) == (version.id, version.memory_id)
    assert memory.write("/memories/d/b", b"\xff").size_bytes == 1


def test_equal_content_makes_no_version_and_gives_the_present_one(memory: Memory) -> None:
    version = memory.write("/memories/a", "1")
    assert memory.write("/memories/a", "1") == version
    assert len(memory.history()) == 1


def test_a_write_may_have_one_condition(memory: Memory) -> None:
    first = memory.write("/memories/a", "1", if_absent=True)
    with pytest.raises(errors.AlreadyExists):
        memory.write("/memories/a", "2", if_absent=True)
    second = memory.write("/memories/a", "2", if_version=first.id)
    with pytest.raises(errors.Conflict):
        memory.write("/memories/a", "3", if_version=first.id)
    with pytest.raises(errors.Conflict):
        memory.write("/memories/a", "3", if_sha256=first.sha256)
    memory.write("/memories/a", "3", if_sha256=second.sha256)
    with pytest.raises(errors.NotFound):
        memory.write("/memories/none", "1", if_version=first.id)
    with pytest.raises(errors.Misuse, match="one precondition"):
        memory.write("/memories/a", "4", if_version=first.id, if_absent=True)
    assert memory.read("/memories/a").text == "3"


def test_a_condition_that_fails_is_told_at_once_and_not_tried_again(memory: Memory) -> None:
    class Counting(WrapperStore):
        attempts = 0

        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            self.attempts += 1
            raise errors.Conflict

    store = Counting(fresh_store())
    with pytest.raises(errors.Conflict):
        Memory.of_store(store).write("/memories/a", "1", if_version="memver_1")
    assert store.attempts == 1


def test_a_race_without_a_condition_is_run_again() -> None:
    class Losing(WrapperStore):
        lost = False

        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            if not self.lost:
                self.lost = True
                raise errors.Conflict
            return await self.inner.apply(changes, context)

    memory = Memory.of_store(Losing(fresh_store()))
    assert memory.write("/memories/a", "1", if_absent=True).operation == "created"


@pytest.mark.parametrize(
    ("path", "content", "error"),
    [
        ("/memories/a/", "", errors.BadPath),
        ("/elsewhere", "", errors.BadPath),
        ("/memories/../a", "", errors.BadPath),
        ("/memories", "", errors.RootRefused),
        ("/memories/a", "\ud800", errors.WrongParameter),
        ("/memories/a", None, errors.Misuse),
        (b"/memories/a", "", errors.Misuse),
    ],
)
def test_what_cannot_be_written_is_refused(
    memory: Memory, path: Any, content: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        memory.write(path, content)
    assert memory.history() == ()


def test_memories_and_directories_move_and_go(memory: Memory) -> None:
    version = memory.write("/memories/a", "1")
    memory.write("/memories/d/b", "2")
    (moved,) = memory.move("/memories/a", "/memories/d/a", if_version=version.id)
    with pytest.raises(errors.Conflict):
        memory.move("/memories/d/a", "/memories/c", if_version=version.id)
    memory.move("/memories/d/", "/memories/e")
    with pytest.raises(errors.Conflict):
        memory.remove("/memories/e/a", if_version=version.id)
    assert moved.memory_id == version.memory_id
    memory.remove("/memories/e")
    assert memory.list() == ()
    with pytest.raises(errors.NotFound):
        memory.remove("/memories/e")


class Overtaking(WrapperStore):
    """Somebody acts after each change that made no version, ``times`` in all."""

    times = 0

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        versions = await super().apply(changes, context)
        if not versions and self.times:
            self.times -= 1
            other = Remove(parse_path("/memories/a")) if self.times % 2 else _OTHER
            await super().apply((other,), Context("other"))
        return versions


_OTHER = Put(parse_path("/memories/a"), b"other")


def test_what_a_write_returns_holds_what_was_written_whoever_writes_meanwhile() -> None:
    store = Overtaking(fresh_store())
    memory = Memory.of_store(store)
    first = memory.write("/memories/a", "mine")
    for times in (1, 2):
        store.times = times
        assert memory.write("/memories/a", "mine").sha256 == first.sha256
        assert memory.read("/memories/a").text == "mine"


def test_a_write_gives_up_when_others_are_faster_each_time() -> None:
    class Hasty(WrapperStore):
        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            return ()

    with pytest.raises(errors.Conflict):
        Memory.of_store(Hasty(fresh_store())).write("/memories/a", "mine")


def test_listings_are_whole_or_in_pages_now_or_then(memory: Memory) -> None:
    for name in ("a", "d/b", "d/.hidden"):
        memory.write(f"/memories/{name}", name)
    last = memory.write("/memories/z", "z")
    memory.remove("/memories/d")

    def names(entries: Sequence[Entry | Directory]) -> list[str]:
        return [entry.path.store_path for entry in entries]

    assert names(memory.list()) == ["/a", "/z"]
    assert names(memory.list(at=last.id)) == ["/a", "/d/.hidden", "/d/b", "/z"]
    assert names(memory.list(at=datetime(1980, 1, 1, tzinfo=UTC))) == []
    assert names(memory.list("/memories/d/", at=last.id)) == ["/d/.hidden", "/d/b"]
    assert names(memory.list(depth=1, at=last.id)) == ["/a", "/d", "/z"]
    page = memory.page(depth=1, limit=2, at=last.id)
    assert names(page.entries) == ["/a", "/d"]
    page = memory.page(depth=1, limit=2, after=page.after, at=last.id)
    assert (names(page.entries), page.after) == (["/z"], None)
    assert names(memory.page(limit=1).entries) == ["/a"]


def test_text_is_found(memory: Memory) -> None:
    memory.write("/memories/d/a", "one\nTwo words\n")
    memory.write("/memories/b", "two\n")
    assert [hit.path.name for hit in memory.search("two")] == ["b", "a"]
    (hit,) = memory.search("WORDS two", "/memories/d")
    assert hit.lines == ((2, "Two words"),)
    assert len(memory.search("two", limit=1)) == 1


def test_what_a_backend_cannot_do_is_refused_before_anything_starts() -> None:
    class Bare(WrapperStore):
        """Can do no more than it must; asking it fails the test."""

        def __init__(self, inner: Store) -> None:
            super().__init__(inner)
            nothing = Capabilities(redacts=False, searches=False, time_travel=False)
            self.capabilities = nothing  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    memory = Memory.of_store(Bare(fresh_store()))
    version = memory.write("/memories/a", "1")
    attempts: list[Callable[[], object]] = [
        lambda: memory.search("1"),
        lambda: memory.redact(version.id),
        lambda: memory.list(at=version.id),
        lambda: memory.restore(to=datetime.now(UTC)),
    ]
    for attempt in attempts:
        with pytest.raises(errors.Unsupported):
            attempt()


# ---------------------------------------------------------------- programs: history and upkeep


def test_history_is_that_of_a_path_newest_first(memory: Memory) -> None:
    first = memory.write("/memories/d/a", "1")
    memory.write("/memories/b", "1")
    second = memory.write("/memories/d/a", "2")
    assert memory.history("/memories/d") == (second, first)
    assert memory.history("/memories/d", limit=1) == (second,)
    assert len(memory.history(limit=None)) == 3
    assert memory.history("/memories/none") == ()
    page = memory.versions(VersionFilter(memory_id=first.memory_id), limit=1)
    assert page.versions == (second,)
    page = memory.versions(VersionFilter(memory_id=first.memory_id), after=page.after)
    assert page.versions == (first,)
    assert memory.version(first.id).content == b"1"


def test_versions_are_compared_restored_undone_and_redacted(memory: Memory) -> None:
    first = memory.write("/memories/a", "1\n")
    second = memory.write("/memories/a", "2\n")
    memory.write("/memories/b", "3\n")
    assert memory.diff(first.id).endswith("@@ -1 +1 @@\n-1\n+2\n")
    assert memory.diff(second.id, first.id, context_lines=0).endswith("-2\n+1\n")
    assert len(memory.restore("/memories/a", to=first.id).versions) == 1
    assert memory.read("/memories/a").text == "1\n"
    memory.undo("/memories/a")
    assert memory.read("/memories/a").text == "2\n"
    memory.restore(to=first.id)
    assert [entry.path.name for entry in memory.list()] == ["a"]
    memory.undo()
    assert [entry.path.name for entry in memory.list()] == ["a", "b"]
    assert memory.redact(first.id).redacted_by == "agent"
    with pytest.raises(errors.ContentGone):
        memory.diff(first.id)


def test_a_memory_goes_out_to_a_folder_and_comes_in_again(memory: Memory, tmp_path: Path) -> None:
    memory.write("/memories/d/a", "1")
    memory.write("/memories/b", "2")
    assert memory.export(tmp_path, prefix="/memories/d").files == 1
    assert memory.export(tmp_path, replace=True).files == 2
    with Memory.open("memory:") as other:
        assert len(other.import_(tmp_path, dry_run=True).written) == 2
        assert len(other.import_(tmp_path, prefix="/memories/in").written) == 2
        assert [str(entry.path) for entry in other.list()] == [
            "/memories/in/b",
            "/memories/in/d/a",
        ]


def test_an_import_keeps_the_limits(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"123456")
    with Memory.open("memory:", policy=Policy(limits=Limits(file_bytes=5))) as memory:
        (refused,) = memory.import_(tmp_path).refused
    assert refused.name == "large"


def test_usage_and_verify_tell_what_there_is(memory: Memory) -> None:
    memory.write("/memories/a", "123")
    usage = memory.usage()
    assert (usage.files, usage.size_bytes, usage.versions) == (1, 3, 1)
    assert memory.verify().ok


# ---------------------------------------------------------------- erasing and closing


def test_an_erased_memory_begins_anew(memory: Memory) -> None:
    memory.write("/memories/a", "1")
    with pytest.raises(errors.Misuse, match="for good"):
        memory.erase(confirm="somebody")
    assert memory.read("/memories/a").text == "1"
    memory.erase(confirm="acme")
    assert memory.list() == ()
    assert memory.history() == ()
    memory.write("/memories/b", "2")
    assert memory.usage().versions == 1


@pytest.mark.parametrize("url", ["{}/memory", "sqlite:///{}/memory.db", "memory:shared"])
def test_agents_begin_anew_with_a_user_whom_somebody_else_erased(tmp_path: Path, url: str) -> None:
    with Memory.open(url.format(tmp_path)) as officer, Memory.open(url.format(tmp_path)) as agent:
        agent.execute(create("/memories/a.md"))
        officer.erase(confirm="default")
        listed = agent.execute(ROOT_VIEW)
        assert not listed.is_error
        assert "a.md" not in str(listed.content)
        assert not agent.execute(create("/memories/b.md")).is_error
        assert [str(entry.path) for entry in agent.list()] == ["/memories/b.md"]


def test_a_memory_that_was_never_written_is_erased_at_once(memory: Memory) -> None:
    memory.erase(confirm="acme")
    assert memory.list() == ()


def test_a_store_of_the_api_is_erased_by_its_id() -> None:
    info = run_now(RamBackend("to-be-erased").create("notes"))
    with Memory.open("memory:to-be-erased", store_id=info.id) as memory:
        memory.write("/memories/a", "1")
        with pytest.raises(errors.Misuse):
            memory.erase(confirm="notes")
        memory.erase(confirm=info.id)
        with pytest.raises(errors.UnknownId):
            memory.list()


def test_a_store_that_was_brought_is_not_erased_nor_closed() -> None:
    store = fresh_store()
    with Memory.of_store(store) as memory:
        memory.write("/memories/a", "1")
        with pytest.raises(errors.Misuse, match="its backend"):
            memory.erase(confirm="acme")
    assert run_now(store.read(parse_path("/memories/a"))).data == b"1"


def test_a_closed_memory_says_so_to_the_program() -> None:
    memory = Memory.open("memory:")
    memory.close()
    memory.close()
    attempts: list[Callable[[], object]] = [
        lambda: memory.execute(ROOT_VIEW),
        lambda: memory.tool_result({"id": "toolu_1", "input": ROOT_VIEW}),
        lambda: memory.read("/memories/a"),
        lambda: memory.erase(confirm="default"),
    ]
    for attempt in attempts:
        with pytest.raises(errors.Misuse, match="closed"):
            attempt()


def test_a_command_under_way_when_the_memory_is_closed_says_so() -> None:
    class ClosesItself(WrapperStore):
        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            closing.close()
            raise errors.Misuse("The store is closed.")

    closing = Memory.of_store(ClosesItself(fresh_store()))
    with pytest.raises(errors.Misuse):
        closing.execute(create("/memories/a"))


def test_a_memory_that_is_closed_while_its_store_is_looked_for_stays_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = Memory.of_store(fresh_store())
    find = GivenStore.find

    async def closing(source: GivenStore) -> Store:
        memory.close()
        return await find(source)

    monkeypatch.setattr(GivenStore, "find", closing)
    for _ in range(2):
        with pytest.raises(errors.Misuse):
            memory.execute(ROOT_VIEW)


def test_one_memory_may_be_closed_while_another_of_the_same_url_goes_on() -> None:
    one, other = (Memory.open("memory:shared-closing") for _ in range(2))
    one.write("/memories/a", "1")
    one.close()
    assert other.read("/memories/a").text == "1"
    other.close()


# ---------------------------------------------------------------- stores that suspend


class Suspending(WrapperStore):
    """A store that waits for its network; it has to be driven by an event loop."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.suspends = True  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.conflicts = 1

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        await asyncio.sleep(0)
        if self.conflicts:
            self.conflicts -= 1
            raise errors.Conflict
        return await self.inner.apply(changes, context)


class SuspendingBackend(RamBackend):
    suspends = True

    async def for_user(self, user: str, workspace: str = "default") -> Any:
        await asyncio.sleep(0)
        return Suspending(await super().for_user(user, workspace))


def open_suspending(url: str) -> SuspendingBackend:
    return SuspendingBackend(url.removeprefix("network://"))


def test_a_store_that_suspends_serves_both_facades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoranda.opening.open_backend", open_suspending)
    with Memory.open("network://db") as memory:
        assert not memory.execute(create("/memories/a")).is_error
        assert any(thread.name == "memoranda-loop" for thread in threading.enumerate())

        async def main() -> None:
            async with AsyncMemory.open("network://db") as twin:
                assert (await twin.read("/memories/a")).text == "x"
                await twin.write("/memories/b", "2")

        asyncio.run(main())
        assert memory.read("/memories/b").text == "2"
    assert not any(thread.name == "memoranda-loop" for thread in threading.enumerate())


def test_a_store_that_suspends_may_be_brought_too() -> None:
    with Memory.of_store(Suspending(fresh_store())) as memory:
        memory.write("/memories/a", "1")
        assert memory.read("/memories/a").text == "1"
    assert not any(thread.name == "memoranda-loop" for thread in threading.enumerate())


def test_what_another_program_writes_is_seen() -> None:
    theirs = run_now(RamBackend("two-programs").for_user("acme"))
    run_now(theirs.apply([Put(parse_path("/memories/a"), b"theirs")], Context(actor="other")))
    with Memory.open("memory:two-programs", user="acme") as memory:
        assert memory.read("/memories/a").text == "theirs"


@pytest.mark.parametrize("folder", ["/tmp/\ud800", "/tmp/a\0b"])
def test_a_folder_that_no_host_can_have_is_misuse(memory: Memory, folder: str) -> None:
    with pytest.raises(errors.Misuse, match="a path that the host can have"):
        memory.export(folder)


@pytest.mark.parametrize(
    "where",
    [
        "all",
        VersionFilter(path="/memories/a.md"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        VersionFilter(operation="eaten"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        VersionFilter(from_ns="yesterday"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        VersionFilter(to_ns=1.5),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        VersionFilter(actor=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_filter_that_cannot_be_is_misuse(where: Any) -> None:
    with pytest.raises(errors.Misuse):
        Memory.of_store(fresh_store()).versions(where)


def test_versions_are_filtered_by_what_was_done_where_and_when() -> None:
    memory = Memory.of_store(fresh_store())
    memory.write("/memories/a.md", "one")
    memory.write("/memories/b.md", "two")
    memory.execute({"command": "delete", "path": "/memories/a.md"})
    where = VersionFilter(path=parse_path("/memories/a.md"), operation="deleted", from_ns=0)
    (found,) = memory.versions(where).versions
    assert (found.operation, found.path) == ("deleted", parse_path("/memories/a.md"))
