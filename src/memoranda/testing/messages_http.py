"""The HTTP side of the scripted Messages API: requests in, JSON or events out."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from memoranda.testing.messages_failures import Block, Failure, invalid_request, not_found
from memoranda.testing.messages_script import Received, Reply
from memoranda.testing.messages_stream import PING, event_bytes, events

if TYPE_CHECKING:
    from memoranda.testing.messages_api import ScriptedMessagesAPI

MAX_BODY_BYTES: Final = 32 * 1024 * 1024
"""The API's limit for one request."""

_IDLE_SECONDS: Final = 60


class MessagesHandler(BaseHTTPRequestHandler):
    """One connection of a client; requests on it are answered one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS

    @property
    def _api(self) -> ScriptedMessagesAPI:
        return cast("Any", self.server).api  # type: ignore[no-any-return]

    def do_POST(self) -> None:
        """Answer a request for a message, or for the length of one."""
        raw = self._read_body()
        if raw is None:
            return
        where = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body, problem = _parse(raw)
        received = Received(0, where.path, where.query, headers, body)
        if where.path == "/v1/messages":
            answer, reply = self._api.answer(received, problem)
            self._send(answer, reply, streamed=body.get("stream") is True)
        elif where.path == "/v1/messages/count_tokens":
            self._send(problem or self._api.count_tokens(received), Reply(""))
        else:
            self._send(not_found(f"Nothing is at {where.path}."), Reply(""))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # as inherited
        """Say nothing: what was asked is in ``ScriptedMessagesAPI.requests``."""

    def _read_body(self) -> bytes | None:
        length = self.headers.get("content-length", "")
        # Above 12 digits no number is worth reading.
        if not (length.isascii() and length.isdigit() and len(length) <= 12):
            problem = Failure(411, "invalid_request_error", "A content-length is required.")
        elif int(length) > MAX_BODY_BYTES:
            problem = Failure(413, "request_too_large", f"At most {MAX_BODY_BYTES} bytes.")
        else:
            return self.rfile.read(int(length))
        # The body stays unread, so nothing more can be read from this connection.
        self.close_connection = True
        self._send(problem, Reply(""))
        return None

    def _send(self, answer: Block | Failure, reply: Reply, *, streamed: bool = False) -> None:
        if isinstance(answer, Failure):
            request_id = self._api.new_id("req")
            self._send_json(answer.status, answer.body(request_id), request_id, answer.headers())
        elif streamed:
            self._send_events(answer, reply)
        elif reply.break_after_events is None:
            self._send_json(200, answer, self._api.new_id("req"), {})
        else:
            self.close_connection = True

    def _send_json(
        self, status: int, body: Block, request_id: str, headers: dict[str, str]
    ) -> None:
        raw = json.dumps(body).encode()
        self._start(status, request_id, {"content-type": "application/json", **headers})
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _send_events(self, message: Block, reply: Reply) -> None:
        headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        self._start(200, self._api.new_id("req"), headers)
        self.end_headers()
        for count, event in enumerate(events(message)):
            if count == reply.break_after_events:
                break
            self._send_chunk(event_bytes(event))
            if count == 0:
                self._send_chunk(PING)
        else:
            self._send_chunk(b"")
            return
        if reply.break_with is not None:
            self._send_chunk(event_bytes(reply.break_with.body(self._api.new_id("req"))))
            self._send_chunk(b"")
        self.close_connection = True

    def _start(self, status: int, request_id: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("request-id", request_id)
        for name, value in headers.items():
            self.send_header(name, value)

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _parse(raw: bytes) -> tuple[Block, Failure | None]:
    """The body as an object, empty where it is none, and what is wrong with it."""
    try:
        body = json.loads(raw, parse_constant=_no_constant)
        # An unpaired surrogate can be escaped in JSON, but is no text.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return {}, invalid_request("The request body is not valid JSON.")
    if not isinstance(body, dict):
        return {}, invalid_request("The request body should be an object.")
    return cast("Block", body), None


def _no_constant(name: str) -> Any:
    raise ValueError(name)
