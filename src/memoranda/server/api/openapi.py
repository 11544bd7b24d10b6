"""The OpenAPI 3.1 document, built from the route table and the models."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import models_json_schema

from memoranda.server.answers import json_response
from memoranda.server.api.objects import ErrorAnswer
from memoranda.server.call import Endpoint, Needs, Open

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel
    from starlette.types import ASGIApp

    from memoranda.server.call import Doc, Visit

PATH: Final = "/openapi.json"

_REF: Final = "#/components/schemas/{model}"
_ALWAYS: Final = (400, 401, 403, 413, 429, 500, 503)
_SAID: Final = {
    400: "The request can't be done as it is.",
    401: "No key, or one that counts no more.",
    403: "The key is not for this.",
    404: "There is no such thing, or it is not the key's.",
    409: "It is not as the request takes it to be.",
    413: "The body is too large.",
    429: "Too many requests with this key.",
    500: "Something unexpected.",
    503: "The storage can't answer now.",
}


def endpoint(described: tuple[Endpoint, ...]) -> Endpoint:
    """The endpoint that answers the document of these."""

    @cache
    def made() -> dict[str, Any]:
        return document(described)

    async def handler(visit: Visit) -> ASGIApp:
        return json_response(made())

    return Endpoint(
        method="GET",
        path=PATH,
        access=Open("Says what the documentation says."),
        handler=handler,
    )


def document(endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """The document for these endpoints, in their order."""
    docs = [each.doc for each in endpoints if each.doc is not None]
    bodies = {each.body for each in docs if each.body is not None}
    answers = {each.answer for each in docs if each.answer is not None} | {ErrorAnswer}
    names, schemas = models_json_schema(
        [
            *((model, "validation") for model in sorted(bodies, key=_name)),
            *((model, "serialization") for model in sorted(answers, key=_name)),
        ],
        ref_template=_REF,
    )
    by_model = {model: ref for (model, _), ref in names.items()}
    paths: dict[str, dict[str, Any]] = {}
    for each in endpoints:
        if each.doc is not None:
            paths.setdefault(each.path, {})[each.method.lower()] = _operation(
                each, each.doc, by_model
            )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Memoranda",
            "version": "1",
            "description": "The Memory Stores API, and an endpoint for Claude's memory tool.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
        "security": [{"bearer": []}, {"header": []}],
    }


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _operation(
    of: Endpoint, doc: Doc, by_model: Mapping[type[Any], Mapping[str, Any]]
) -> dict[str, Any]:
    assert isinstance(of.access, Needs)
    assert doc.answer is not None
    found: dict[str, Any] = {
        "operationId": doc.operation,
        "summary": doc.summary,
        "description": f"Needs a key with the role `{of.access.role}` or a higher one.",
        "tags": [doc.tag],
        "parameters": [*_path_parameters(of.path), *_query_parameters(doc)],
        "responses": {
            "200": {
                "description": "Done.",
                "content": {"application/json": {"schema": by_model[doc.answer]}},
            },
            **{
                str(status): {
                    "description": _SAID[status],
                    "content": {"application/json": {"schema": by_model[ErrorAnswer]}},
                }
                for status in sorted({*_ALWAYS, *doc.errors})
            },
        },
    }
    if doc.body is not None:
        needed = bool(doc.body.model_json_schema().get("required"))
        found["requestBody"] = {
            "required": needed,
            "content": {"application/json": {"schema": by_model[doc.body]}},
        }
    return found


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(doc: Doc) -> list[dict[str, Any]]:
    if doc.query is None:
        return []
    schema = doc.query.model_json_schema(by_alias=True)
    return [
        {"name": name, "in": "query", "required": False, "schema": about}
        for name, about in schema["properties"].items()
    ]
