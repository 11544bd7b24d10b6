"""Pages about what was: the timeline, one version beside the one before, restore, undo, redact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.path import ROOT_TEXT, parse_path
from memoranda.server.console.diffing import side_by_side
from memoranda.server.console.pages import (
    Facts,
    action,
    field,
    go,
    opened,
    path_of,
    shown,
    store_facts,
    version_facts,
)
from memoranda.server.problems import Problem
from memoranda.stores.base import VersionFilter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp

    from memoranda.async_memory import AsyncMemory
    from memoranda.server.call import Visit
    from memoranda.stores.base import Version

_PAGE: Final = 50
_CONFIRMED: Final = "redact"
"""What a person types before a content goes for good."""


async def timeline(visit: Visit) -> Facts:
    """Versions of a store, or at and beneath a path, newest first."""
    path = path_of(visit, ROOT_TEXT)
    memory = await opened(visit)
    parsed = parse_path(path)
    where = VersionFilter() if parsed.is_root else VersionFilter(path=parsed)
    page = await memory.versions(where, after=visit.request.query_params.get("after"), limit=_PAGE)
    return {
        "title": "History",
        "store": await store_facts(visit),
        "path": path,
        "versions": [version_facts(one) for one in page.versions],
        "after": page.after,
    }


async def one_version(visit: Visit) -> Facts:
    """A version, beside the one of the same memory before it."""
    memory = await opened(visit)
    version = await memory.version(visit.params["version"])
    before = await _before(memory, version)
    text, old = _text(version), "" if before is None else _text(before)
    rows = None if text is None or old is None else side_by_side(old, text)
    return {
        "title": "Version",
        "store": await store_facts(visit),
        "version": version_facts(version),
        "before": None if before is None else version_facts(before),
        "text": text,
        "rows": None if rows is None else [row._asdict() for row in rows],
    }


async def _before(memory: AsyncMemory, version: Version) -> Version | None:
    page = await memory.versions(VersionFilter(memory_id=version.memory_id), limit=1000)
    ids = [one.id for one in page.versions]
    if version.id not in ids or ids.index(version.id) + 1 >= len(ids):
        return None
    return await memory.version(ids[ids.index(version.id) + 1])


def _text(version: Version) -> str | None:
    """The content as text; empty for a deletion, None where there is none to show."""
    if version.operation == "deleted":
        return ""
    if version.content is None:
        return None
    try:
        return version.content.decode()
    except UnicodeDecodeError:
        return None


async def restore(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Bring a memory, or all, back to what it was at a version."""
    path = form.get("path") or ROOT_TEXT
    await (await opened(visit)).restore(path, to=field(form, "version"))
    return go(f"/stores/{visit.params['store']}/history", "restored", path=path)


async def undo(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Take back the last change at a path."""
    path = form.get("path") or ROOT_TEXT
    versions = await (await opened(visit)).undo(path)
    done = "undone" if versions else "nothing"
    return go(f"/stores/{visit.params['store']}/history", done, path=path)


async def redact(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Blank the content of an old version for good, once that was typed."""
    version = field(form, "version")
    if field(form, "confirm") != _CONFIRMED:
        raise Problem(400, f"Type {_CONFIRMED} exactly to redact the version. Nothing was changed.")
    await (await opened(visit)).redact(version)
    return go(f"/stores/{visit.params['store']}/versions/{version}", "redacted")


ENDPOINTS: Final = (
    shown("/stores/{store}/history", "read", "history.html", timeline),
    shown("/stores/{store}/versions/{version}", "read", "version.html", one_version),
    action("/stores/{store}/restore", "write", restore),
    action("/stores/{store}/undo", "write", undo),
    action("/stores/{store}/redact", "admin", redact),
)
