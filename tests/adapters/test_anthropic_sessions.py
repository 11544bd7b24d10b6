"""The SDK's session tool runner with our tools: it takes built-in tools by their name."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from anthropic.lib.environments import DispatchedToolCall

from memoranda.adapters.anthropic import AsyncMemoryTool, MemoryTool

WHEN = "2026-11-30T09:00:00Z"


class SessionServer(ThreadingHTTPServer):
    """One session's events on loopback: a call at a time, the next one after its result."""

    def __init__(self, calls: list[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), SessionHandler)
        self.calls = calls
        self.results: queue.Queue[dict[str, Any]] = queue.Queue()
        self.posted: list[dict[str, Any]] = []
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Any:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class SessionHandler(BaseHTTPRequestHandler):
    @property
    def session(self) -> SessionServer:
        assert isinstance(self.server, SessionServer)
        return self.server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(200)
        if self.path.partition("?")[0].endswith("/events/stream"):
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for number, call in enumerate(self.session.calls):
                event = {"id": f"evt_{number}", "processed_at": WHEN, **call}
                self.send_event(event)
                self.session.posted.append(self.session.results.get(timeout=30))
            ended = {"type": "session.status_terminated", "id": "evt_end", "processed_at": WHEN}
            self.send_event(ended)
        else:
            self.send_json({"data": [], "next_page": None})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_json({"data": []})
        for event in body["events"]:
            self.session.results.put(event)

    def send_event(self, event: dict[str, Any]) -> None:
        self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def send_json(self, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def call(kind: str, **tool_input: Any) -> dict[str, Any]:
    return {"type": kind, "name": "memory", "input": tool_input}


@pytest.mark.parametrize("kind", ["agent.custom_tool_use", "agent.tool_use"])
@pytest.mark.parametrize("tool_class", [MemoryTool, AsyncMemoryTool])
def test_a_session_runs_memory_commands_and_gets_their_answers(
    kind: str, tool_class: Any, tmp_path: Path
) -> None:
    calls = [
        call(kind, command="create", path="/memories/a.md", file_text="one\n"),
        call(kind, command="view", path="/memories/a.md"),
        call(kind, command="view", path="/memories/missing.md"),
        call(kind),
    ]
    tool = tool_class(tmp_path / "m")

    async def go(url: str) -> list[DispatchedToolCall]:
        async with AsyncAnthropic(base_url=url, api_key="k") as client:
            runner = client.beta.sessions.events.tool_runner("sesn_1", tools=[tool])
            return [done async for done in runner]

    with SessionServer(calls) as server:
        dispatched = asyncio.run(go(f"http://127.0.0.1:{server.server_address[1]}"))
    assert [done.is_error for done in dispatched] == [False, False, True, True]
    assert all(done.posted for done in dispatched)
    answer = "user.tool_result" if kind == "agent.tool_use" else "user.custom_tool_result"
    assert [result["type"] for result in server.posted] == [answer] * 4
    texts = [result["content"][0]["text"] for result in server.posted]
    assert texts[1] == "Here's the content of /memories/a.md with line numbers:\n     1\tone"
    assert texts[2] == (
        "The path /memories/missing.md does not exist. Please provide a valid path."
    )
    # The runner closes its tools; ours go on when they are used again.
    again = {"command": "view", "path": "/memories/a.md"}
    shown = tool.call(again)
    if tool_class is AsyncMemoryTool:
        shown = asyncio.run(shown)
    assert shown == texts[1]
