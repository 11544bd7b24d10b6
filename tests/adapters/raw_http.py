"""Requests to the scripted API without the SDK, so that they can be wrong in every way."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

HEADERS = {
    "authorization": "Bearer test",
    "anthropic-version": "2026-10-21",
    "content-type": "application/json",
}
THREADS = {"anthropic-beta": "message-threads-2026-08-12"}
MEMORY = {"type": "memory_20250818", "name": "memory"}
CREATE = {"type": "create"}


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def error(self) -> str:
        """The error's message."""
        return str(self.body["error"]["message"])


def request_body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A good body with these messages; a field given as None is left out."""
    body = {
        "model": "claude-test",
        "max_tokens": 100,
        "tools": [MEMORY],
        "messages": list(messages) or [user("Hello")],
        **fields,
    }
    return {name: value for name, value in body.items() if value is not None}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def call(tool_use_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_use_id, "name": "memory", "input": {"command": "view"}}


def result(tool_use_id: str, content: Any = "Done.", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": content, **fields}


def send(
    url: str,
    body: Any,
    headers: Mapping[str, str] | None = None,
    *,
    path: str = "/v1/messages",
) -> Answer:
    """Post ``body`` (bytes go as they are) and read the whole answer."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.request("POST", path, raw, {**HEADERS, **(headers or {})})
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    found = {name.lower(): value for name, value in response.getheaders()}
    is_json = found.get("content-type") == "application/json"
    return Answer(response.status, found, json.loads(content) if is_json else content)
