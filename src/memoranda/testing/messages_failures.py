"""The errors that a scripted Messages API answers with, in the API's envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Block: TypeAlias = dict[str, Any]
"""A JSON object: a message, a content block, a tool entry, an error."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error answer: HTTP ``status``, the error's type, and its message.

    ``retry_after_seconds`` goes into the ``retry-after`` header, which the SDK obeys before it
    tries again. ``details`` becomes ``error.details`` (message threads report there).
    ``retry`` False tells the SDK not to try again at all, whatever the status.
    """

    status: int
    kind: str
    message: str
    retry_after_seconds: float | None = None
    details: Mapping[str, Any] | None = None
    retry: bool | None = None

    def body(self, request_id: str) -> Block:
        """The error envelope as the API sends it."""
        error: Block = {"type": self.kind, "message": self.message}
        if self.details is not None:
            error["details"] = dict(self.details)
        return {"type": "error", "error": error, "request_id": request_id}

    def headers(self) -> dict[str, str]:
        """The headers that go with it."""
        headers: dict[str, str] = {}
        if self.retry_after_seconds is not None:
            headers["retry-after"] = f"{self.retry_after_seconds:g}"
        if self.retry is not None:
            headers["x-should-retry"] = "true" if self.retry else "false"
        return headers


# The SDK waits half a second and more before it tries again unless the answer says how long.
# A thousandth keeps tests quick and still goes through its waiting code.
_AT_ONCE: Final = 0.001


def invalid_request(message: str, details: Mapping[str, Any] | None = None) -> Failure:
    """400: something is wrong with the request."""
    return Failure(400, "invalid_request_error", message, details=details)


def unauthorized(message: str = "The API key is missing or wrong.") -> Failure:
    """401: no key, or a wrong one."""
    return Failure(401, "authentication_error", message)


def not_found(message: str, details: Mapping[str, Any] | None = None) -> Failure:
    """404: there is no such thing."""
    return Failure(404, "not_found_error", message, details=details)


def rate_limited(retry_after_seconds: float = _AT_ONCE) -> Failure:
    """429: too many requests; try again after ``retry_after_seconds``."""
    return Failure(429, "rate_limit_error", "Too many requests.", retry_after_seconds)


def server_error(retry_after_seconds: float | None = _AT_ONCE) -> Failure:
    """500: the server failed."""
    return Failure(500, "api_error", "The server failed.", retry_after_seconds)


def overloaded(retry_after_seconds: float | None = _AT_ONCE) -> Failure:
    """529: the API is overloaded."""
    return Failure(529, "overloaded_error", "Overloaded.", retry_after_seconds)


class RefusedRequest(Exception):
    """A request is answered with ``failure``."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def refuse(where: str, why: str) -> RefusedRequest:
    """A 400 that says ``why``, about the part of the body that ``where`` names."""
    return RefusedRequest(invalid_request(f"{where}: {why}"))
