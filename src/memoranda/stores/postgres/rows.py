"""A sealed batch as what one call of ``memoranda.write`` takes: rows as JSON, contents, paths."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.sealing import Sealed


class Rows(NamedTuple):
    """Rows of the tables ``event`` and ``memory``, and what goes with them."""

    events: str
    vacated: list[int]
    memories: str
    used: str | None
    contents: list[bytes]


def rows_of(sealed: Sealed) -> Rows:
    """The rows that a batch comes to."""
    events: list[dict[str, Any]] = []
    memories: list[dict[str, Any]] = []
    vacated: list[int] = []
    contents: list[bytes] = []
    for event, chain, item, data, is_vacated, _ in sealed.written:
        sha = None if event.sha is None else event.sha.hex()
        if data is not None:
            contents.append(data)
        place = None if data is None else len(contents)
        events.append({**event._asdict(), "sha": sha, "chain": chain.hex(), "data": place})
        if item is None:
            continue
        if is_vacated:
            vacated.append(item.id)
        memories.append(
            {
                "id": item.id,
                "path": None if item.path is None else item.path.store_path,
                "created": item.created, "updated": item.updated, "head": item.head,
                "size": event.size, "sha": sha, "body": event.body,
            }
        )  # fmt: skip
    uses = sealed.uses
    return Rows(
        json.dumps(events),
        vacated,
        json.dumps(memories),
        json.dumps(_by_store_path(uses)) if uses else None,
        contents,
    )


def _by_store_path(uses: Mapping[MemoryPath, int]) -> dict[str, int]:
    return {path.store_path: at_ns for path, at_ns in uses.items()}


def paths_of(paths: Iterable[MemoryPath]) -> Sequence[str]:
    """Paths as the tables spell them; the root is empty, so that all lies beneath it."""
    return ["" if path.is_root else path.store_path for path in paths]
