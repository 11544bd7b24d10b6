"""Pages about stores: all of them, what is in one, search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import MemorandaError, Unsupported
from memoranda.path import ROOT_TEXT
from memoranda.server.console.pages import (
    Facts,
    action,
    field,
    go,
    info_facts,
    opened,
    path_of,
    shown,
    store_facts,
)
from memoranda.server.console.rendering import time_of
from memoranda.server.problems import Problem, problem_of
from memoranda.stores.base import Directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp

    from memoranda.server.call import Visit
    from memoranda.stores.base import StoreInfo

_STORES: Final = 25
_ENTRIES: Final = 200
_HITS: Final = 20
_SEARCHED_STORES: Final = 50


async def all_stores(visit: Visit) -> Facts:
    """Stores of the key's workspace, newest first, with how full each is."""
    after = visit.request.query_params.get("after")
    page = await visit.services.hosted.page(visit.key, after, _STORES, include_archived=True)
    stores = [await _with_usage(visit, info) for info in page.stores if visit.key.reaches(info.id)]
    return {"title": "Stores", "stores": stores, "after": page.after}


async def _with_usage(visit: Visit, info: StoreInfo) -> Facts:
    hosted = visit.services.hosted
    facts = info_facts(info)
    try:
        used = await (await hosted.memory(visit.key, info.id)).usage()
    except MemorandaError as error:
        return {**facts, "problem": problem_of(error).message}
    limits = hosted.policy(info).limits
    return {
        **facts,
        "problem": None,
        "files": used.files,
        "files_limit": limits.files,
        "size_bytes": used.size_bytes,
        "size_limit": limits.store_bytes,
        "versions": used.versions,
    }


async def one_store(visit: Visit) -> Facts:
    """A directory of a store: what is in it."""
    path = path_of(visit, ROOT_TEXT)
    memory = await opened(visit)
    after = visit.request.query_params.get("after")
    page = await memory.page(path, depth=1, after=after, limit=_ENTRIES)
    if not page.entries and path.rstrip("/") != ROOT_TEXT:
        raise Problem(404, "Nothing is remembered at this path.")
    info = await visit.services.hosted.info(visit.key, visit.params["store"])
    return {
        "title": info.user or info.name,
        "store": await _with_usage(visit, info),
        "path": path,
        "parents": _parents(path),
        "entries": [_entry(one) for one in page.entries],
        "after": page.after,
    }


def _parents(path: str) -> list[dict[str, str]]:
    parts = path.removeprefix(ROOT_TEXT).strip("/").split("/")
    found = [{"name": "memories", "path": ROOT_TEXT}]
    for part in parts if parts != [""] else []:
        found.append({"name": part, "path": f"{found[-1]['path']}/{part}"})
    return found


def _entry(one: Any) -> Facts:
    if isinstance(one, Directory):
        return {
            "is_directory": True,
            "path": one.path.text,
            "name": one.path.name,
            "size_bytes": one.size_bytes,
            "updated_at": None,
        }
    return {
        "is_directory": False,
        "path": one.path.text,
        "name": one.path.name,
        "size_bytes": one.size_bytes,
        "updated_at": time_of(one.updated_at_ns),
    }


async def search(visit: Visit) -> Facts:
    """Words in one store (``?store=``) or in all that the key sees, the newest 50."""
    wanted = visit.request.query_params.get("q", "").strip()
    only = visit.request.query_params.get("store")
    hosted = visit.services.hosted
    if only:
        infos = [await hosted.info(visit.key, only)]
    else:
        page = await hosted.page(visit.key, None, _SEARCHED_STORES, include_archived=True)
        infos = [info for info in page.stores if visit.key.reaches(info.id)]
    found: list[Facts] = []
    skipped: list[str] = []
    for info in infos if wanted else []:
        try:
            hits = await (await hosted.memory(visit.key, info.id)).search(wanted, limit=_HITS)
        except Unsupported:
            skipped.append(info.user or info.name)
            continue
        if hits:
            shown_hits = [
                {"path": hit.path.text, "lines": [list(line) for line in hit.lines]} for hit in hits
            ]
            found.append({**info_facts(info), "hits": shown_hits})
    return {
        "title": "Search",
        "q": wanted,
        "store": None if only is None else only,
        "found": found,
        "skipped": skipped,
        "looked_at": len(infos),
    }


async def erase_asked(visit: Visit) -> Facts:
    """Before a store is erased: what would go."""
    info = await visit.services.hosted.info(visit.key, visit.params["store"])
    return {"title": "Erase", "store": await _with_usage(visit, info)}


async def erase(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Erase a store, once its name was typed."""
    facts = await store_facts(visit)
    if field(form, "confirm") != facts["title"]:
        raise Problem(400, f"Type {facts['title']} exactly to erase it. Nothing was changed.")
    await visit.services.hosted.erase(visit.key, visit.params["store"])
    return go("/stores", "erased")


ENDPOINTS: Final = (
    shown("/stores", "read", "stores.html", all_stores),
    shown("/stores/{store}", "read", "store.html", one_store),
    shown("/search", "read", "search.html", search),
    shown("/stores/{store}/erase", "admin", "erase.html", erase_asked),
    action("/stores/{store}/erase", "admin", erase),
)
