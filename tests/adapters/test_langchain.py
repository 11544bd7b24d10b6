"""LangChain's ``create_agent`` with our middleware, and deepagents with our backend."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from deepagents.backends import CompositeBackend, StateBackend
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import Field

from memoranda.adapters.deepagents import MemoryBackend
from memoranda.adapters.langchain import MemoryMiddleware
from memoranda.memory import Memory
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.testing.conformance.malformed import FILE
from memoranda.testing.messages_api import ScriptedMessagesAPI, Step, tool_use, use_memory
from tests.adapters.hostile import OBJECTS, as_the_memory_answers

CREATE = {"command": "create", "path": FILE, "file_text": "a\nb\n"}
VIEW = {"command": "view", "path": FILE}


class OtherModel(BaseChatModel):
    """A model of another provider: makes these calls, one turn each, and then stops."""

    turns: list[list[dict[str, Any]]]
    told: list[Any] = Field(default_factory=list[Any])
    tools: list[Any] = Field(default_factory=list[Any])

    @property
    def _llm_type(self) -> str:
        return "other"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        self.tools.append(list(tools))
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.told.append(messages)
        done = sum(isinstance(message, AIMessage) for message in messages)
        calls = self.turns[done] if done < len(self.turns) else []
        message = AIMessage(
            content="" if calls else "Done.",
            tool_calls=[
                {"name": "memory", "args": args, "id": f"call_{done}_{index}"}
                for index, args in enumerate(calls)
            ],
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def claude(api: ScriptedMessagesAPI) -> BaseChatModel:
    # Its type knows the fields by their other names only.
    model: BaseChatModel = cast("Any", ChatAnthropic)(
        model="claude-sonnet-5-5", base_url=api.url, api_key="any", max_retries=0
    )
    return model


def sync_run(agent: Any) -> Any:
    return agent.invoke({"messages": [("user", "Go.")]}, {"recursion_limit": 1000})


def async_run(agent: Any) -> Any:
    return asyncio.run(agent.ainvoke({"messages": [("user", "Go.")]}, {"recursion_limit": 1000}))


@pytest.fixture(params=[sync_run, async_run], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = request.param
    return found


def results(state: Any) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


@tool
def weather(place: str) -> str:
    """The weather at a place."""
    return f"Rain in {place}."


# ---------------------------------------------------------------- create_agent


def test_claude_gets_its_native_tool_and_other_tools_stay(run: Any, tmp_path: Path) -> None:
    script: list[Step] = [
        [
            use_memory("create", path=FILE, file_text="a\n"),
            use_memory("delete", path="/memories/none"),
            tool_use("weather", {"place": "Bergen"}),
        ],
        "Noted.",
    ]
    middleware = MemoryMiddleware(tmp_path, user="ada")
    with ScriptedMessagesAPI(script) as api:
        agent = create_agent(claude(api), tools=[weather], middleware=[middleware])
        assert run(agent)["messages"][-1].text == "Noted."
        tools = {tool["name"]: tool for tool in api.requests[0].tools}
        assert tools["memory"] == {"type": "memory_20250818", "name": "memory"}
        assert set(tools) == {"memory", "weather"}
        assert not api.requests[0].system
        made, failed, rain = api.requests[1].results
    assert (made.text, made.is_error) == (f"File created successfully at: {FILE}", False)
    assert (failed.text, failed.is_error) == (
        "Error: The path /memories/none does not exist",
        True,
    )
    assert rain.text == "Rain in Bergen."
    middleware.close()
    script = [use_memory("view", path=FILE), lambda received: received.result.text]
    with ScriptedMessagesAPI(script) as api:
        again = create_agent(claude(api), middleware=[MemoryMiddleware(tmp_path, user="ada")])
        assert run(again)["messages"][-1].text.endswith("     1\ta")


def test_other_models_get_a_function_and_the_prompt_after_the_agents_own(run: Any) -> None:
    model = OtherModel(turns=[[CREATE], [VIEW]])
    agent = create_agent(model, system_prompt="Be brief.", middleware=[MemoryMiddleware("memory:")])
    made, seen = results(run(agent))
    assert made.content == f"File created successfully at: {FILE}"
    assert seen.text.endswith("     1\ta\n     2\tb")
    first, second = model.told[0][0].content_blocks
    assert first["text"] == "Be brief."
    assert "outlasts this conversation" in second["text"]
    (offered,) = model.tools[0]
    assert "old_str" in offered.args_schema["properties"]


def test_whatever_a_model_sends_is_answered_as_the_memory_answers_it(run: Any) -> None:
    # One call a turn: the framework runs those of one turn side by side.
    wrong = OBJECTS[:12]
    model = OtherModel(turns=[[one] for one in (CREATE, *wrong)])
    found = results(run(create_agent(model, middleware=[MemoryMiddleware("memory:")])))[1:]
    expected = as_the_memory_answers(wrong)
    assert [(one.content, one.status == "error") for one in found] == expected


def test_a_call_is_answered_before_the_framework_looks_at_its_arguments() -> None:
    async def never(_: object) -> Any:
        raise AssertionError

    async def go() -> list[tuple[Any, bool]]:
        with Memory.open("memory:") as memory:
            memory.write(FILE, "a\nb\n")
            middleware = MemoryMiddleware(memory)
            answers: list[tuple[Any, bool]] = []
            for arguments in OBJECTS:
                call = {"name": "memory", "args": arguments, "id": "call_1"}
                request: Any = SimpleNamespace(tool_call=call)
                answered: ToolMessage = await middleware.awrap_tool_call(request, never)
                answers.append((answered.content, answered.status == "error"))
            return answers

    assert asyncio.run(go()) == as_the_memory_answers(OBJECTS)


def test_models_that_know_the_tool_can_be_named_and_pictures_are_blocks() -> None:
    with Memory.open("memory:") as memory:
        memory.write("/memories/p.png", b"\x89PNG\r\n\x1a\n" + bytes(8))
        model = OtherModel(turns=[[{"command": "view", "path": "/memories/p.png"}]])
        agent = create_agent(model, middleware=[MemoryMiddleware(memory, native=True)])
        (shown,) = results(sync_run(agent))
        assert model.tools[0] == [{"type": "memory_20250818", "name": "memory"}]
        text, image = shown.content_blocks
        assert text["type"] == "text"
        assert image["type"] == "image"
        assert image.get("mime_type") == "image/png"
        (alone,) = MemoryMiddleware(memory).tools
        assert alone.invoke({"command": "view", "path": "/memories"}).endswith(
            "16B\t/memories/p.png"
        )


# ---------------------------------------------------------------- deepagents


def deep(api: ScriptedMessagesAPI, backend: MemoryBackend) -> Any:
    routes = CompositeBackend(default=StateBackend(), routes={"/memories/": backend})
    return cast("Any", create_deep_agent)(model=claude(api), backend=routes)


def test_deepagents_keeps_its_files_in_the_memory_between_runs(run: Any, tmp_path: Path) -> None:
    backend = MemoryBackend(tmp_path, user="ada")
    written = {"file_path": "/memories/notes.md", "content": "one\ntwo\n"}
    edited = {"file_path": "/memories/notes.md", "old_string": "two", "new_string": "2"}
    gone = {"file_path": "/memories/none.md", "old_string": "two", "new_string": "2"}
    script: list[Step] = [
        tool_use("write_file", written),
        [tool_use("edit_file", edited), tool_use("edit_file", gone)],
        "Noted.",
    ]
    with ScriptedMessagesAPI(script) as api:
        run(deep(api, backend))
        done, failed = api.requests[2].results
    assert "notes.md" in done.text
    assert failed.text == (
        "Error: The path /memories/none.md does not exist. Please provide a valid path."
    )
    with Memory.open(str(tmp_path), "ada") as memory:
        assert memory.read("/memories/notes.md").text == "one\n2\n"
        assert len(memory.history("/memories/notes.md")) == 2
    script = [
        tool_use("read_file", {"file_path": "/memories/notes.md"}),
        lambda received: received.result.text,
    ]
    with ScriptedMessagesAPI(script) as api:
        said = run(deep(api, MemoryBackend(tmp_path, user="ada")))["messages"][-1].text
    assert "one" in said
    assert "2" in said
    backend.close()


@pytest.fixture
def backend() -> Any:
    with Memory.open("memory:") as memory:
        memory.write("/memories/a.md", "alpha\nbeta [x]\n")
        memory.write("/memories/sub/b.py", "beta\n")
        memory.write("/memories/sub/deep/c.md", "gamma")
        memory.write("/memories/p.png", b"\x89PNG\xff")
        yield MemoryBackend(memory)


def test_listing_shows_files_and_directories_of_one_level(backend: MemoryBackend) -> None:
    entries = backend.ls("/").entries
    assert entries is not None
    assert [(one["path"], one.get("is_dir")) for one in entries] == [
        ("/a.md", False),
        ("/p.png", False),
        ("/sub/", True),
    ]
    assert entries[0].get("size") == 15
    assert str(entries[0].get("modified_at")).endswith("+00:00")
    assert backend.ls("/none").entries == []
    assert backend.ls("/../etc").error is not None


def test_reading_gives_windows_of_lines_and_binary_files_whole(backend: MemoryBackend) -> None:
    window = backend.read("/a.md", offset=1, limit=1)
    assert window.file_data is not None
    assert window.file_data["content"].rstrip("\n") == "beta [x]"
    assert window.start_line == 2
    picture = backend.read("/p.png")
    assert picture.file_data is not None
    assert picture.file_data["encoding"] == "base64"
    assert backend.read("/none").error == (
        "The path /memories/none does not exist. Please provide a valid path."
    )


def test_searching_is_literal_and_patterns_follow_deepagents(backend: MemoryBackend) -> None:
    def found(*args: Any, **more: Any) -> list[tuple[str, int]]:
        matches = backend.grep(*args, **more).matches
        assert matches is not None
        return [(one["path"], one["line"]) for one in matches]

    assert found("beta") == [("/a.md", 2), ("/sub/b.py", 1)]
    assert found("[x]") == [("/a.md", 2)]
    assert found("beta", "/sub") == [("/sub/b.py", 1)]
    assert found("beta", None, "*.md") == [("/a.md", 2)]
    assert backend.grep("beta", max_count=1).truncated

    def paths(*args: Any) -> list[str]:
        matches = backend.glob(*args).matches
        assert matches is not None
        return [one["path"] for one in matches]

    assert paths("*.md") == ["/a.md", "/sub/deep/c.md"]
    assert paths("/*.md") == ["/a.md"]
    assert paths("deep/*.md", "/sub") == ["/sub/deep/c.md"]
    assert backend.glob("../*").error is not None
    assert backend.glob("*", "/../x").error is not None
    assert backend.grep("x", "/../x").error is not None


def test_editing_replaces_one_place_or_all_and_says_what_is_wrong(backend: MemoryBackend) -> None:
    assert backend.edit("/a.md", "beta", "b").occurrences == 1
    assert backend.edit("/a.md", "a", "A", replace_all=True).occurrences == 2
    assert backend.memory.read("/memories/a.md").text == "AlphA\nb [x]\n"
    for problem in (
        backend.edit("/a.md", "none", "x"),
        backend.edit("/p.png", "x", "y"),
        backend.edit("/none", "x", "y"),
        backend.edit("/", "x", "y"),
    ):
        assert problem.error
        assert problem.path is None


def test_an_edit_that_loses_a_race_begins_anew(
    backend: MemoryBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, races = backend.memory.read, iter(range(2))

    def outrun(path: str) -> Any:
        stored = read(path)
        if next(races, None) is not None:
            backend.memory.write(path, stored.content + b"theirs\n")
        return stored

    monkeypatch.setattr(backend.memory, "read", outrun)
    assert backend.edit("/a.md", "alpha", "A").occurrences == 1
    assert read("/memories/a.md").text == "A\nbeta [x]\ntheirs\ntheirs\n"


def test_an_edit_that_is_always_outrun_is_an_answer(
    backend: MemoryBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = backend.memory.read

    def outrun(path: str) -> Any:
        stored = read(path)
        backend.memory.write(path, stored.content + b"x")
        return stored

    monkeypatch.setattr(backend.memory, "read", outrun)
    assert "Try again later" in str(backend.edit("/a.md", "alpha", "A").error)


def test_writing_and_deleting_are_policed_and_bad_paths_refused() -> None:
    with Memory.open("memory:", policy=Policy(limits=Limits(file_bytes=10))) as memory:
        backend = MemoryBackend(memory)
        assert backend.write("/a.md", "short").path == "/a.md"
        assert backend.write("a.md", "again").path == "a.md"
        assert memory.read("/memories/a.md").text == "again"
        assert "over the limit of 10B" in str(backend.write("/b.md", "rather long").error)
        for wrong in ("/../x", "/a\\b", "/a.md/", "/.git/x", "", "/\x00", "/\ud800"):
            assert backend.write(wrong, "x").error, wrong
        assert backend.delete("/a.md").error is None
        assert backend.delete("/a.md").error == "Error: The path /memories/a.md does not exist"
        up = backend.upload_files(
            [("/u", b"\xff"), ("/../u", b""), ("/u/v", b""), ("/w", b"1" * 11)]
        )
        assert [one.error for one in up[:2]] == [None, "invalid_path"]
        assert all(one.error for one in up[1:])
        down = backend.download_files(["/u", "/none", "/"])
        assert [one.content for one in down] == [b"\xff", None, None]
        assert [one.error for one in down][1] == "file_not_found"
        reader = MemoryBackend(memory)
        assert reader.memory is memory
    with Memory.open("memory:", policy=Policy(read_only=True)) as memory:
        (refused,) = MemoryBackend(memory).upload_files([("/u", b"x")])
        assert refused.error == "permission_denied"


def test_a_closed_backend_opens_its_memory_anew(tmp_path: Path) -> None:
    backend = MemoryBackend(tmp_path)
    backend.write("/a.md", json.dumps("x"))
    backend.close()
    backend.close()
    assert backend.read("/a.md").error is None
    backend.close()
