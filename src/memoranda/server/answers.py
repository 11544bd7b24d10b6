"""Answers as bytes: JSON, and problems in the API's envelope."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memoranda.server.problems import Problem

JSON = "application/json"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def json_response(value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON; 200, as every success is."""
    return Response(_encode(value).encode(), media_type=JSON, headers=dict(headers or {}))


def problem_response(problem: Problem, request_id: str) -> Response:
    """A problem in the API's envelope."""
    return Response(
        problem.body(request_id),
        status_code=problem.status,
        media_type=JSON,
        headers=problem.headers,
    )
