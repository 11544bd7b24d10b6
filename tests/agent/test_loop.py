"""The agent's loop against the scripted Messages API, in each of its ways."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Generator, Iterable
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, InternalServerError, beta_tool
from anthropic.lib.tools import ToolError

from memoranda import AsyncMemory, Memory, Misuse
from memoranda.agent import Agent, AsyncAgent, Context, Conversation, Hooks, Outcome
from memoranda.testing.messages_api import (
    Failure,
    Received,
    Reply,
    ScriptedMessagesAPI,
    overloaded,
    server_error,
    text,
    tool_use,
    use_memory,
)

WAYS: list[dict[str, Any]] = [
    {"stream": stream, "threads": threads, "is_async": is_async}
    for stream, threads, is_async in itertools.product((False, True), repeat=3)
]

Turn = tuple[Any, dict[str, Any]]


class Player:
    """An agent of either kind, in one of the ways."""

    def __init__(self, *, stream: bool, threads: bool, is_async: bool) -> None:
        self.settings = {"stream": stream, "threads": threads}
        self.is_async = is_async
        self.conversation = Conversation()

    def play(
        self,
        script: Any,
        *turns: Turn | str,
        memory: str | None = "memory:agent",
        **settings: Any,
    ) -> list[Outcome]:
        """The outcomes of runs in turn, each with what ``run`` is given."""
        calls: list[Turn] = [(turn, {}) if isinstance(turn, str) else turn for turn in turns]
        settings = {"model": "m", "conversation": self.conversation, **self.settings, **settings}
        with ScriptedMessagesAPI(script, failures=settings.pop("failures", None)) as api:
            self.api = api
            if self.is_async:
                return asyncio.run(self._play(api, calls, memory, settings))
            with Anthropic(base_url=api.url, api_key="k", max_retries=1) as client:
                held = None if memory is None else Memory.open(memory)
                agent = Agent(client, held, **settings)
                return [agent.run(content, **rest) for content, rest in calls]

    async def _play(
        self, api: ScriptedMessagesAPI, calls: list[Turn], memory: str | None, settings: Any
    ) -> list[Outcome]:
        async with AsyncAnthropic(base_url=api.url, api_key="k", max_retries=1) as client:
            held = None if memory is None else AsyncMemory.open(memory)
            agent = AsyncAgent(client, held, **settings)
            return [await agent.run(content, **rest) for content, rest in calls]


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(k for k in way if way[k]) or "plain")
def player(request: pytest.FixtureRequest) -> Player:
    return Player(**request.param)


def said(received: Received) -> str:
    """What Claude quotes: whether each result failed, and its first line."""
    return "; ".join(
        f"{'!' if one.is_error else ''}{one.text.splitlines()[0]}" for one in received.results
    )


def length(received: Received) -> str:
    """What Claude says of how many messages it sees."""
    return str(len(received.conversation))


def words(received: Received) -> str:
    """What Claude says of what it was asked."""
    return received.text


def sendable(messages: Iterable[dict[str, Any]]) -> None:
    """Have the API look at a transcript, with one more question where it is the user's turn."""
    conversation = Conversation(messages)
    with (
        ScriptedMessagesAPI(["fine"]) as api,
        Anthropic(base_url=api.url, api_key="k") as client,
    ):
        agent = Agent(client, Memory.open("memory:sendable"), model="m", conversation=conversation)
        assert agent.run("Go on.").text == "fine"


@beta_tool
def add(a: int, b: int) -> str:
    """Add two numbers."""
    if a == b:
        raise ToolError("They are the same.")
    return str(a + b)


# ---------------------------------------------------------------- turns


def test_all_calls_of_a_turn_are_answered_in_one_message_in_their_order(
    player: Player, tmp_path: Any
) -> None:
    script = [
        [
            text("Let me look."),
            use_memory("create", path="/memories/a.md", file_text="one"),
            tool_use("add", {"a": 1, "b": 2}),
            use_memory("view", path="/memories/none.md"),
            tool_use("add", {"a": 2, "b": 2}),
            tool_use("add", {"a": "x"}),
            tool_use("nobody", {}),
        ],
        said,
    ]
    (outcome,) = player.play(script, "Go.", memory=str(tmp_path / "memory"), tools=[add])
    assert outcome.stop == "end_turn"
    assert outcome.turns == 2
    assert outcome.text == (
        "File created successfully at: /memories/a.md; 3; "
        "!The path /memories/none.md does not exist. Please provide a valid path.; "
        "!They are the same.; "
        "!Error: The tool add failed. ValueError: Invalid arguments for function add; "
        "!Error: There is no tool named 'nobody'."
    )
    assert outcome.usage.requests == 2
    assert outcome.usage.output_tokens > 0
    roles = [message["role"] for message in player.conversation.messages]
    assert roles == ["user", "assistant", "user", "assistant"]


def test_a_conversation_goes_on_over_several_runs(player: Player) -> None:
    def count(received: Received) -> str:
        return f"{len(received.conversation)} messages"

    first, second = player.play(["one", count], "First.", "Second.")
    assert (first.text, second.text) == ("one", "3 messages")


def test_calls_of_the_applications_tools_wait_for_it(player: Player) -> None:
    ask = {"name": "ask", "description": "Ask a person.", "input_schema": {"type": "object"}}
    calls = [tool_use("ask", {}, tool_use_id="toolu_1"), use_memory("view", path="/memories")]
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Ada says yes."}
    script = [calls, said]
    first, second = player.play(script, "Go.", (None, {"results": [answer]}), tools=[ask])
    assert first.stop == "tool_use"
    assert [block["name"] for block in first.pending] == ["ask"]
    assert second.text.startswith("Ada says yes.; Here're the files")


def test_who_asks_something_else_instead_leaves_the_call_as_interrupted(player: Player) -> None:
    ask = {"name": "ask", "description": "Ask a person.", "input_schema": {"type": "object"}}
    script = [tool_use("ask", {}), said]
    _, second = player.play(script, "Go.", "Never mind.", tools=[ask])
    assert second.text.startswith("!Error: The call was interrupted")


@pytest.mark.parametrize("stop", ["pause_turn"])
def test_a_paused_turn_is_sent_back_and_goes_on(player: Player, stop: Any) -> None:
    script = [Reply("Wait.", stop), Reply([text("Still"), text(" on.")], stop), "Done."]
    (outcome,) = player.play(script, "Go.")
    assert (outcome.text, outcome.turns, outcome.stop) == ("Done.", 3, "end_turn")


def test_a_call_that_was_cut_off_is_not_done_and_claude_goes_on(
    player: Player, tmp_path: Any
) -> None:
    cut = Reply(
        [text("Now"), use_memory("create", path="/memories/a.md", file_text="x")], "max_tokens"
    )
    folder = str(tmp_path / "memory")
    (outcome,) = player.play([cut, said], "Go.", memory=folder)
    assert outcome.text.startswith("!Error: Your reply was cut off before this call was complete")
    with Memory.open(folder) as memory:
        assert memory.list() == ()


def test_replies_that_are_cut_off_again_and_again_end_the_run(player: Player) -> None:
    cut = Reply([use_memory("view", path="/memories")], "max_tokens")
    outcome, after = player.play([cut, cut, cut, said], "Go.", "And now?")
    assert (outcome.stop, outcome.turns) == ("max_tokens", 3)
    assert after.stop == "end_turn"


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "stop_sequence"])
def test_a_text_that_ended_early_ends_the_run_and_says_why(player: Player, stop: Any) -> None:
    outcome, after = player.play([Reply("So far", stop), "More."], "Go.", "Go on.")
    assert (outcome.stop, outcome.text, after.text) == (stop, "So far", "More.")


def test_a_refused_reply_is_in_no_transcript(player: Player) -> None:
    outcome, after = player.play([Reply("I won't", "refusal"), words], "Bad.", "Good.")
    assert outcome.stop == "refusal"
    assert after.text == "Bad.\nGood."


def test_an_empty_reply_ends_the_run_and_leaves_a_transcript_that_can_be_sent(
    player: Player,
) -> None:
    outcome, after = player.play([Reply([]), words], "One.", "Two.")
    assert (outcome.stop, outcome.text, after.text) == ("end_turn", "", "One.\nTwo.")


def test_turns_are_bounded_and_the_last_calls_are_done(player: Player) -> None:
    def on_and_on(received: Received) -> Any:
        return use_memory("create", path=f"/memories/{received.number}.md", file_text="x")

    script: Callable[[Received], Any] = on_and_on
    (outcome,) = player.play(script, "Go.", max_turns=3)
    assert (outcome.stop, outcome.turns) == ("max_turns", 3)
    assert player.conversation.open_calls == ()
    sendable(player.conversation.messages)


def test_compaction_blocks_go_back_as_they_came(player: Player) -> None:
    block = {"type": "compaction", "content": "They spoke of launches."}

    def third(received: Received) -> str:
        kinds = [
            b["type"]
            for m in received.conversation
            if m["role"] == "assistant"
            for b in m["content"]
        ]
        return ", ".join(kinds)

    script = [[block, use_memory("view", path="/memories")], third]
    (outcome,) = player.play(script, "Go.", context=Context.long_running())
    assert outcome.text == "compaction, tool_use"


# ---------------------------------------------------------------- failures


def test_a_failed_request_is_repeated_by_the_sdk(player: Player) -> None:
    (outcome,) = player.play(["fine"], "Go.", failures={1: overloaded()})
    assert outcome.text == "fine"
    assert outcome.usage.requests == 1


def test_what_the_sdk_gives_up_on_is_its_own_error_and_the_run_can_go_on(player: Player) -> None:
    failure: Failure = server_error()
    with pytest.raises(InternalServerError):
        player.play(
            [use_memory("view", path="/memories")], "Go.", failures={2: failure, 3: failure}
        )
    (outcome,) = player.play([said], (None, {}))
    assert outcome.text.startswith("Here're the files")


def test_a_lost_thread_is_begun_anew_with_the_whole_history(player: Player) -> None:
    player.play(["one"], "First.")
    # Another server: it knows of no thread.
    (outcome,) = player.play([length], "Second.")
    assert outcome.text == "3"


class Moved:
    """A hook that sends the second request to another server, which knows of no thread."""

    def __init__(self, agent: Any, url: str) -> None:
        self.agent, self.url, self.n_requests = agent, url, 0

    def __call__(self, request: dict[str, Any]) -> None:
        self.n_requests += 1
        self.agent._client.base_url = (
            self.url if self.n_requests > 1 else self.agent._client.base_url
        )


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_thread_that_the_server_lost_is_begun_anew_within_a_run(
    stream: bool, is_async: bool
) -> None:
    async def play_async(url: str, other: str) -> Outcome:
        async with AsyncAnthropic(base_url=url, api_key="k") as client:
            agent = AsyncAgent(
                client, AsyncMemory.open("memory:lost"), model="m", threads=True, stream=stream
            )
            agent.hooks = Hooks(on_request=Moved(agent, other))
            return await agent.run("Go.")

    def play(url: str, other: str) -> Outcome:
        with Anthropic(base_url=url, api_key="k") as client:
            agent = Agent(
                client, Memory.open("memory:lost"), model="m", threads=True, stream=stream
            )
            agent.hooks = Hooks(on_request=Moved(agent, other))
            return agent.run("Go.")

    with (
        ScriptedMessagesAPI([use_memory("view", path="/memories")]) as first,
        ScriptedMessagesAPI([length]) as second,
    ):
        urls = first.url, second.url
        outcome = asyncio.run(play_async(*urls)) if is_async else play(*urls)
    assert (outcome.text, len(second.requests)) == ("3", 2)


@pytest.mark.parametrize("broken", [{}, {"break_with": overloaded()}], ids=["lost", "error"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_stream_that_broke_off_is_asked_for_again_and_nothing_is_done_twice(
    broken: dict[str, Any], is_async: bool, tmp_path: Any
) -> None:
    heard: list[str] = []
    hooks = Hooks(on_text=heard.append, on_restart=lambda: heard.append("|"))
    create = use_memory("create", path="/memories/a.md", file_text="x")
    script = [
        Reply([text("Hello you"), create], break_after_events=4, **broken),
        [text("Hello you"), create],
        said,
    ]
    player = Player(stream=True, threads=False, is_async=is_async)
    (outcome,) = player.play(script, "Go.", hooks=hooks, memory=str(tmp_path / "memory"))
    assert outcome.text == "File created successfully at: /memories/a.md"
    assert "".join(heard).endswith("|Hello you" + outcome.text)


def test_what_a_hook_raises_ends_the_run_and_the_transcript_stays_whole(player: Player) -> None:
    def refuse(call: Any) -> None:
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        player.play([use_memory("view", path="/memories")], "Go.", hooks=Hooks(on_call=refuse))
    (outcome,) = player.play([said], "Go on.")
    assert outcome.text.startswith("!Error: The call was interrupted")


class CancelAt(Awaitable[Any]):
    """Cancels its task at the ``n``-th point where it waits."""

    def __init__(self, work: Awaitable[Any], n: int) -> None:
        self._work, self._n = work, n

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._work.__await__()
        answer: Any = None
        failure: BaseException | None = None
        for number in itertools.count():
            try:
                waited = steps.throw(failure) if failure else steps.send(answer)
            except StopIteration as end:
                return end.value
            failure = None
            if number == self._n:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            try:
                answer = yield waited
            except BaseException as error:  # noqa: BLE001 - handed on to the work
                failure = error


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_run_that_is_cancelled_at_any_wait_leaves_a_transcript_that_can_be_sent(
    stream: bool, tmp_path: Any
) -> None:
    calls = [
        use_memory("create", path="/memories/a.md", file_text="x"),
        use_memory("view", path="/memories"),
    ]

    async def cancelled_at(number: int) -> bool:
        async with AsyncAnthropic(base_url=api.url, api_key="k", max_retries=0) as client:
            agent = AsyncAgent(
                client, AsyncMemory.open(f"memory:cancel{stream}{number}"), model="m", stream=stream
            )

            async def work() -> Outcome:
                outcome: Outcome = await CancelAt(agent.run("Go."), number)
                return outcome

            task = asyncio.ensure_future(work())
            try:
                await task
            except asyncio.CancelledError:
                transcripts.append(agent.conversation.messages)
                return True
            return False

    def script(received: Received) -> Any:
        return calls if len(received.conversation) == 1 else "Done."

    transcripts: list[Any] = []
    with ScriptedMessagesAPI(script) as api:
        for number in itertools.count():
            if not asyncio.run(cancelled_at(number)):
                break
    assert len(transcripts) >= 5
    for messages in transcripts:
        sendable(messages)
    assert {len(messages) for messages in transcripts} >= {1, 3}


# ---------------------------------------------------------------- what is asked for


def test_without_a_memory_no_memory_tool_is_offered(player: Player) -> None:
    def names(received: Received) -> str:
        return str([tool["name"] for tool in received.tools])

    (outcome,) = player.play([names], "Go.", memory=None, tools=[add])
    assert outcome.text == "['add']"


def test_parameters_betas_and_context_are_sent(player: Player) -> None:
    seen: list[Received] = []

    def look(received: Received) -> str:
        seen.append(received)
        return "fine"

    player.play(
        [look], "Go.", system="Be brief.", context=Context.tool_clearing(),
        params={"metadata": {"user_id": "u"}, "betas": ["interleaved-thinking-2025-05-14"]},
    )  # fmt: skip
    (received,) = seen
    betas = received.headers["anthropic-beta"].split(",")
    assert {"interleaved-thinking-2025-05-14", "context-management-2025-06-27"} <= set(betas)
    assert received.system == "Be brief."
    assert received.body["metadata"] == {"user_id": "u"}
    assert received.body["context_management"]["edits"][0]["exclude_tools"] == ["memory"]


def test_hooks_see_requests_replies_calls_and_results(player: Player) -> None:
    seen: list[str] = []
    hooks = Hooks(
        on_request=lambda request: seen.append("request"),
        on_message=lambda message: seen.append(f"message {message.stop_reason}"),
        on_call=lambda call: seen.append(f"call {call['input']['command']}"),
        on_result=lambda call, result: seen.append(f"result {result['is_error']}"),
    )
    player.play([use_memory("view", path="/memories"), "Done."], "Go.", hooks=hooks)
    turn = ["request", "message tool_use", "call view", "result False"]
    assert seen == [*turn, "request", "message end_turn"]


def test_an_asynchronous_tool_works_in_the_asynchronous_agent_only() -> None:
    class Slow:
        name = "slow"

        def to_dict(self) -> dict[str, Any]:
            return {"name": "slow", "description": "x", "input_schema": {"type": "object"}}

        async def call(self, given: object) -> str:
            await asyncio.sleep(0)
            return "slowly"

    script = [tool_use("slow", {}), said]
    (outcome,) = Player(stream=False, threads=False, is_async=True).play(
        script, "Go.", tools=[Slow()]
    )
    assert outcome.text == "slowly"
    with pytest.raises(Misuse, match="use AsyncAgent"):
        Player(stream=False, threads=False, is_async=False).play(script, "Go.", tools=[Slow()])


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"max_turns": 0}, "max_turns"),
        ({"tools": [add, add]}, "Two tools are named 'add'"),
        (
            {"tools": [{"type": "memory_20250818", "name": "memory"}]},
            "Two tools are named 'memory'",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], wrong: str) -> None:
    player = Player(stream=False, threads=False, is_async=False)
    with pytest.raises(Misuse, match=wrong):
        player.play([], "Go.", **settings)


def test_a_run_without_a_question_or_within_another_is_refused(player: Player) -> None:
    with pytest.raises(Misuse, match="say what the user asks"):
        player.play([], (None, {}))
    agent = Agent(Anthropic(base_url="http://127.0.0.1:1", api_key="k"), None, model="m")

    def again(request: Any) -> None:
        agent.run("Again.")

    agent.hooks = Hooks(on_request=again)
    with pytest.raises(Misuse, match="one run at a time"):
        agent.run("Go.")
