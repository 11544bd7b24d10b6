"""Scripted models of other providers on loopback: OpenAI's two APIs and Gemini's, as their own
clients speak them. No key, no network.

    with OtherModels(script) as models:
        client = OpenAI(base_url=models.openai_url, api_key="any")

``script`` is asked at every turn: what is said is a text, or the arguments of a call of the
function ``memory``; a text inside ``Raw`` is sent as arguments the way it is.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self, TypeAlias


class Seen(NamedTuple):
    """What a model sees: the last result of a function (None: it was just asked), and the request."""

    result: str | None
    body: dict[str, Any]


class Raw(NamedTuple):
    """Arguments as no model should send them; ``name`` of the function too."""

    arguments: str
    name: str = "memory"


Said: TypeAlias = str | dict[str, Any] | Raw
Script: TypeAlias = Callable[[Seen], Said]


class OtherModels(ThreadingHTTPServer):
    """The server; use it in a ``with``. ``seen`` has what every request showed the model."""

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.seen: list[Seen] = []
        self.ids = itertools.count(1)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """The address, without a path; Gemini's client takes it like this."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's client."""
        return f"{self.url}/v1"

    @property
    def environment(self) -> Mapping[str, str]:
        """What the clients read from the environment."""
        return {
            "OPENAI_API_KEY": "any",
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "GEMINI_API_KEY": "any",
            "GOOGLE_GEMINI_BASE_URL": self.url,
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        assert isinstance(self.server, OtherModels)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/chat/completions"):
            read, answer = _chat_result, _chat_answer
        elif self.path.endswith("/responses"):
            read, answer = _responses_result, _responses_answer
        else:
            assert self.path.endswith(":generateContent"), self.path
            read, answer = _gemini_result, _gemini_answer
        seen = Seen(read(body), body)
        self.server.seen.append(seen)
        said = self.server.script(seen)
        if isinstance(said, dict):
            said = Raw(json.dumps(said))
        raw = json.dumps(answer(said, next(self.server.ids), body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


# ---------------------------------------------------------------- Chat Completions


def _chat_result(body: dict[str, Any]) -> str | None:
    last = body["messages"][-1]
    return last["content"] if last["role"] == "tool" else None


def _chat_answer(said: str | Raw, number: int, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if isinstance(said, Raw):
        function = {"name": said.name, "arguments": said.arguments}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    else:
        message["content"] = said
    reason = "tool_calls" if isinstance(said, Raw) else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


# ---------------------------------------------------------------- Responses


def _responses_result(body: dict[str, Any]) -> str | None:
    if isinstance(body["input"], str):
        return None
    last = body["input"][-1]
    if last.get("type") != "function_call_output":
        return None
    if isinstance(last["output"], str):
        return last["output"]
    return "\n".join(part["text"] for part in last["output"] if part["type"] == "input_text")


def _responses_answer(said: str | Raw, number: int, body: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any]
    if isinstance(said, Raw):
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": said.name,
            "arguments": said.arguments,
            "status": "completed",
        }
    else:
        item = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": said, "annotations": []}],
        }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "completed",
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


# ---------------------------------------------------------------- Gemini


def _gemini_result(body: dict[str, Any]) -> str | None:
    part = body["contents"][-1]["parts"][-1]
    if "functionResponse" not in part:
        return None
    (text,) = part["functionResponse"]["response"].values()
    return str(text)


def _gemini_answer(said: str | Raw, number: int, body: dict[str, Any]) -> dict[str, Any]:
    part: dict[str, Any]
    if isinstance(said, Raw):
        arguments = json.loads(said.arguments)
        part = {"functionCall": {"id": f"call-{number}", "name": said.name, "args": arguments}}
    else:
        part = {"text": said}
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "gemini-test",
    }
