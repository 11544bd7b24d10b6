"""A Messages API on loopback that plays a script: the real SDK, real HTTP, no key, no network.

    from memoranda.testing.messages_api import ScriptedMessagesAPI, use_memory

    with ScriptedMessagesAPI([use_memory("view", path="/memories"), "Nothing there yet."]) as api:
        client = Anthropic(base_url=api.url, api_key="test")

It checks requests as the API does (``messages_checks``), keeps message threads
(``messages_threads``), streams when asked to (``messages_stream``), answers with errors where the
script says so (``messages_failures``) and remembers what it was sent. It speaks what the official
Python SDK 2.14 sends: the stable and the beta form of ``POST /v1/messages``.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from memoranda.testing.messages_checks import check_conversation, check_fields, check_tools
from memoranda.testing.messages_failures import (
    Block,
    Failure,
    RefusedRequest,
    invalid_request,
    not_found,
    overloaded,
    rate_limited,
    refuse,
    server_error,
    unauthorized,
)
from memoranda.testing.messages_http import MessagesHandler
from memoranda.testing.messages_script import (
    Received,
    Reply,
    Result,
    Script,
    Step,
    resolve,
    text,
    tool_use,
    use_memory,
)
from memoranda.testing.messages_threads import Threads

__all__ = [
    "ScriptedMessagesAPI",
    "Reply",
    "text",
    "tool_use",
    "use_memory",
    "Failure",
    "invalid_request",
    "unauthorized",
    "not_found",
    "rate_limited",
    "server_error",
    "overloaded",
    "Received",
    "Result",
    "Script",
    "Step",
]

_CHARS_PER_TOKEN: Final = 4
_SCRIPT_FAILED: Final = Failure(500, "api_error", "The script failed.", retry=False)


class ScriptedMessagesAPI:
    """A loopback server that answers with the turns of ``script``; use it in a ``with``.

    ``script`` is a sequence of turns (a text, a block, blocks, a ``Reply``, a ``Failure``, or a
    function of what was ``Received`` that makes one of these) or one function that makes every
    turn. Each accepted request takes the next turn; one beyond the last is refused with a 400 that
    says so. ``failures`` maps request numbers (from 1, retries count) to what they are answered
    with instead; they take no turn.

    ``api_key`` is the only key accepted; None accepts any. ``alternate_roles`` False joins
    neighbouring messages of one role, as the API does; True refuses them, which shows that a loop
    answered the calls of one turn in several messages.

    ``requests`` and ``answers`` are parallel: what came, refused requests too, and the message or
    ``Failure`` that went out. Safe with many clients at once: functions run on the thread of their
    request, and a sequence is played in the order in which requests are accepted. What a function
    raises, a failed assertion too, is raised again when the ``with`` ends; the client gets a 500.
    """

    def __init__(
        self,
        script: Script,
        *,
        failures: Mapping[int, Failure] | None = None,
        api_key: str | None = None,
        alternate_roles: bool = True,
    ) -> None:
        self.requests: list[Received] = []
        self.answers: list[Block | Failure] = []
        self._script = script
        self._failures = dict(failures or {})
        self._api_key = api_key
        self._alternate_roles = alternate_roles
        self._threads = Threads()
        self._paused: list[Block] = []
        # Makes the ids of one server differ from those of every other.
        self._run = secrets.token_hex(6)
        # Guards the lists, the counter and the place in the script.
        self._lock = threading.Lock()
        self._ids = 0
        self._turns = 0
        self._server: _Server | None = None
        self._error: BaseException | None = None

    # ---- life

    @property
    def url(self) -> str:
        """The base URL for the client, ``http://127.0.0.1:...``; only while it runs."""
        assert self._server is not None, "the API runs inside its with block only"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def finished(self) -> bool:
        """Whether every turn of the script was played (a function is never finished)."""
        return not callable(self._script) and self._turns == len(self._script)

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.stop()
        self._server = None
        if self._error is not None:
            raise self._error

    # ---- answering, called by the handler on the request's thread

    def answer(self, received: Received, problem: Failure | None) -> tuple[Block | Failure, Reply]:
        """What goes back for a request, and the reply it was made from (for how to send it).

        ``received`` is not numbered yet; ``problem`` is what the HTTP side found wrong with it.
        """
        with self._lock:
            number = len(self.requests) + 1
            received = replace(received, number=number)
            self.requests.append(received)
            self.answers.append(_SCRIPT_FAILED)
        answer: Block | Failure = _SCRIPT_FAILED
        reply = Reply("")
        try:
            problem = self._failures.get(number, problem)
            if problem is not None:
                raise RefusedRequest(problem)
            answer, reply = self._converse(received)
        except RefusedRequest as refused:
            answer = refused.failure
        except BaseException as error:  # noqa: BLE001 # a failed assertion in a script must come out
            self.fail(error)
        with self._lock:
            self.answers[number - 1] = answer
        return answer, reply

    def fail(self, error: BaseException) -> None:
        """Raise ``error``, unless there was one before, when the ``with`` ends."""
        self._error = self._error or error

    def count_tokens(self, received: Received) -> Block | Failure:
        """What goes back for a question how long a conversation is."""
        counted = [received.body.get(part) for part in ("system", "tools", "messages")]
        return {"input_tokens": _tokens(counted)}

    def new_id(self, prefix: str) -> str:
        """An id that no other thing of any server of this process has."""
        with self._lock:
            self._ids += 1
            return f"{prefix}_{self._run}{self._ids:06d}"

    def _converse(self, received: Received) -> tuple[Block, Reply]:
        body = received.body
        self._check_key(received.headers)
        betas = [name.strip() for name in received.headers.get("anthropic-beta", "").split(",")]
        check_fields(body, betas)
        with self._threads.turn(body) as turn:
            conversation = (*turn.history, *body["messages"])
            check_conversation(
                conversation,
                len(turn.history),
                betas,
                self._is_paused,
                alternate_roles=self._alternate_roles,
            )
            fields = turn.fields or body
            given = fields.get("tools")
            tools: list[Block] = [] if given is None else given
            check_tools(tools, body.get("tool_choice"))
            seen = replace(
                received,
                conversation=conversation,
                tools=tuple(tools),
                system=fields.get("system"),
            )
            with self._lock:
                self.requests[seen.number - 1] = seen
            reply = self._next_reply(seen)
            message = self._message(reply, seen)
            spoken: Block = {"role": "assistant", "content": message["content"]}
            if message["stop_reason"] == "pause_turn":
                self._paused.append(spoken)
            # Kept before a byte goes out: a quick client continues as soon as it has the last one.
            if turn.kept and reply.break_after_events is None and reply.stop_reason != "refusal":
                turn.keep(message["id"], (*conversation, spoken))
        return message, reply

    def _check_key(self, headers: Mapping[str, str]) -> None:
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if not given or (self._api_key is not None and given != self._api_key):
            raise RefusedRequest(unauthorized())
        if not headers.get("anthropic-version"):
            raise refuse("anthropic-version", "This header is required.")

    def _is_paused(self, message: Block) -> bool:
        return message in self._paused

    def _next_reply(self, received: Received) -> Reply:
        if callable(self._script):
            said = resolve(self._script, received)
        else:
            with self._lock:
                if self._turns == len(self._script):
                    raise RefusedRequest(
                        invalid_request(f"The script is over: it has {self._turns} turns.")
                    )
                step = self._script[self._turns]
                self._turns += 1
            said = resolve(step, received)
        if isinstance(said, Failure):
            raise RefusedRequest(said)
        return said

    def _message(self, reply: Reply, received: Received) -> Block:
        content = [text(reply.content)] if isinstance(reply.content, str) else list(reply.content)
        for index, block in enumerate(content):
            if block["type"] == "tool_use" and block.get("id") is None:
                content[index] = {**block, "id": self.new_id("toolu")}
        calls = any(block["type"] == "tool_use" for block in content)
        read = _tokens([received.system, received.tools, received.conversation])
        return {
            "id": self.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": received.body["model"],
            "content": content,
            "stop_reason": reply.stop_reason or ("tool_use" if calls else "end_turn"),
            "stop_sequence": reply.stop_sequence,
            "stop_details": {"type": "refusal"} if reply.stop_reason == "refusal" else None,
            "usage": {
                "input_tokens": read,
                "output_tokens": _tokens(content),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                **(reply.usage or {}),
            },
        }


def _tokens(what: Any) -> int:
    return max(1, len(json.dumps(what)) // _CHARS_PER_TOKEN)


class _Server(ThreadingHTTPServer):
    """Takes connections on a thread of its own, and ends them all when it stops."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, api: ScriptedMessagesAPI) -> None:
        super().__init__(("127.0.0.1", 0), MessagesHandler)
        self.api = api
        self._stopping = False
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._take, name="scripted-messages-api")

    def start(self) -> None:
        """Take connections from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more, end those that are open, and wait for their threads."""
        self._stopping = True
        # The thread waits without a time limit; one more connection wakes it.
        with socket.create_connection(("127.0.0.1", self.server_address[1])):
            self._thread.join()
        with self._lock:
            for connection in self._connections:
                # Its client may have ended it in this moment.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def _take(self) -> None:
        while not self._stopping:
            self.handle_request()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        # A client may leave whenever it likes.
        if error is not None and not isinstance(error, OSError):
            self.api.fail(error)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)
