"""From a request to models: the beta header, the query, the body."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from memoranda.server.call import Visit

M = TypeVar("M", bound=BaseModel)

BETAS: Final = ("agent-memory-2026-07-22", "managed-agents-2026-04-01")
"""Names of the memory API; a request has one of them."""

_METADATA: Final = "metadata"
_EMPTY: Final = b"{}"


def check_beta(visit: Visit) -> None:
    """Hold ``anthropic-beta`` to the rules; raises a ``Problem`` (400)."""
    lines = visit.request.headers.getlist("anthropic-beta")
    names = {name.strip() for line in lines for name in line.split(",")}
    given = names.intersection(BETAS)
    if len(given) > 1:
        raise Problem(400, f"anthropic-beta: send one of {' and '.join(BETAS)}, not both.")
    if not given and visit.services.settings.strict_beta:
        raise Problem(400, f"anthropic-beta: send {BETAS[0]}.")


def read_query(visit: Visit, model: type[M]) -> M:
    """What stands behind the question mark; raises a ``Problem`` (400)."""
    given = dict(visit.request.query_params)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _invalid(error) from None


async def read_bytes(visit: Visit) -> bytes:
    """The whole body. Its size and time are bounded by the edge."""
    encoding = visit.request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise Problem(400, "Send the body as it is, without a content-encoding.")
    try:
        return await visit.request.body()
    except ClientDisconnect:
        raise Problem(400, "The client went away before its body was whole.") from None


def parse_body(visit: Visit, data: bytes, model: type[M]) -> M:
    """A body as a model; raises a ``Problem`` (400)."""
    ignores = visit.services.settings.unknown_fields == "ignore"
    try:
        return model.model_validate_json(data or _EMPTY, extra="ignore" if ignores else None)
    except ValidationError as error:
        raise _invalid(error) from None


def parse_any(data: bytes) -> dict[str, Any]:
    """A JSON object that may hold whatever a model sent, unpaired surrogates too; raises a
    ``Problem`` (400)."""
    try:
        found: object = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Problem(400, "The body is no JSON that can be read.") from None
    if not isinstance(found, dict):
        raise Problem(400, "The body has to be a JSON object.")
    return cast("dict[str, Any]", found)


def validated(given: dict[str, Any], model: type[M]) -> M:
    """An object as a model; raises a ``Problem`` (400)."""
    try:
        return model.model_validate(given, strict=True)
    except ValidationError as error:
        raise _invalid(error) from None


def _no_number(name: str) -> object:
    raise ValueError(name)


def _invalid(error: ValidationError) -> Problem:
    """Where and what, for people. What was given is not repeated."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    said = [_sentence(each["loc"], each["msg"]) for each in found[:5]]
    in_metadata = all(each["loc"][:1] == (_METADATA,) for each in found)
    details = {"error_code": "invalid_metadata"} if in_metadata else None
    return Problem(400, "; ".join(said), details=details)


def _sentence(where: tuple[int | str, ...], message: str) -> str:
    # Names of the fields that we know; keys inside of metadata are the client's.
    field = next((str(part)[:64] for part in where[:1]), "")
    text = message.removeprefix("Value error, ")
    return f"{field}: {text}" if field and field.replace("_", "").isidentifier() else text
