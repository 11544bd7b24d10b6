"""What the API answers: the objects' models (for the OpenAPI document) and how they are made.

The models say what is promised; the functions make plain dictionaries, which is what is sent. A
test holds them against each other.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Entry, StoreInfo, Version

Shape: TypeAlias = dict[str, Any]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Answer(BaseModel):
    """An object that is answered; it has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class MemoryStore(Answer):
    """A memory store."""

    id: str
    type: Literal["memory_store"]
    name: str
    description: str
    metadata: dict[str, str]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class MemoryStoreDeleted(Answer):
    """A memory store is gone."""

    id: str
    type: Literal["memory_store_deleted"]


class Memory(Answer):
    """A live memory; ``content`` is null in the basic view."""

    id: str
    type: Literal["memory"]
    memory_store_id: str
    memory_version_id: str
    path: str
    content: str | None
    content_sha256: str
    content_size_bytes: int
    created_at: datetime
    updated_at: datetime


class MemoryPrefix(Answer):
    """Memories beneath a path, rolled up."""

    type: Literal["memory_prefix"]
    path: str


class MemoryDeleted(Answer):
    """A memory is deleted; its history stays."""

    id: str
    type: Literal["memory_deleted"]


class ApiActor(Answer):
    """A key."""

    type: Literal["api_actor"]
    api_key_id: str


class SessionActor(Answer):
    """A session, or an agent of the application's."""

    type: Literal["session_actor"]
    session_id: str


class UserActor(Answer):
    """A person."""

    type: Literal["user_actor"]
    user_id: str


class ServiceAccountActor(Answer):
    """A service, Memoranda's own upkeep among them."""

    type: Literal["service_account_actor"]
    service_account_id: str


Actor: TypeAlias = ApiActor | SessionActor | UserActor | ServiceAccountActor


class MemoryVersion(Answer):
    """A version of a memory."""

    id: str
    type: Literal["memory_version"]
    memory_store_id: str
    memory_id: str
    operation: Literal["created", "modified", "deleted"]
    path: str | None
    content: str | None
    content_sha256: str | None
    content_size_bytes: int | None
    created_at: datetime
    created_by: Actor | None
    redacted_at: datetime | None
    redacted_by: Actor | None


class StorePage(Answer):
    """A page of memory stores."""

    data: list[MemoryStore]
    next_page: str | None


class MemoryPage(Answer):
    """A page of memories and prefixes."""

    data: list[Memory | MemoryPrefix]
    next_page: str | None


class VersionPage(Answer):
    """A page of versions."""

    data: list[MemoryVersion]
    next_page: str | None


class ToolResultBlock(Answer):
    """A ``tool_result`` block, to be sent in the next request."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[dict[str, Any]]
    is_error: bool


class ErrorDetails(Answer):
    """More for programs."""

    error_code: str


class ApiError(Answer):
    """What went wrong. The conflicting memory is named with ``memory_path_conflict_error`` only."""

    type: str
    message: str
    details: ErrorDetails | None = None
    conflicting_memory_id: str | None = None
    conflicting_path: str | None = None


class ErrorAnswer(Answer):
    """The envelope of every error."""

    type: Literal["error"]
    error: ApiError
    request_id: str


# ---------------------------------------------------------------- making them


def time_text(ns: int) -> str:
    """Nanoseconds since 1970 as RFC 3339: UTC, microseconds."""
    time = _EPOCH + timedelta(microseconds=ns // 1000)
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _optional_time(ns: int | None) -> str | None:
    return None if ns is None else time_text(ns)


def store_object(info: StoreInfo) -> Shape:
    """See ``MemoryStore``."""
    return {
        "id": info.id,
        "type": "memory_store",
        "name": info.name,
        "description": info.description,
        "metadata": dict(info.metadata),
        "created_at": time_text(info.created_at_ns),
        "updated_at": time_text(info.updated_at_ns),
        "archived_at": _optional_time(info.archived_at_ns),
    }


def memory_object(store_id: str, entry: Entry, content: bytes | None) -> Shape:
    """See ``Memory``; without ``content`` it is the basic view."""
    return {
        "id": entry.memory_id,
        "type": "memory",
        "memory_store_id": store_id,
        "memory_version_id": entry.version_id,
        "path": entry.path.store_path,
        "content": _text(content),
        "content_sha256": entry.sha256,
        "content_size_bytes": entry.size_bytes,
        "created_at": time_text(entry.created_at_ns),
        "updated_at": time_text(entry.updated_at_ns),
    }


def prefix_object(path: MemoryPath) -> Shape:
    """See ``MemoryPrefix``."""
    return {"type": "memory_prefix", "path": f"{path.store_path}/"}


def version_object(store_id: str, version: Version, *, with_content: bool) -> Shape:
    """See ``MemoryVersion``."""
    return {
        "id": version.id,
        "type": "memory_version",
        "memory_store_id": store_id,
        "memory_id": version.memory_id,
        "operation": version.operation,
        "path": None if version.path is None else version.path.store_path,
        "content": _text(version.content) if with_content else None,
        "content_sha256": version.sha256,
        "content_size_bytes": version.size_bytes,
        "created_at": time_text(version.created_at_ns),
        "created_by": actor_object(version.actor),
        "redacted_at": _optional_time(version.redacted_at_ns),
        "redacted_by": None if version.redacted_by is None else actor_object(version.redacted_by),
    }


def page_object(data: Sequence[Shape], next_page: str | None) -> Shape:
    """A page of anything."""
    return {"data": data, "next_page": next_page}


def _text(content: bytes | None) -> str | None:
    """A content as JSON can hold it. What people put there by hand need not be text; what is not
    is shown by U+FFFD, and its hash tells that it is other bytes."""
    return None if content is None else content.decode(errors="replace")


# ---------------------------------------------------------------- actors

API: Final = "api_actor"
SESSION: Final = "session_actor"
USER: Final = "user_actor"
SERVICE: Final = "service_account_actor"

_FIELDS: Final = {
    API: "api_key_id",
    SESSION: "session_id",
    USER: "user_id",
    SERVICE: "service_account_id",
}
_PREFIXES: Final = {"apikey_": API, "sesn_": SESSION, "user_": USER, "svac_": SERVICE}
_NAMES: Final = {"agent": SESSION, "external": USER, "cli": USER}


def actor_kind(actor: str) -> str:
    """Which of the API's actors one of ours is: by the prefix of its id; the agent is a session,
    who edits by hand a person, all else a service."""
    for prefix, kind in _PREFIXES.items():
        if actor.startswith(prefix):
            return kind
    return _NAMES.get(actor, SERVICE)


def actor_object(actor: str) -> Shape:
    """One of the API's four actors."""
    kind = actor_kind(actor)
    return {"type": kind, _FIELDS[kind]: actor}
