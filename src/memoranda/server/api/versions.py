"""``/v1/memory_stores/{store}/memory_versions``: list, look at and redact versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.server.api.cursors import decode_cursor, encode_cursor
from memoranda.server.api.endpoint import FULL_PAGE, api, doc, opened, store_of
from memoranda.server.api.objects import (
    API,
    SERVICE,
    SESSION,
    MemoryVersion,
    VersionPage,
    actor_kind,
    page_object,
    version_object,
)
from memoranda.server.api.reading import parse_body, read_bytes, read_query
from memoranda.server.api.requests import ListVersions, NoBody, ViewFull
from memoranda.stores.base import VersionFilter

if TYPE_CHECKING:
    from memoranda.server.api.objects import Shape
    from memoranda.server.call import Visit

_LIST: Final = "versions"
_SHOWN_TO_NS: Final = 999  # times are shown to the microsecond


async def list_all(visit: Visit) -> Shape:
    """A page of versions, newest first."""
    core = await opened(visit)
    query = read_query(visit, ListVersions)
    after = decode_cursor(query.page, _LIST, store_of(visit))
    actors = _actors(query)
    if actors is None:
        return page_object([], None)
    where = VersionFilter(
        memory_id=query.memory_id,
        operation=query.operation,
        actor=next(iter(actors), None),
        from_ns=query.created_from,
        to_ns=None if query.created_to is None else query.created_to + _SHOWN_TO_NS,
    )
    full = query.view == "full"
    limit = min(query.limit, FULL_PAGE) if full else query.limit
    work = core.by_id.versions(where, after, limit, full)
    page = await visit.services.hosted.do(work)
    data = [version_object(store_of(visit), each, with_content=full) for each in page.versions]
    return page_object(data, encode_cursor(page.after, _LIST, store_of(visit)))


def _actors(query: ListVersions) -> set[str] | None:
    """Who has to have made the versions; None where nobody can have."""
    asked = (
        (SESSION, query.session_id),
        (API, query.api_key_id),
        (SERVICE, query.service_account_id),
    )
    given = [(kind, name) for kind, name in asked if name is not None]
    if any(actor_kind(name) != kind or not name.isprintable() for kind, name in given):
        return None
    return {name for _, name in given} if len(given) < 2 else None


async def retrieve(visit: Visit) -> Shape:
    """A version, with its content unless asked otherwise."""
    core = await opened(visit)
    query = read_query(visit, ViewFull)
    version = await visit.services.hosted.do(core.programs.version(visit.params["version"]))
    return version_object(store_of(visit), version, with_content=query.view == "full")


async def redact(visit: Visit) -> Shape:
    """Blank a version for good."""
    core = await opened(visit)
    parse_body(visit, await read_bytes(visit), NoBody)
    version = await visit.services.hosted.do(core.programs.redact(visit.params["version"]))
    return version_object(store_of(visit), version, with_content=True)


_ALL: Final = "/v1/memory_stores/{store}/memory_versions"
_ONE: Final = "/v1/memory_stores/{store}/memory_versions/{version}"

ENDPOINTS: Final = (
    api("GET", _ALL, "read", list_all, doc(
        "memory_versions.list", "List versions, newest first.", VersionPage, query=ListVersions,
        errors=(404,))),
    api("GET", _ONE, "read", retrieve, doc(
        "memory_versions.retrieve", "Look at a version.", MemoryVersion, query=ViewFull,
        errors=(404,))),
    api("POST", f"{_ONE}/redact", "write", redact, doc(
        "memory_versions.redact", "Blank a version's content and path for good.", MemoryVersion,
        body=NoBody, errors=(404,))),
)  # fmt: skip
