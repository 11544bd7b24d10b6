"""The tool-use loop: ask, do what Claude calls for, answer, until Claude has done.

What to do next is decided once, in ``_steps``, which does no I/O; ``Agent`` and ``AsyncAgent`` do the
requests and calls it asks for.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, Required, TypeAlias, TypedDict, Unpack, cast

from memoranda import reply
from memoranda.agent.context import Context
from memoranda.agent.conversation import Conversation
from memoranda.agent.hooks import Hooks
from memoranda.agent.outcome import Outcome, UsageTotals
from memoranda.errors import Misuse
from memoranda.tool_block import tool_result

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic

    from memoranda.agent.outcome import Block, Stop
    from memoranda.async_memory import AsyncMemory
    from memoranda.memory import Memory

MEMORY_TOOL: Final = {"type": "memory_20250818", "name": "memory"}
THREADS_BETA: Final = "message-threads-2026-08-12"

DEFAULT_MAX_TOKENS: Final = 4096
DEFAULT_MAX_TURNS: Final = 50

_MENDED_CUTS: Final = 2
"""How often in a row a reply that was cut off within a call is answered, so that Claude goes on."""

_GOES_ON: Final = {"pause_turn", "compaction"}
"""The server handed the turn back before Claude had done; the next request continues it."""


class Call(tuple[str, "Block"]):
    """A ``tool_use`` block that is to be done, and by which tool."""

    __slots__ = ()


class Request(dict[str, Any]):
    """The parameters of a request that is to be sent."""


_Steps: TypeAlias = Generator["Request | Call", Any, Outcome]


class Settings(TypedDict, total=False):
    """What an agent can be told beside its client and its memory."""

    model: Required[str]
    max_tokens: int
    """Of one reply; default 4,096."""
    system: str | None
    tools: Iterable[Any]
    """Further tools: the SDK's runnable ones are called here, dicts go to the API as they are."""
    context: Context
    """What the server clears and sums up; nothing unless given."""
    max_turns: int
    """Replies of one run; default 50."""
    stream: bool
    """Whether replies arrive in pieces, for ``Hooks.on_text``."""
    threads: bool
    """Whether the server keeps the conversation, so that a request sends only what is new."""
    params: Mapping[str, Any]
    """Further parameters of a request: ``temperature``, ``thinking``, ``metadata``, ..."""
    hooks: Hooks
    conversation: Conversation
    """A transcript to go on from; a new one unless given."""


class _Loop:
    """What both agents share: the settings, the transcript, and what to do next."""

    def __init__(self, has_memory: bool, settings: Settings) -> None:
        self.model = settings["model"]
        self.max_tokens = settings.get("max_tokens", DEFAULT_MAX_TOKENS)
        self.system = settings.get("system")
        self.context = settings.get("context") or Context()
        self.max_turns = settings.get("max_turns", DEFAULT_MAX_TURNS)
        self.stream = settings.get("stream", False)
        self.threads = settings.get("threads", False)
        self.params = dict(settings.get("params", {}))
        self.hooks = settings.get("hooks") or Hooks()
        self.conversation = settings.get("conversation") or Conversation()
        self.has_memory = has_memory
        if self.max_turns < 1:
            raise Misuse(f"max_turns has to be 1 or more; it is {self.max_turns}.")
        self._entries: list[Block] = [dict(MEMORY_TOOL)] if self.has_memory else []
        self._runnable: dict[str, Any] = {}
        names = {"memory"} if self.has_memory else set[str]()
        for tool in settings.get("tools", ()):
            is_entry = isinstance(tool, Mapping)
            entry = dict(cast("Mapping[str, Any]", tool) if is_entry else tool.to_dict())
            name = str(entry.get("name"))
            if name in names:
                raise Misuse(f"Two tools are named {name!r}.")
            names.add(name)
            self._entries.append(entry)
            if not is_entry:
                self._runnable[name] = tool
        # Tools that the application does itself; a server's tool is never called here.
        self._waiting_for_us = {
            str(entry["name"])
            for entry in self._entries
            if "input_schema" in entry and entry["name"] not in self._runnable
        }
        self._thread: str | None = None
        self._n_held = 0  # messages that the thread on the server holds
        self._is_running = False

    # ---- one run

    def _steps(self, content: str | Iterable[object] | None, results: Iterable[Block]) -> _Steps:
        for result in results:
            self.conversation.answer(result)
        if content is not None:
            self.conversation.ask(content)
        elif self.conversation.is_users_turn:
            raise Misuse("There is nothing to answer: say what the user asks.")
        usage, n_cuts, n_turns = UsageTotals(), 0, 0
        message: Any = None
        while n_turns < self.max_turns:
            n_turns += 1
            message = yield self._request()
            usage = usage.plus(message.usage)
            self.hooks.on_message(message)
            stop = str(message.stop_reason)
            if stop == "refusal":
                self._thread = None  # it would hold the refused reply
                return Outcome("refusal", message, n_turns, usage)
            self._take(message, is_final=stop not in _GOES_ON)
            if stop in _GOES_ON:
                continue
            if stop in {"max_tokens", "model_context_window_exceeded"}:
                n_cuts += 1
                was_calling = bool(self.conversation.open_calls)
                # The last call may be a half; Claude reads that none of them was done.
                self.conversation.answer_open(reply.call_cut_off())
                if stop == "max_tokens" and was_calling and n_cuts <= _MENDED_CUTS:
                    continue
                return Outcome(cast("Stop", stop), message, n_turns, usage)
            n_cuts = 0
            if not self.conversation.open_calls:
                ended: Stop = "stop_sequence" if stop == "stop_sequence" else "end_turn"
                return Outcome(ended, message, n_turns, usage)
            yield from self._answers()
            pending = self.conversation.open_calls
            if pending:
                return Outcome("tool_use", message, n_turns, usage, pending)
        return Outcome("max_turns", message, n_turns, usage)

    def _answers(self) -> Generator[Call, Any, None]:
        """Have every call done that isn't the application's own."""
        for call in self.conversation.open_calls:
            name = str(call["name"])
            if name in self._waiting_for_us:
                continue
            self.hooks.on_call(call)
            if name in self._runnable or (name == "memory" and self.has_memory):
                result = yield Call((name, call))
            else:
                result = tool_result(call["id"], reply.unknown_tool(name))
            self.conversation.answer(result)
            self.hooks.on_result(call, result)

    def _request(self) -> Request:
        extra = dict(self.params)
        context = self.context.params
        betas = [*extra.pop("betas", ()), *context.pop("betas", ())]
        request = Request({**context, **extra, "model": self.model, "max_tokens": self.max_tokens})
        request["messages"] = self.conversation.messages
        if self.threads:
            betas.append(THREADS_BETA)
        if self.threads and self._thread is not None:
            # A thread keeps the tools and the system prompt that it was created with.
            request["messages"] = request["messages"][self._n_held :]
            request["thread"] = {"type": "continue", "previous_message_id": self._thread}
        else:
            if self.threads:
                request["thread"] = {"type": "create"}
            if self.system is not None:
                request["system"] = self.system
            if self._entries:
                request["tools"] = self._entries
        if betas:
            request["betas"] = betas
        self.hooks.on_request(request)
        return request

    def _take(self, message: Any, *, is_final: bool) -> None:
        before = len(self.conversation.messages)
        self.conversation.add_reply(message, is_final=is_final)
        self._n_held = len(self.conversation.messages)
        # An empty reply is in no transcript of ours: the thread would differ from it.
        self._thread = message.id if self._n_held > before else None

    def _begin(self) -> None:
        if self._is_running:
            raise Misuse("The agent is at work; one conversation has one run at a time.")
        self._is_running = True

    def _end(self, *, keeps_calls: bool) -> None:
        self._is_running = False
        if not keeps_calls:
            self.conversation.interrupt()

    def _forget_thread(self, error: Exception) -> bool:
        """Whether the request may be sent anew, with the whole history, since the server has let go
        of the thread."""
        is_lost = self._thread is not None and getattr(error, "status_code", None) == 404
        if is_lost:
            self._thread = None
        return is_lost


class Agent(_Loop):
    """Claude with a memory and tools, for an ``Anthropic`` client.

    ``memory`` is the ``Memory`` of the user that Claude speaks with; None for none. ``Settings`` has
    the rest. Calls of a client tool that was given as a dict come back in ``Outcome.pending``.

    One conversation an agent; not for several threads at once. The SDK repeats requests that failed
    (``max_retries`` of the client); what it gives up on is raised as its own error, after which
    ``run()`` goes on where it stopped.
    """

    def __init__(
        self, client: Anthropic, memory: Memory | None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(memory is not None, settings)
        self._client = client
        self._memory = memory

    def run(
        self, content: str | Iterable[object] | None = None, *, results: Iterable[Block] = ()
    ) -> Outcome:
        """Go on until Claude has done, and say how it ended.

        ``content`` is what the user says; None to go on after an error or with ``results``, the
        ``tool_result`` blocks for ``Outcome.pending``. Raises the SDK's errors and ``Misuse``;
        whatever happens, ``conversation.messages`` can be sent.
        """
        self._begin()
        outcome: Outcome | None = None
        steps = self._steps(content, results)
        try:
            answer: Any = None
            while True:
                step = steps.send(answer)
                answer = self._call(*step) if isinstance(step, Call) else self._message(step)
        except StopIteration as end:
            outcome = end.value
            return cast("Outcome", outcome)
        finally:
            steps.close()
            self._end(keeps_calls=outcome is not None)

    def _message(self, request: Request) -> Any:
        messages = cast("Any", self._client.beta.messages)
        tries = self._client.max_retries
        while True:
            has_begun = False
            try:
                if not self.stream:
                    return messages.create(**request)
                with messages.stream(**request) as stream:
                    has_begun = True
                    for event in stream:
                        if event.type == "text":
                            self.hooks.on_text(event.text)
                    return stream.get_final_message()
            except Exception as error:
                if self._forget_thread(error):
                    request = self._request()
                elif has_begun and tries and broke_off(error):
                    tries -= 1
                    self.hooks.on_restart()
                else:
                    raise

    def _call(self, name: str, call: Block) -> Block:
        tool = self._runnable.get(name)
        if tool is None:
            return cast("Memory", self._memory).tool_result(call)
        try:
            content = tool.call(call["input"])
        except Exception as error:  # noqa: BLE001 - a tool is the application's; Claude reads how it failed
            return failed(call, error)
        if isawaitable(content):
            cast("Any", content).close()
            raise Misuse(f"The tool {name!r} is asynchronous: use AsyncAgent.")
        return done(call, content)


class AsyncAgent(_Loop):
    """``Agent`` for an ``AsyncAnthropic`` client and an ``AsyncMemory``. Tools may be either kind.

    A run that is cancelled ends at its next wait. A write that has begun is still done; calls
    without an answer are answered as interrupted, so that the transcript stays whole.
    """

    def __init__(
        self, client: AsyncAnthropic, memory: AsyncMemory | None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(memory is not None, settings)
        self._client = client
        self._memory = memory

    async def run(
        self, content: str | Iterable[object] | None = None, *, results: Iterable[Block] = ()
    ) -> Outcome:
        """``Agent.run``, awaited."""
        self._begin()
        outcome: Outcome | None = None
        steps = self._steps(content, results)
        try:
            answer: Any = None
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    outcome = end.value
                    return cast("Outcome", outcome)
                if isinstance(step, Call):
                    answer = await self._call(*step)
                else:
                    answer = await self._message(step)
        finally:
            steps.close()
            self._end(keeps_calls=outcome is not None)

    async def _message(self, request: Request) -> Any:
        messages = cast("Any", self._client.beta.messages)
        tries = self._client.max_retries
        while True:
            has_begun = False
            try:
                if not self.stream:
                    return await messages.create(**request)
                async with messages.stream(**request) as stream:
                    has_begun = True
                    async for event in stream:
                        if event.type == "text":
                            self.hooks.on_text(event.text)
                    return await stream.get_final_message()
            except Exception as error:
                if self._forget_thread(error):
                    request = self._request()
                elif has_begun and tries and broke_off(error):
                    tries -= 1
                    self.hooks.on_restart()
                else:
                    raise

    async def _call(self, name: str, call: Block) -> Block:
        tool = self._runnable.get(name)
        if tool is None:
            return await cast("AsyncMemory", self._memory).tool_result(call)
        try:
            content = tool.call(call["input"])
            if isawaitable(content):
                content = await content
        except Exception as error:  # noqa: BLE001 - a tool is the application's; Claude reads how it failed
            return failed(call, error)
        return done(call, content)


def done(call: Block, content: Any) -> Block:
    """The block that says what a tool gave."""
    return tool_result(call["id"], reply.ToolResult(content, is_error=False))


def failed(call: Block, error: Exception) -> Block:
    """The block that says how a tool failed: the SDK's ``ToolError`` brings its own content."""
    from anthropic.lib.tools import ToolError

    if isinstance(error, ToolError):
        return tool_result(call["id"], reply.ToolResult(cast("Any", error).content, is_error=True))
    return tool_result(call["id"], reply.tool_failed(str(call["name"]), error))


def broke_off(error: Exception) -> bool:
    """Whether a stream ended before its reply did, so that asking again does nothing twice."""
    from anthropic import APIConnectionError, APIStatusError
    from httpx2 import TransportError

    if isinstance(error, APIStatusError):
        return error.status_code == 200 or error.status_code >= 500
    return isinstance(error, APIConnectionError | TransportError)
