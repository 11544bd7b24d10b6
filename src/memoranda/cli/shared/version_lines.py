"""Versions as lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from memoranda.cli.shared.output import table
from memoranda.cli.shared.when import shown_time
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.stores.base import Version


def print_versions(
    versions: Sequence[Version], marks: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> None:
    """One line a version: when, what, how large, by whom, its id, where, its marks."""
    table([[*version_line(version), _marked(marks.get(version.id, ()))] for version in versions])


def version_line(version: Version) -> list[str]:
    """A version's cells."""
    size = "-" if version.size_bytes is None else format_size(version.size_bytes)
    where = "(redacted)" if version.path is None else str(version.path)
    late = " (saved too late: kept here only)" if version.late else ""
    return [
        shown_time(version.created_at),
        version.operation,
        size,
        version.actor,
        version.id,
        where + late,
    ]


def _marked(marks: Sequence[str]) -> str:
    return f"(marked: {', '.join(marks)})" if marks else ""


def print_changes(versions: Sequence[Version]) -> None:
    """One line a change: what, and where."""
    table([[version.operation, str(version.path)] for version in versions])
