"""The SDK's tool runners with our tools, in every way in which they run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic

from memoranda.adapters.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.testing.messages_api import (
    Received,
    Reply,
    Result,
    ScriptedMessagesAPI,
    Step,
    overloaded,
    text,
    tool_use,
    use_memory,
)

QUESTION = [{"role": "user", "content": "Remember this."}]

WAYS: list[dict[str, Any]] = [
    {},
    {"thread": False},
    {"stream": True},
    {"stream": True, "thread": False},
    {"stream": True, "run_tools_eagerly": True},
]


def run(url: Any, api: ScriptedMessagesAPI, way: dict[str, Any], **settings: Any) -> str:
    """What Claude says last, with a synchronous client."""
    with MemoryTool(url, **settings) as tool, Anthropic(base_url=api.url, api_key="k") as client:
        make_runner: Any = client.beta.messages.tool_runner
        runner = make_runner(
            model="claude-test", max_tokens=500, tools=[tool], messages=QUESTION, **way
        )
        return str(runner.until_done().content[-1].text)


def run_async(url: Any, api: ScriptedMessagesAPI, way: dict[str, Any], **settings: Any) -> str:
    """What Claude says last, with an asynchronous client on a loop of its own."""

    async def go() -> str:
        async with (
            AsyncMemoryTool(url, **settings) as tool,
            AsyncAnthropic(base_url=api.url, api_key="k") as client,
        ):
            make_runner: Any = client.beta.messages.tool_runner
            runner = make_runner(
                model="claude-test", max_tokens=500, tools=[tool], messages=QUESTION, **way
            )
            return str((await runner.until_done()).content[-1].text)

    return asyncio.run(go())


Run = Callable[..., str]


@pytest.fixture(params=[run, run_async], ids=["sync", "async"])
def play(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


@pytest.fixture(params=WAYS, ids=lambda way: ",".join(way) or "threads")
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    chosen: dict[str, Any] = request.param
    return chosen


def last_result(received: Received) -> str:
    return received.result.text


def all_results(received: Received) -> str:
    return "\n".join(f"{result.is_error} {result.text}" for result in received.results)


def test_claude_writes_and_reads_back(play: Run, way: dict[str, Any], url: str) -> None:
    words = 'One.\nTwo: "é😀" \\n\t.\n'
    script: list[Step] = [
        [text("I look."), use_memory("view", path="/memories")],
        use_memory("create", path="/memories/a.md", file_text=words),
        use_memory("str_replace", path="/memories/a.md", old_str="One", new_str="Uno"),
        use_memory("insert", path="/memories/a.md", insert_line=0, insert_text="Zero."),
        use_memory("rename", old_path="/memories/a.md", new_path="/memories/b/c.md"),
        use_memory("view", path="/memories/b/c.md"),
        last_result,
    ]
    with ScriptedMessagesAPI(script) as api:
        said = play(url, api, way)
        assert api.finished
    assert said == (
        "Here's the content of /memories/b/c.md with line numbers:\n"
        '     1\tZero.\n     2\tUno.\n     3\tTwo: "é😀" \\n\t.'
    )
    sent = [received.result for received in api.requests[1:]]
    assert [result.is_error for result in sent] == [False] * 6
    assert sent[0].text.endswith("\n0B\t/memories")


def test_several_calls_of_one_turn_are_done_in_order(
    play: Run, way: dict[str, Any], url: str
) -> None:
    calls = [
        text("All at once."),
        use_memory("create", path="/memories/a.md", file_text="1\n"),
        *(
            use_memory("insert", path="/memories/a.md", insert_line=n, insert_text=str(n + 1))
            for n in range(1, 8)
        ),
        use_memory("view", path="/memories/missing.md"),
        use_memory("view", path="/memories/a.md"),
    ]

    def answer(received: Received) -> str:
        used = [block for block in received.conversation[-2]["content"] if "id" in block]
        assert [result.tool_use_id for result in received.results] == [call["id"] for call in used]
        return all_results(received)

    with ScriptedMessagesAPI([calls, answer]) as api:
        lines = play(url, api, way).split("\n")
    numbered = [f"{n:>6}\t{n}" for n in range(1, 9)]
    assert lines == [
        "False File created successfully at: /memories/a.md",
        *["False The file /memories/a.md has been edited."] * 7,
        "True The path /memories/missing.md does not exist. Please provide a valid path.",
        "False Here's the content of /memories/a.md with line numbers:",
        *numbered,
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"command": None},
        {"command": "launch"},
        {"command": "create", "path": "/memories/a.md"},
        {"command": "view", "path": "/memories/../../etc/passwd"},
        {"command": "view", "path": ["/memories"]},
        {"command": "insert", "path": "/memories/a.md", "insert_line": "x", "insert_text": "y"},
        {"path": "/memories", "command": "view", "view_range": {"a": 1}},
    ],
)
def test_a_wrong_command_is_a_failed_result_and_the_corrected_one_works(
    play: Run, wrong: dict[str, Any]
) -> None:
    script: list[Step] = [
        tool_use("memory", wrong),
        use_memory("create", path="/memories/a.md", file_text="one\n"),
        lambda received: received.result.text,
    ]
    with ScriptedMessagesAPI(script) as api:
        said = play("memory:", api, {})
    failed = api.requests[1].result
    assert failed.is_error
    assert "Traceback" not in failed.text
    assert "(" not in failed.text.split("\n")[0], "no repr of an exception"
    assert said == "File created successfully at: /memories/a.md"


def test_limits_are_told_and_nothing_is_stored(play: Run, url: str) -> None:
    policy = Policy(limits=Limits(file_bytes=20, files=2, store_bytes=30))
    script: list[Step] = [
        [
            use_memory("create", path="/memories/a", file_text="x" * 21),
            use_memory("create", path="/memories/a", file_text="x" * 20),
            use_memory("create", path="/memories/b", file_text="x" * 11),
            use_memory("create", path="/memories/b", file_text="x" * 10),
            use_memory("create", path="/memories/c", file_text=""),
        ],
        all_results,
    ]
    with ScriptedMessagesAPI(script) as api:
        lines = play(url, api, {}, policy=policy).split("\n")
    assert [line.split(" ", 1)[0] for line in lines] == ["True", "False", "True", "False", "True"]
    assert "over the limit of 20B for one memory file" in lines[0]
    assert "This memory is full: 20B of 30B used" in lines[2]
    assert "already holds 2 files" in lines[4]


def test_a_picture_goes_to_claude_as_an_image(play: Run, way: dict[str, Any]) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(1000)

    def seen(received: Received) -> str:
        content = received.result.content
        assert isinstance(content, list)
        assert [block["type"] for block in content] == ["text", "image"]
        assert not received.result.is_error
        return "I see it."

    def put(received: Received) -> Any:
        return use_memory("view", path="/memories/p.png")

    with ScriptedMessagesAPI([put, seen]) as api:
        assert play_with_file(play, api, way, "p.png", png) == "I see it."


def test_a_picture_that_the_api_would_refuse_is_not_sent(play: Run) -> None:
    # 4 MB are more than 5 MB of base64, which is what the API counts.
    png = b"\x89PNG\r\n\x1a\n" + b"\xff" * 4_000_000

    def refused(received: Received) -> str:
        assert received.result.is_error
        return received.result.text

    script: list[Step] = [use_memory("view", path="/memories/p.png"), refused]
    with ScriptedMessagesAPI(script) as api:
        said = play_with_file(play, api, {}, "p.png", png)
    assert said == "Error: The file /memories/p.png is not UTF-8 text and cannot be shown."


def play_with_file(
    play: Run, api: ScriptedMessagesAPI, way: dict[str, Any], name: str, data: bytes
) -> str:
    """Play over a store that holds ``data`` already."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/m.db"
        unlimited = Policy(limits=Limits.unlimited())
        with MemoryTool(url, policy=unlimited) as tool:
            tool.memory.write(f"/memories/{name}", data)
        return play(url, api, way)


@pytest.mark.parametrize(
    "reply",
    [
        Reply([use_memory("create", path="/memories/a", file_text="x"), text("")], "max_tokens"),
        Reply([use_memory("create", path="/memories/a", file_text="x")], "refusal"),
    ],
)
def test_a_turn_that_was_cut_off_runs_no_command(reply: Reply, tmp_path: Path) -> None:
    with (
        MemoryTool(tmp_path / "m") as tool,
        ScriptedMessagesAPI([reply]) as api,
        Anthropic(base_url=api.url, api_key="k") as client,
    ):
        make_runner: Any = client.beta.messages.tool_runner
        make_runner(
            model="claude-test", max_tokens=500, tools=[tool], messages=QUESTION
        ).until_done()
        assert tool.memory.list() == ()


def test_a_command_runs_once_though_requests_are_sent_again(play: Run, url: str) -> None:
    script: list[Step] = [
        use_memory("create", path="/memories/a.md", file_text="one\n"),
        use_memory("insert", path="/memories/a.md", insert_line=1, insert_text="two"),
        use_memory("view", path="/memories/a.md"),
        last_result,
    ]
    with ScriptedMessagesAPI(script, failures={2: overloaded(), 4: overloaded()}) as api:
        said = play(url, api, {})
    assert said.endswith(":\n     1\tone\n     2\ttwo")


def test_the_entry_is_sent_with_its_fields(play: Run, way: dict[str, Any]) -> None:
    def check(received: Received) -> str:
        assert received.tools == (
            {
                "type": "memory_20250818",
                "name": "memory",
                "cache_control": {"type": "ephemeral"},
                "strict": True,
                "allowed_callers": ["direct"],
                "input_examples": [{"command": "view", "path": "/memories"}],
            },
        )
        return "Fine."

    with ScriptedMessagesAPI([use_memory("view", path="/memories"), check]) as api:
        play(
            "memory:",
            api,
            way,
            cache_control={"type": "ephemeral"},
            strict=True,
            allowed_callers=["direct"],
            input_examples=iter([{"command": "view", "path": "/memories"}]),
        )


def test_one_tool_serves_many_runners_at_once(tmp_path: Path) -> None:
    def claude(received: Received) -> Any:
        if not received.results:
            mine = f"/memories/{received.number}.md"
            return [
                use_memory("create", path=mine, file_text="x\n"),
                use_memory("insert", path="/memories/all.md", insert_line=0, insert_text="x\n"),
            ]
        return all_results(received)

    said: list[str] = []
    with MemoryTool(tmp_path / "m") as tool, ScriptedMessagesAPI(claude) as api:
        tool.memory.write("/memories/all.md", "")

        def work() -> None:
            with Anthropic(base_url=api.url, api_key="k") as client:
                make_runner: Any = client.beta.messages.tool_runner
                runner = make_runner(
                    model="claude-test", max_tokens=500, tools=[tool], messages=QUESTION
                )
                said.append(runner.until_done().content[0].text)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert tool.memory.read("/memories/all.md").content == b"x\n" * 8
        assert tool.memory.usage().files == 9
    assert len(said) == 8
    assert not any("True" in words for words in said)


def test_many_async_runners_share_one_event_loop(url: str) -> None:
    def claude(received: Received) -> Any:
        if not received.results:
            return use_memory("create", path=f"/memories/{received.number}.md", file_text="x\n")
        return all_results(received)

    async def go(api: ScriptedMessagesAPI) -> int:
        async with (
            AsyncMemoryTool(url) as tool,
            AsyncAnthropic(base_url=api.url, api_key="k") as client,
        ):
            make_runner: Any = client.beta.messages.tool_runner

            async def one() -> None:
                runner = make_runner(
                    model="claude-test", max_tokens=500, tools=[tool], messages=QUESTION
                )
                assert (await runner.until_done()).content[0].text.startswith("False File created")

            await asyncio.gather(*(one() for _ in range(8)))
            return (await tool.memory.usage()).files

    with ScriptedMessagesAPI(claude) as api:
        assert asyncio.run(go(api)) == 8


def test_a_result_tells_apart_what_the_user_says_and_what_the_tool_says(url: str) -> None:
    with ScriptedMessagesAPI([use_memory("view", path="/memories"), last_result]) as api:
        run(url, api, {})
    (result,) = api.requests[1].results
    assert isinstance(result, Result)
    assert api.requests[1].text == ""
    assert api.requests[0].text == "Remember this."
