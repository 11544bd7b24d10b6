"""How versions, contents and listings look as JSON. Fields are added, never renamed or removed."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from memoranda.cli.shared.when import json_time, time_of_ns

if TYPE_CHECKING:
    from memoranda.stores.base import AuditEntry, Version

Shape: TypeAlias = dict[str, Any]


def version_shape(version: Version) -> Shape:
    """A version without its content."""
    redacted = version.redacted_at_ns
    return {
        "id": version.id,
        "memory_id": version.memory_id,
        "operation": version.operation,
        "path": None if version.path is None else str(version.path),
        "actor": version.actor,
        "command": version.command,
        "created_at": json_time(version.created_at),
        "size_bytes": version.size_bytes,
        "sha256": version.sha256,
        "trace_id": version.trace_id,
        "redacted_at": None if redacted is None else json_time(time_of_ns(redacted)),
        "redacted_by": version.redacted_by,
        "late": version.late,
        "batch": version.batch,
    }


def entry_shape(entry: AuditEntry) -> Shape:
    """An entry of the audit."""
    return {
        "seq": entry.seq,
        "part": entry.part,
        "batch": entry.batch,
        "at": json_time(time_of_ns(entry.at_ns)),
        "actor": entry.actor,
        "command": entry.command,
        "outcome": entry.outcome,
        "operation": entry.operation,
        "path": entry.path,
        "before": entry.before,
        "size_bytes": entry.size_bytes,
        "sha256": entry.sha256,
        "trace_id": entry.trace_id,
        "details": dict(entry.details),
        "blanked": entry.is_blanked,
    }


def versions_shape(versions: Iterable[Version]) -> Shape:
    """Versions, as every command that gives some has them."""
    return {"versions": [version_shape(version) for version in versions]}


def content_shape(content: bytes | None) -> Shape:
    """A content: text where it is UTF-8, else base64; null where there is none (any more)."""
    if content is None:
        return {"content": None, "encoding": None}
    try:
        return {"content": content.decode(), "encoding": "utf-8"}
    except UnicodeDecodeError:
        return {"content": base64.b64encode(content).decode(), "encoding": "base64"}
