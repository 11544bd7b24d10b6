"""Writes ``docs/reference/http.md`` from the route table: ``python -m tests.server.reference``."""

from __future__ import annotations

import re
from typing import Any

from memoranda.server.api.openapi import document
from memoranda.server.api.surface import API, DESCRIBED
from memoranda.server.call import Doc, Endpoint, Needs
from tests.house.repository import ROOT

PAGE = ROOT / "docs" / "reference" / "http.md"

INTRODUCTION = """\
# The HTTP API

Made from the route table by `python -m tests.server.reference`; a test sees that it is current. How to run the server is
in [the guide](../guide/server.md); `/openapi.json` says the same for programs.

A key goes into `Authorization: Bearer` or `x-api-key`. Bodies and answers are JSON. Every answer has the header
`request-id`; an error has this form:

```json
{"type": "error", "error": {"type": "not_found_error", "message": "…"}, "request_id": "req_…"}
```

Lists answer `{"data": […], "next_page": …}`; pass `next_page` back as `page` until it is null.

Update and delete of a memory take a header beside the API's own precondition, `memoranda-if-version`: the id of the
version that the memory has to be at. It tells a rename, or a second write of the same content, apart; where it does
not hold, the answer is that of a precondition that failed.
"""


def page() -> str:
    """The whole page."""
    schemas = document(DESCRIBED)["components"]["schemas"]
    parts = [INTRODUCTION, "## Paths\n", _paths()]
    parts += [_section(each, each.doc) for each in DESCRIBED if each.doc is not None]
    parts += ["## Objects\n", *(_object(name, about) for name, about in sorted(schemas.items()))]
    return "\n".join(parts)


def _paths() -> str:
    rows = ["| path | needs | |", "|---|---|---|"]
    for each in API.endpoints:
        access = each.access
        needs = f"`{access.role}`" if isinstance(access, Needs) else "no key"
        said = each.doc.summary if each.doc is not None else _because(access)
        rows.append(f"| `{each.method} {each.path}` | {needs} | {said} |")
    return "\n".join([*rows, ""])


def _because(access: Any) -> str:
    return str(access.because)


def _section(endpoint: Endpoint, doc: Doc) -> str:
    lines = [f"## {doc.operation}\n", f"`{endpoint.method} {endpoint.path}`\n", doc.summary, ""]
    if doc.query is not None:
        lines += ["| query | |", "|---|---|"]
        fields = doc.query.model_json_schema(by_alias=True)["properties"]
        lines += [f"| `{name}` | {_kind(about)} |" for name, about in fields.items()]
        lines.append("")
    if doc.body is not None:
        lines.append(f"Body: {_link(doc.body.__name__)}.")
    assert doc.answer is not None
    lines.append(f"Answers {_link(doc.answer.__name__)}.\n")
    return "\n".join(lines)


def _object(name: str, about: dict[str, Any]) -> str:
    lines = [f"### {name}\n", " ".join(about.get("description", "").split()).replace("``", "`"), ""]
    fields = about.get("properties", {})
    if fields:
        required = set(about.get("required", ()))
        lines += ["| field | | |", "|---|---|---|"]
        lines += [
            f"| `{field}` | {_kind(kind)} | {'' if field in required else 'may be left out'} |"
            for field, kind in fields.items()
        ]
        lines.append("")
    return "\n".join(lines)


def _kind(about: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in about:
        return _link(about["$ref"].rpartition("/")[2])
    if "anyOf" in about:
        return " or ".join(dict.fromkeys(_kind(each) for each in about["anyOf"]))
    if "const" in about:
        said = f"`{about['const']}`"
    elif "enum" in about:
        said = ", ".join(f"`{value}`" for value in about["enum"])
    elif about.get("type") == "array":
        said = f"list of {_kind(about['items'])}"
    elif about.get("format") == "date-time":
        said = "time"
    elif about.get("type") == "object":
        said = "object"
    else:
        said = str(about.get("type", "anything"))
    bounds = [
        f"{word} {about[name]}"
        for name, word in (
            ("minLength", "at least"),
            ("maxLength", "up to"),
            ("minimum", "from"),
            ("maximum", "to"),
            ("maxProperties", "up to"),
        )
        if name in about
    ]
    if "pattern" in about:
        bounds.append(f"like `{about['pattern']}`")
    if about.get("default") is not None:
        bounds.append(f"else `{about['default']}`")
    return ", ".join([said, *bounds])


def _link(name: str) -> str:
    return f"[{name}](#{re.sub('[^a-z]', '', name.lower())})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
