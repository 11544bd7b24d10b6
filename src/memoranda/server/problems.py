"""What goes wrong, as the Memory Stores API says it: a status, a type, a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from memoranda.errors import (
    BadPath,
    Conflict,
    FileTooLarge,
    Held,
    MemorandaError,
    Misuse,
    PreconditionFailed,
    TooManyCommands,
    Unavailable,
)
from memoranda.reply import path_fault

_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    409: "conflict_error",
    410: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}

DONT_RETRY: Final = {"x-should-retry": "false"}
"""The official SDKs repeat every 409 by themselves; these can't succeed unchanged."""


class Problem(Exception):
    """An answer that is an error. ``more`` stands beside the message, ``details`` in its object."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str | None = None,
        more: Mapping[str, Any] | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind or _TYPES[status]
        self.more = dict(more or {})
        self.details = details
        self.headers = dict(headers or {})

    def body(self, request_id: str) -> bytes:
        """The answer's JSON."""
        error: dict[str, Any] = {"type": self.kind, "message": self.message, **self.more}
        if self.details is not None:
            error["details"] = self.details
        return json.dumps({"type": "error", "error": error, "request_id": request_id}).encode()


def not_allowed(message: str) -> Problem:
    """The key is good, but not for this."""
    return Problem(403, message)


def unknown_route() -> Problem:
    """Nothing is at this path."""
    return Problem(404, "There is nothing at this path. The API's paths begin with /v1/.")


def unexpected() -> Problem:
    """What nobody foresaw; the log has where."""
    return Problem(500, "Something unexpected happened. The server's log has the request id.")


def problem_of(error: MemorandaError) -> Problem:
    """How an error of ours is answered; each class says its status."""
    match error:
        case BadPath():
            reason = str(error) if error.reason is None else path_fault(error.reason)
            return Problem(400, reason)
        case PreconditionFailed():
            return Problem(
                409, str(error), kind="memory_precondition_failed_error", headers=DONT_RETRY
            )
        case Conflict():
            return Problem(409, "Other writers were faster each time; try again.")
        case Held():
            return Problem(409, str(error), kind="invalid_request_error", headers=DONT_RETRY)
        case TooManyCommands():
            return Problem(429, str(error), headers={"retry-after": str(error.seconds)})
        case FileTooLarge():
            return Problem(413, f"The content would be {error.size_bytes} bytes, over the limit.")
        case Unavailable():
            # Its own words may name what only the operator should know; they are in the log.
            said = "The storage can't answer now. Nothing is lost; try again."
            return Problem(503, said, headers={"retry-after": "1"})
        case Misuse():
            return unexpected()
        case _:
            if error.http_status >= 500:
                return unexpected()
            return Problem(error.http_status, str(error))
