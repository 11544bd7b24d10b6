"""The API's objects as ours. What comes from the server is a stranger's: paths are checked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from memoranda.errors import BadPath
from memoranda.lazy_pattern import lazy_pattern
from memoranda.path import MemoryPath
from memoranda.stores.base import Entry, StoreInfo, Version
from memoranda.stores.remote.faults import unreadable
from memoranda.tenant import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from anthropic.types.beta import BetaManagedAgentsMemoryStore
    from anthropic.types.beta.memory_stores import (
        BetaManagedAgentsActor,
        BetaManagedAgentsMemory,
        BetaManagedAgentsMemoryVersion,
    )

USER_KEY: Final = "memoranda.user"
WORKSPACE_KEY: Final = "memoranda.workspace"
"""Where a store's metadata says whose it is."""

_ID: Final = lazy_pattern(r"[A-Za-z0-9_-]{1,128}")
_SHA256: Final = lazy_pattern(r"[0-9a-f]{64}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def is_id(given: str, prefix: str) -> bool:
    """Whether a text can be an id of this kind; others are not sent."""
    return given.startswith(prefix) and _ID.fullmatch(given) is not None


def ns_of(time: datetime) -> int:
    """Nanoseconds since 1970; the API's times end at microseconds."""
    return (time - _EPOCH) // _MICROSECOND * 1000


def time_of(microseconds: int) -> datetime:
    """The other way round."""
    return _EPOCH + timedelta(microseconds=microseconds)


def path_of(given: str) -> MemoryPath | None:
    """A path of the server's; None for one that the path policy refuses. The hosted service allows a
    few that no command can name."""
    try:
        return MemoryPath.from_store_path(given)
    except BadPath:
        return None


def entry_of(memory: BetaManagedAgentsMemory) -> Entry | None:
    """A live memory; None for one at a path that is refused. Raises ``Lost`` for what is none."""
    try:
        path = path_of(memory.path)
        if path is None:
            return None
        if not (
            is_id(memory.id, "mem_")
            and is_id(memory.memory_version_id, "memver_")
            and _SHA256.fullmatch(memory.content_sha256)
        ):
            raise unreadable()
        return Entry(
            path,
            memory.id,
            memory.memory_version_id,
            memory.content_size_bytes,
            memory.content_sha256,
            ns_of(memory.created_at),
            ns_of(memory.updated_at),
        )
    except (AttributeError, TypeError, OverflowError) as error:
        raise unreadable() from error


def version_of(version: BetaManagedAgentsMemoryVersion) -> Version | None:
    """A version; None for one at a path that is refused.

    The API numbers nothing: its time, in microseconds, is a version's ``seq``, and its batch. It
    says who, but not by which command.
    """
    try:
        path = None if version.path is None else path_of(version.path)
        if path is None and version.path is not None:
            return None
        at_ns = ns_of(version.created_at)
        content = version.content
        return Version(
            version.id,
            version.memory_id,
            version.operation,
            path,
            _actor(version.created_by),
            "",
            at_ns,
            at_ns // 1000,
            version.content_size_bytes,
            version.content_sha256,
            redacted_at_ns=None if version.redacted_at is None else ns_of(version.redacted_at),
            redacted_by=None if version.redacted_by is None else _actor(version.redacted_by),
            content=None if content is None else content.encode(),
            batch=at_ns // 1000,
        )
    except (AttributeError, TypeError, OverflowError) as error:
        raise unreadable() from error


def _actor(actor: BetaManagedAgentsActor | None) -> str:
    """The id of whichever of the four kinds it is, or of a newer one."""
    for name in ("api_key_id", "session_id", "user_id", "service_account_id"):
        found = getattr(actor, name, None)
        if isinstance(found, str):
            return found
    return ""


def info_of(store: BetaManagedAgentsMemoryStore) -> StoreInfo:
    """What the API knows of a store; whose it is stands in its metadata."""
    try:
        metadata = dict(store.metadata or {})
        user, workspace = metadata.pop(USER_KEY, None), metadata.pop(WORKSPACE_KEY, None)
        return StoreInfo(
            store.id,
            workspace or DEFAULT_WORKSPACE,
            store.name,
            user,
            store.description or "",
            metadata,
            ns_of(store.created_at),
            ns_of(store.updated_at),
            None if store.archived_at is None else ns_of(store.archived_at),
        )
    except (AttributeError, TypeError, OverflowError) as error:
        raise unreadable() from error


def tags_of(user: str | None, workspace: str) -> dict[str, str]:
    """The metadata that says whose a store is."""
    tags = {} if user is None else {USER_KEY: user}
    return tags if workspace == DEFAULT_WORKSPACE else {**tags, WORKSPACE_KEY: workspace}
