"""Which versions hold text that instructs the agent, as the audit entries of their changes say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.stores.audit import FLAGS
from memoranda.stores.base import Store, Version


async def marks_of(store: Store, versions: Sequence[Version]) -> dict[str, tuple[str, ...]]:
    """The marks of those versions that have any, by version id. One read a batch.

    Empty where the store keeps no audit; a version whose entry retention dropped has none any more.
    """
    if not store.capabilities.audits:
        return {}
    marks: dict[str, tuple[str, ...]] = {}
    flags_of: dict[int, Mapping[str, Any]] = {}
    for version in versions:
        if version.path is None:
            continue
        if version.batch not in flags_of:
            flags_of[version.batch] = await _flags(store, version.batch)
        found = flags_of[version.batch].get(version.path.text)
        if found:
            marks[version.id] = tuple(found)
    return marks


async def _flags(store: Store, batch: int) -> Mapping[str, Any]:
    for entry in await store.audit(batch - 1, 1):
        if entry.batch == batch and FLAGS in entry.details:
            flags: Mapping[str, Any] = entry.details[FLAGS]
            return flags
    return {}
