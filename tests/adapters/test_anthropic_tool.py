"""``MemoryTool`` and ``AsyncMemoryTool`` as objects: what they take, say and let go of."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memoranda.adapters.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.async_memory import AsyncMemory
from memoranda.errors import Misuse, ReadOnly
from memoranda.memory import Memory
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from tests.house.repository import SOURCE

ENTRY = {"type": "memory_20250818", "name": "memory"}
UNAVAILABLE = "Error: The memory is unavailable right now. Try again later."


class Sync:
    """An ``AsyncMemoryTool`` with the methods of a ``MemoryTool``, each on a new event loop."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        self.tool = AsyncMemoryTool(*args, **fields)
        self.to_dict = self.tool.to_dict

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.tool, name)

        def run(*args: Any) -> Any:
            return asyncio.run(method(*args))

        return run

    def __enter__(self) -> Self:
        async def enter() -> None:
            assert await self.tool.__aenter__() is self.tool

        asyncio.run(enter())
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run(self.tool.__aexit__())


@pytest.fixture(params=[MemoryTool, Sync], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def create(tool: Any, path: str = "/memories/a.md", text: str = "one\ntwo\n") -> Any:
    return tool.call({"command": "create", "path": path, "file_text": text})


def view(tool: Any, path: str = "/memories/a.md") -> Any:
    return tool.call({"command": "view", "path": path})


# ---------------------------------------------------------------- the entry in requests


def test_it_is_one_of_the_sdks_memory_tools() -> None:
    assert issubclass(MemoryTool, BetaAbstractMemoryTool)
    assert issubclass(AsyncMemoryTool, BetaAsyncAbstractMemoryTool)


def test_its_entry_is_the_contracts(kind: Any) -> None:
    with kind("memory:") as tool:
        assert tool.to_dict() == ENTRY


def test_the_other_fields_of_an_entry_are_passed_on(kind: Any) -> None:
    examples = ({"command": "view", "path": path} for path in ("/memories", "/memories/a.md"))
    fields: dict[str, Any] = {
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
        "defer_loading": False,
        "strict": True,
        "allowed_callers": ("direct",),
    }
    with kind("memory:", **fields, input_examples=examples) as tool:
        for _ in range(2):
            assert tool.to_dict() == {
                **ENTRY,
                **fields,
                "allowed_callers": ["direct"],
                "input_examples": [
                    {"command": "view", "path": "/memories"},
                    {"command": "view", "path": "/memories/a.md"},
                ],
            }


# ---------------------------------------------------------------- commands


def test_raw_input_and_command_objects_do_the_same(kind: Any, url: str) -> None:
    path = "/memories/a.md"
    with kind(url) as tool:
        assert (
            tool.create(
                BetaMemoryTool20250818CreateCommand(
                    command="create", path=path, file_text="one\ntwo\n"
                )
            )
            == "File created successfully at: /memories/a.md"
        )
        tool.str_replace(
            BetaMemoryTool20250818StrReplaceCommand(
                command="str_replace", path=path, old_str="two", new_str="2"
            )
        )
        tool.insert(
            BetaMemoryTool20250818InsertCommand(
                command="insert", path=path, insert_line=0, insert_text="zero\n"
            )
        )
        shown = tool.view(
            BetaMemoryTool20250818ViewCommand(command="view", path=path, view_range=[1, 2])
        )
        assert shown == tool.call({"command": "view", "path": path, "view_range": [1, 2]})
        assert "     1\tzero\n     2\tone" in shown
        assert "     3\t" not in shown
        moved = BetaMemoryTool20250818RenameCommand(
            command="rename", old_path=path, new_path="/memories/b.md"
        )
        assert tool.rename(moved) == "Successfully renamed /memories/a.md to /memories/b.md"
        deleted = BetaMemoryTool20250818DeleteCommand(command="delete", path="/memories/b.md")
        assert tool.delete(deleted) == "Successfully deleted /memories/b.md"
        with pytest.raises(ToolError, match="does not exist"):
            tool.execute(deleted)


def test_a_command_object_without_all_its_fields_is_answered(kind: Any) -> None:
    with kind("memory:") as tool:
        create(tool)
        # The SDK makes such objects of whatever Claude sends.
        replace = BetaMemoryTool20250818StrReplaceCommand.construct(
            path="/memories/a.md", old_str="one\n"
        )
        tool.str_replace(replace)
        assert view(tool).endswith("     1\ttwo")
        with pytest.raises(ToolError, match="Missing required parameter `file_text`"):
            tool.create(BetaMemoryTool20250818CreateCommand.construct(path="/memories/b.md"))


@pytest.mark.parametrize(
    "raw", [None, [], "view", 7, {}, {"command": 1}, {"command": "view"}, {"command": "sing"}]
)
def test_input_that_is_no_command_is_a_failed_result(kind: Any, raw: object) -> None:
    with kind("memory:") as tool, pytest.raises(ToolError) as caught:
        tool.call(raw)
    assert str(caught.value.content).startswith("Error: ")


def test_a_refusal_is_raised_with_the_contracts_text(kind: Any, url: str) -> None:
    with kind(url) as tool:
        create(tool)
        with pytest.raises(ToolError) as caught:
            create(tool)
    assert caught.value.content == "Error: File /memories/a.md already exists"


def test_a_picture_comes_as_blocks(kind: Any, url: str) -> None:
    import base64

    png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    memory: Any = Memory.open(url) if kind is MemoryTool else AsyncMemory.open(url)
    with kind(memory) as tool:
        written = memory.write("/memories/p.png", png)
        if kind is not MemoryTool:
            asyncio.run(written)
        words, image = view(tool, "/memories/p.png")
    assert words["type"] == "text"
    assert image["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(png).decode(),
    }
    closed = memory.close()
    if kind is not MemoryTool:
        asyncio.run(closed)


# ---------------------------------------------------------------- whose memory, where


def test_users_have_memories_of_their_own(kind: Any, url: str) -> None:
    with kind(url, user="ada") as ada, kind(url, user="bob") as bob, kind(url) as nobody:
        create(ada)
        for other in (bob, nobody):
            with pytest.raises(ToolError, match="does not exist"):
                view(other)
        with kind(url, user="ada") as again:
            assert "one" in view(again)


def test_the_actor_and_the_policy_reach_the_memory(tmp_path: Path) -> None:
    policy = Policy(limits=Limits(file_bytes=10))
    with MemoryTool(tmp_path / "m", policy=policy, actor="worker-7") as tool:
        create(tool, text="short")
        with pytest.raises(ToolError, match="over the limit of 10B for one memory file"):
            create(tool, "/memories/b.md", "rather long")
        assert [version.actor for version in tool.memory.history()] == ["worker-7"]


def test_a_memory_that_is_given_stays_open_and_keeps_its_settings() -> None:
    with Memory.open("memory:", "ada") as memory:
        with MemoryTool(memory) as tool:
            create(tool)
            assert tool.memory is memory
            assert tool.base_path is tool.memory_root is None
        assert "one" in memory.execute({"command": "view", "path": "/memories/a.md"}).content
        for settings in ({"user": "bob"}, {"policy": Policy()}, {"actor": "x"}):
            with pytest.raises(Misuse, match="has its own"):
                MemoryTool(memory, **settings)  # pyright: ignore[reportArgumentType]


def test_the_memory_of_the_other_colour_is_not_taken() -> None:
    with Memory.open("memory:") as memory, pytest.raises(TypeError):
        AsyncMemoryTool(memory)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_a_path_may_be_given_as_by_users_of_the_sdks_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for tool in (
        MemoryTool(),
        MemoryTool("./memory"),
        MemoryTool(base_path="./memory"),
        MemoryTool(Path("memory")),
    ):
        with tool:
            assert tool.base_path == Path("memory")
            assert tool.memory_root == Path("memory/stores/default/memories")
            assert tool.memory_root is not None
            if not tool.memory_root.exists():
                create(tool)
            assert (tool.memory_root / "a.md").read_text() == "one\ntwo\n"


def test_both_tools_say_where_the_files_lie(tmp_path: Path) -> None:
    with MemoryTool(tmp_path, user="Ada") as tool:
        other = AsyncMemoryTool(tmp_path, user="Ada")
        assert tool.base_path == other.base_path == tmp_path
        assert tool.memory_root == other.memory_root == tmp_path / "stores" / "=41da" / "memories"
        asyncio.run(other.close())


def test_a_name_that_no_user_can_have_is_misuse(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="name of a user"):
        kind(tmp_path, user="../ada")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", [MemoryTool, AsyncMemoryTool])
def test_a_folder_that_the_sdks_tool_filled_is_not_opened_as_if_empty(
    tool: Any, tmp_path: Path
) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "a.md").write_text("precious")
    with pytest.raises(Misuse, match="memoranda import"):
        tool(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["memories"]


# ---------------------------------------------------------------- clearing and letting go


def test_clearing_removes_everything_and_history_stays(url: str) -> None:
    with MemoryTool(url) as tool:
        create(tool)
        create(tool, "/memories/deep/er/b.md")
        create(tool, "/memories/.hidden")
        assert tool.clear_all_memory() == "All memory cleared"
        assert view(tool, "/memories").endswith("\n0B\t/memories")
        assert tool.memory.list() == ()
        assert tool.clear_all_memory() == "All memory cleared"
        operations = [version.operation for version in tool.memory.history("/memories/a.md")]
        assert operations == ["deleted", "created"]


def test_clearing_works_asynchronously(url: str) -> None:
    async def clear() -> None:
        async with AsyncMemoryTool(url) as tool:
            await create(tool)
            await create(tool, "/memories/deep/b.md")
            assert await tool.clear_all_memory() == "All memory cleared"
            assert await tool.memory.list() == ()

    asyncio.run(clear())


def test_a_read_only_memory_is_not_cleared(tmp_path: Path) -> None:
    url = str(tmp_path / "memory")
    with MemoryTool(url) as tool, MemoryTool(url, policy=Policy(read_only=True)) as reader:
        create(tool)
        with pytest.raises(ReadOnly):
            reader.clear_all_memory()
        assert "one" in view(tool)


def test_clearing_passes_over_what_somebody_else_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    with MemoryTool("memory:") as tool:
        create(tool)
        create(tool, "/memories/b.md")
        listed = tool.memory.list(depth=1)
        tool.memory.remove("/memories/a.md")

        def as_before(*_: object, **__: object) -> object:
            return listed

        monkeypatch.setattr(tool.memory, "list", as_before)
        assert tool.clear_all_memory() == "All memory cleared"
        assert tool.memory.usage().files == 0


@pytest.mark.parametrize(
    "relative", ["memory", "sqlite:///memory.db", "SQLITE:///memory.db", "memory:"]
)
def test_a_closed_tool_opens_its_memory_anew(
    kind: Any, relative: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    relative = relative if relative != "memory:" else f"memory:{tmp_path.name}"
    with kind(relative) as keeper:
        tool = kind(relative)
        create(tool)
        tool.close()
        tool.close()
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        assert "one" in view(tool)
        tool.close()
        assert list(Path().iterdir()) == []
        assert "one" in view(keeper)


@pytest.mark.parametrize("url", ["", "sqlite:///", "nothing:here", b"memory"])
def test_what_names_no_memory_is_refused_at_once(kind: Any, url: Any) -> None:
    with pytest.raises((Misuse, TypeError)):
        kind(url)


def test_a_memory_that_the_program_closed_is_an_answer_and_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    memory = Memory.open("memory:")
    tool = MemoryTool(memory)
    memory.close()
    with caplog.at_level(logging.ERROR, "memoranda"), pytest.raises(ToolError) as caught:
        view(tool)
    assert caught.value.content == UNAVAILABLE
    assert [record.getMessage() for record in caplog.records] == [
        "The memory tool has no memory: The memory is closed."
    ]


def test_an_async_memory_that_the_program_closed_is_an_answer_too() -> None:
    async def use() -> str:
        memory = AsyncMemory.open("memory:")
        await memory.close()
        with pytest.raises(ToolError) as caught:
            await view(AsyncMemoryTool(memory))
        return str(caught.value.content)

    assert asyncio.run(use()) == UNAVAILABLE


def test_an_async_tool_serves_several_event_loops_in_turn(url: str) -> None:
    tool = AsyncMemoryTool(url)

    async def many(number: int) -> list[Any]:
        paths = [f"/memories/{number}-{index}.md" for index in range(5)]
        return await asyncio.gather(*(create(tool, path) for path in paths))

    for number in range(3):
        assert len(asyncio.run(many(number))) == 5
    assert len(asyncio.run(tool.memory.list())) == 15
    asyncio.run(tool.close())


# ---------------------------------------------------------------- the SDK is optional


def run(code: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False
    )


def test_without_the_sdk_the_error_names_the_extra() -> None:
    # None in sys.modules makes an import fail as if nothing were installed.
    done = run("sys.modules['anthropic'] = None\nimport memoranda.adapters.anthropic")
    assert done.stderr.splitlines()[-1] == (
        "ImportError: memoranda.adapters.anthropic needs the Anthropic SDK, version 2.14 or later:"
        " install memoranda[anthropic]."
    )


def test_the_package_and_its_adapters_load_no_sdk() -> None:
    done = run("import memoranda, memoranda.adapters\nprint('anthropic' in sys.modules)")
    assert done.stdout == "False\n", done.stderr
