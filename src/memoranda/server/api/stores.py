"""``/v1/memory_stores``: make, list, look at, change, archive and delete stores."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from memoranda.server.api.cursors import decode_cursor, encode_cursor
from memoranda.server.api.endpoint import api, doc, store_of
from memoranda.server.api.objects import (
    MemoryStore,
    MemoryStoreDeleted,
    StorePage,
    page_object,
    store_object,
)
from memoranda.server.api.reading import parse_body, read_bytes, read_query
from memoranda.server.api.requests import (
    MAX_PAIRS,
    CreateStore,
    ListStores,
    NoBody,
    UpdateStore,
)
from memoranda.server.problems import Problem, not_allowed

if TYPE_CHECKING:
    from memoranda.server.api.objects import Shape
    from memoranda.server.call import Visit
    from memoranda.stores.base import StoreInfo

_LIST: Final = "stores"
_SHOWN_TO_NS: Final = 999  # times are shown to the microsecond

# Two patches of one store's metadata must not each start from what was there before both.
_patching: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()


async def create(visit: Visit) -> Shape:
    """Make a store."""
    body = parse_body(visit, await read_bytes(visit), CreateStore)
    if visit.key.stores is not None:
        raise not_allowed("This key is for certain stores; it can't make others.")
    info = await visit.services.hosted.create(visit.key, body.name, body.description, body.metadata)
    return store_object(info)


async def list_all(visit: Visit) -> Shape:
    """A page of stores, newest first."""
    query = read_query(visit, ListStores)
    after = decode_cursor(query.page, _LIST)
    found: list[StoreInfo] = []
    # The backend knows no filter by time and none by key, so its pages are sifted. A page of ours
    # ends where one of its does: then its position is ours.
    position: str | None = None
    while True:
        wanted = query.limit - len(found)
        page = await visit.services.hosted.page(
            visit.key, after, max(wanted, 1), include_archived=query.include_archived
        )
        fitting = [info for info in page.stores if _fits(visit, query, info)]
        if wanted == 0:
            if fitting:
                return page_object(
                    [store_object(info) for info in found], encode_cursor(position, _LIST)
                )
        else:
            found += fitting
            position = page.after
        after = page.after
        if after is None or _is_past(query, page.stores):
            return page_object([store_object(info) for info in found], None)


def _fits(visit: Visit, query: ListStores, info: StoreInfo) -> bool:
    created = info.created_at_ns
    return (
        visit.key.reaches(info.id)
        and (query.created_from is None or created >= query.created_from)
        and (query.created_to is None or created <= query.created_to + _SHOWN_TO_NS)
    )


def _is_past(query: ListStores, stores: tuple[StoreInfo, ...]) -> bool:
    """Whether all that follow are older than what is asked for."""
    return bool(stores) and (
        query.created_from is not None and stores[-1].created_at_ns < query.created_from
    )


async def retrieve(visit: Visit) -> Shape:
    """What is known of a store."""
    return store_object(await visit.services.hosted.info(visit.key, store_of(visit)))


async def update(visit: Visit) -> Shape:
    """Change a store's name, description or metadata."""
    store_id = store_of(visit)
    hosted = visit.services.hosted
    await hosted.info(visit.key, store_id)
    body = parse_body(visit, await read_bytes(visit), UpdateStore)
    lock = _patching.setdefault(store_id, asyncio.Lock())
    async with lock:
        info = await hosted.info(visit.key, store_id)
        if info.archived_at_ns is not None:
            raise Problem(400, "The memory store is archived; it can't be changed.")
        metadata: dict[str, str] | None = None
        if body.metadata is not None:
            patched = {**info.metadata, **body.metadata}
            metadata = {name: value for name, value in patched.items() if value is not None}
            if len(metadata) > MAX_PAIRS:
                raise Problem(
                    400,
                    f"metadata: would have {len(metadata)} pairs; {MAX_PAIRS} are allowed.",
                    details={"error_code": "invalid_metadata"},
                )
        info = await hosted.update(
            visit.key, store_id, name=body.name, description=body.description, metadata=metadata
        )
    return store_object(info)


async def archive(visit: Visit) -> Shape:
    """Archive a store for good."""
    await visit.services.hosted.info(visit.key, store_of(visit))
    parse_body(visit, await read_bytes(visit), NoBody)
    return store_object(await visit.services.hosted.archive(visit.key, store_of(visit)))


async def delete(visit: Visit) -> Shape:
    """Delete a store with its memories and their history, for good."""
    store_id = store_of(visit)
    await visit.services.hosted.erase(visit.key, store_id)
    return {"id": store_id, "type": "memory_store_deleted"}


_ALL: Final = "/v1/memory_stores"
_ONE: Final = "/v1/memory_stores/{store}"

ENDPOINTS: Final = (
    api("POST", _ALL, "write", create, doc(
        "memory_stores.create", "Make a memory store.", MemoryStore, body=CreateStore)),
    api("GET", _ALL, "read", list_all, doc(
        "memory_stores.list", "List memory stores, newest first.", StorePage, query=ListStores)),
    api("GET", _ONE, "read", retrieve, doc(
        "memory_stores.retrieve", "Look at a memory store.", MemoryStore, errors=(404,))),
    api("POST", _ONE, "write", update, doc(
        "memory_stores.update", "Change a memory store's name, description or metadata.",
        MemoryStore, body=UpdateStore, errors=(404,))),
    api("DELETE", _ONE, "write", delete, doc(
        "memory_stores.delete", "Delete a memory store with all that is in it, for good.",
        MemoryStoreDeleted, errors=(404, 409))),
    api("POST", f"{_ONE}/archive", "write", archive, doc(
        "memory_stores.archive", "Archive a memory store for good.", MemoryStore, body=NoBody,
        errors=(404,))),
)  # fmt: skip
