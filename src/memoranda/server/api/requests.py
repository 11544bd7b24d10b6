"""What clients send, as models: bodies are read strictly, queries from text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeAlias
from unicodedata import category

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

_SHA256: Final = r"^[0-9a-f]{64}$"

MAX_PAIRS: Final = 16
MAX_METADATA_KEY_CHARS: Final = 64
MAX_METADATA_VALUE_CHARS: Final = 512


# ---------------------------------------------------------------- values


def _without_controls(value: str) -> str:
    if any(category(character) == "Cc" for character in value):
        raise ValueError("must not hold control characters")
    return value


def _number(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value, re.ASCII):
        return int(value)
    raise ValueError("has to be a whole number")


def _flag(value: object) -> object:
    found = {"true": True, "false": False}.get(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("has to be true or false")
    return found


_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})?",
    re.ASCII,
)


def _nanoseconds(value: object) -> object:
    """A time as nanoseconds since 1970. Without an offset it is UTC."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("has to be a time like 2026-01-02T03:04:05Z")
    day, clock, fraction, zone = found.groups()
    offset = "+00:00" if zone in {None, "Z", "z"} else zone
    try:
        time = datetime.fromisoformat(f"{day}T{clock}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("has to be a time that there is") from None
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    whole = since.days * 86_400 + since.seconds
    return whole * 10**9 + int((fraction or "").ljust(9, "0"))


Whole: TypeAlias = Annotated[int, BeforeValidator(_number)]
Flag: TypeAlias = Annotated[bool, BeforeValidator(_flag)]
Time: TypeAlias = Annotated[
    int, BeforeValidator(_nanoseconds), WithJsonSchema({"type": "string", "format": "date-time"})
]
View: TypeAlias = Literal["basic", "full"]
Limit: TypeAlias = Annotated[Whole, Field(ge=1, le=100)]
Sha256: TypeAlias = Annotated[str, Field(pattern=_SHA256)]

_Name: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=255), AfterValidator(_without_controls)
]
_Description: TypeAlias = Annotated[str, Field(max_length=1024)]
_MetadataKey: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_METADATA_KEY_CHARS)]
_MetadataValue: TypeAlias = Annotated[str, Field(max_length=MAX_METADATA_VALUE_CHARS)]


# ---------------------------------------------------------------- bodies


class Body(BaseModel):
    """A body; whether fields that nobody knows are refused or ignored is the server's setting."""

    model_config = ConfigDict(strict=True, extra="forbid")


class CreateStore(Body):
    """Make a memory store."""

    name: _Name
    description: _Description = ""
    metadata: Annotated[dict[_MetadataKey, _MetadataValue], Field(max_length=MAX_PAIRS)] = Field(
        default_factory=dict
    )


class UpdateStore(Body):
    """Change a memory store; what is left out, or null, stays. Metadata is a patch: null removes."""

    name: _Name | None = None
    description: _Description | None = None
    metadata: dict[_MetadataKey, _MetadataValue | None] | None = None


class CreateMemory(Body):
    """Make a memory at a path that is free."""

    path: str
    content: str


class Precondition(Body):
    """The present content has to have this hash."""

    type: Literal["content_sha256"]
    content_sha256: Sha256


class UpdateMemory(Body):
    """Give a memory another content, another path, or both, in one version."""

    content: str | None = None
    path: str | None = None
    precondition: Precondition | None = None


class NoBody(Body):
    """Nothing, or an empty object."""


class ToolUseBlock(BaseModel):
    """A ``tool_use`` block as Claude sends it; other fields of it are ignored."""

    type: Literal["tool_use"] = "tool_use"
    id: Annotated[str, Field(min_length=1, max_length=256)]
    name: Literal["memory"] = "memory"
    input: Any


# ---------------------------------------------------------------- queries


class Query(BaseModel):
    """What stands behind the question mark; what is not known is ignored."""

    model_config = ConfigDict(extra="ignore")


class ViewBasic(Query):
    """Without the content, unless asked for."""

    view: View = "basic"


class ViewFull(Query):
    """With the content, unless asked otherwise."""

    view: View = "full"


class ListStores(Query):
    """A page of memory stores, newest first."""

    limit: Limit = 20
    page: str | None = None
    include_archived: Flag = False
    created_from: Annotated[Time | None, Field(alias="created_at[gte]")] = None
    created_to: Annotated[Time | None, Field(alias="created_at[lte]")] = None


class ListMemories(Query):
    """A page of memories in the order of their paths."""

    path_prefix: str | None = None
    depth: Annotated[Literal[0, 1], BeforeValidator(_number)] = 0
    limit: Limit = 20
    view: View = "basic"
    page: str | None = None


class DeleteMemory(Query):
    """Delete only what has this hash."""

    expected_content_sha256: Sha256 | None = None


class ListVersions(Query):
    """A page of versions, newest first."""

    memory_id: str | None = None
    operation: Literal["created", "modified", "deleted"] | None = None
    session_id: str | None = None
    api_key_id: str | None = None
    service_account_id: str | None = None
    created_from: Annotated[Time | None, Field(alias="created_at[gte]")] = None
    created_to: Annotated[Time | None, Field(alias="created_at[lte]")] = None
    limit: Limit = 20
    view: View = "basic"
    page: str | None = None
