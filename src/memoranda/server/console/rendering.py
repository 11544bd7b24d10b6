"""Facts into pages: templates that escape everything, a policy that allows nothing of others."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup
from starlette.responses import Response

from memoranda.escape import escape_for_display
from memoranda.server.answers import json_response, problem_response
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from memoranda.server.problems import Problem

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

_NAME_CHARS: Final = 300

DONE: Final[Mapping[str, str]] = {
    "saved": "Saved as a new version.",
    "unchanged": "Nothing was different, so no version was made.",
    "created": "The memory was created.",
    "moved": "Moved.",
    "deleted": "Deleted. Its history stays; Undo brings it back.",
    "restored": "Restored.",
    "undone": "The last change was taken back.",
    "nothing": "There was nothing to undo.",
    "redacted": "The content of that version is gone for good.",
    "erased": "The store was erased with its history.",
    "approved": "Approved: the change is made.",
    "rejected": "Rejected: nothing was changed.",
    "revoked": "The key counts no more.",
    "signed-out": "You are signed out.",
}
"""What a page says after an action, by the word in its address: a link can choose, not write, it."""


def page(
    request: Request, template: str, facts: Mapping[str, Any], *, status: int = 200
) -> Response:
    """A page, or its facts as JSON (``?format=json``, or who accepts JSON and no HTML)."""
    if wants_json(request):
        answer = json_response(dict(facts))
        answer.status_code = status
        return answer
    text = (
        _environment()
        .get_template(template)
        .render(
            facts,
            said=DONE.get(request.query_params.get("done", "")),
            here=request.url.path,
        )
    )
    headers = {"content-security-policy": POLICY}
    return Response(text, status, media_type="text/html; charset=utf-8", headers=headers)


def problem_page(problem: Problem, request: Request, request_id: str) -> ASGIApp:
    """A problem as a page with a way on, or as JSON."""
    if wants_json(request):
        return problem_response(problem, request_id)
    facts = {
        "title": _TITLES.get(problem.status, "That did not work"),
        "message": problem.message,
        "request_id": request_id,
        "key": None,
    }
    response = page(request, "problem.html", facts, status=problem.status)
    for name, value in problem.headers.items():
        response.headers[name] = value
    return response


_TITLES: Final = {
    400: "That can't be",
    401: "Sign in first",
    403: "Not with this key",
    404: "Not found",
    409: "Somebody was faster",
    413: "Too large",
    429: "Too many requests",
    500: "Something unexpected happened",
    503: "The storage can't answer",
}


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    accepted = request.headers.get("accept", "")
    return request.query_params.get("format") == "json" or (
        "application/json" in accepted and "text/html" not in accepted
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("memoranda.server.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(name=shown_name, plain=plain, size=format_size, markdown=markdown)
    return environment


def shown_name(text: str) -> str:
    """A name on one line: what can't be seen, or turns the text around, is spelled out."""
    return escape_for_display(text, _NAME_CHARS)


def plain(text: str) -> str:
    """A content in the same way, but for its line ends and tabs."""
    parts = re.split(r"([\n\t])", text)
    parts[::2] = [escape_for_display(part, 10 * len(part) + 1) for part in parts[::2]]
    return "".join(parts)


def markdown(text: str) -> Markup:
    """A content as Markdown. HTML in it stays text, and so do links and pictures: who wrote a
    memory may be anybody, and would choose where they lead."""
    # The renderer escapes; its own HTML is the only one in it.
    return Markup(_markdown().render(plain(text)))  # noqa: S704


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        .disable(["autolink", "image", "link"])
    )


def time_of(ns: int) -> str:
    """A time as pages show it, in UTC."""
    return datetime.fromtimestamp(ns / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
