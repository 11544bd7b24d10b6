"""``/v1/memory_stores/{store}/memories``: make, list, look at, change and delete memories."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from memoranda.path import ROOT, MemoryPath
from memoranda.server.api.cursors import decode_cursor, encode_cursor
from memoranda.server.api.endpoint import FULL_PAGE, api, doc, opened, store_of, writing
from memoranda.server.api.objects import (
    Memory,
    MemoryDeleted,
    MemoryPage,
    memory_object,
    page_object,
    prefix_object,
)
from memoranda.server.api.reading import parse_body, read_bytes, read_query
from memoranda.server.api.requests import (
    CreateMemory,
    DeleteMemory,
    ListMemories,
    UpdateMemory,
    ViewBasic,
    ViewFull,
)
from memoranda.server.problems import Problem
from memoranda.stores.base import Directory, Entry
from memoranda.stores.remote import IF_VERSION_HEADER

if TYPE_CHECKING:
    from memoranda.core import Core
    from memoranda.server.api.objects import Shape
    from memoranda.server.call import Visit

_LIST: Final = "memories"


async def create(visit: Visit) -> Shape:
    """Make a memory; never overwrites one."""
    core = await opened(visit)
    query = read_query(visit, ViewBasic)
    body = parse_body(visit, await read_bytes(visit), CreateMemory)
    content = _content(visit, body.content)
    path = MemoryPath.from_store_path(body.path)
    async with writing(visit, core, path):
        entry = await visit.services.hosted.do(core.by_id.create(path, content))
    return await _shown(visit, core, entry, content if query.view == "full" else None)


async def list_all(visit: Visit) -> Shape:
    """A page of memories, in the order of their paths."""
    core = await opened(visit)
    query = read_query(visit, ListMemories)
    after = decode_cursor(query.page, _LIST, store_of(visit))
    prefix = _prefix(query.path_prefix)
    full = query.view == "full"
    limit = min(query.limit, FULL_PAGE) if full else query.limit
    hosted = visit.services.hosted
    page = await hosted.do(core.programs.page(prefix.text, query.depth, after, limit, None))
    entries = [each for each in page.entries if isinstance(each, Entry)]
    contents = await hosted.do(core.by_id.contents(entries)) if full else [None] * len(entries)
    content_of = dict(zip([entry.memory_id for entry in entries], contents, strict=True))
    data = [
        prefix_object(each.path)
        if isinstance(each, Directory)
        else memory_object(store_of(visit), each, content_of[each.memory_id])
        for each in page.entries
    ]
    return page_object(data, encode_cursor(page.after, _LIST, store_of(visit)))


async def retrieve(visit: Visit) -> Shape:
    """A memory, with its content unless asked otherwise."""
    core = await opened(visit)
    query = read_query(visit, ViewFull)
    hosted = visit.services.hosted
    memory_id = visit.params["memory"]
    if query.view == "basic":
        entry = await hosted.do(core.by_id.stat(memory_id))
        return memory_object(store_of(visit), entry, None)
    entry, content = await hosted.do(core.by_id.read(memory_id))
    return memory_object(store_of(visit), entry, content)


async def update(visit: Visit) -> Shape:
    """Give a memory another content, another path, or both."""
    core = await opened(visit)
    query = read_query(visit, ViewBasic)
    body = parse_body(visit, await read_bytes(visit), UpdateMemory)
    if body.content is None and body.path is None:
        raise Problem(400, "Send content, path, or both.")
    content = None if body.content is None else _content(visit, body.content)
    path = None if body.path is None else MemoryPath.from_store_path(body.path)
    condition = None if body.precondition is None else body.precondition.content_sha256
    async with writing(visit, core, path):
        entry = await visit.services.hosted.do(
            core.by_id.update(
                visit.params["memory"], content, path, condition, if_version=_version(visit)
            )
        )
    if query.view == "basic":
        return memory_object(store_of(visit), entry, None)
    return await _shown(visit, core, entry, b"" if content is None else content)


async def delete(visit: Visit) -> Shape:
    """Delete a memory; its history stays."""
    core = await opened(visit)
    query = read_query(visit, DeleteMemory)
    memory_id = visit.params["memory"]
    work = core.by_id.remove(memory_id, query.expected_content_sha256, _version(visit))
    await visit.services.hosted.do(work)
    return {"id": memory_id, "type": "memory_deleted"}


async def _shown(visit: Visit, core: Core, entry: Entry, content: bytes | None) -> Shape:
    """A memory that was just written. What is stored may be other than what was sent: a secret may
    have been taken out of it."""
    if content is not None and sha256(content).hexdigest() != entry.sha256:
        (content,) = await visit.services.hosted.do(core.by_id.contents([entry]))
    return memory_object(store_of(visit), entry, content)


def _version(visit: Visit) -> str | None:
    """The version that the memory has to be at, for clients that need more than the API's condition on
    the content: it tells a rename apart, and two writes of the same."""
    return visit.request.headers.get(IF_VERSION_HEADER)


def _content(visit: Visit, text: str) -> bytes:
    content = text.encode()
    limit = visit.services.settings.content_bytes
    if len(content) > limit:
        raise Problem(400, f"content: is {len(content)} bytes; up to {limit} are allowed.")
    return content


def _prefix(given: str | None) -> MemoryPath:
    if given is None or given == "/":
        return ROOT
    if not given.endswith("/"):
        raise Problem(400, "path_prefix: has to end with a slash.")
    return MemoryPath.from_store_path(given[:-1])


_ALL: Final = "/v1/memory_stores/{store}/memories"
_ONE: Final = "/v1/memory_stores/{store}/memories/{memory}"

ENDPOINTS: Final = (
    api("POST", _ALL, "write", create, doc(
        "memories.create", "Make a memory at a path that is free.", Memory, query=ViewBasic,
        body=CreateMemory, errors=(404, 409))),
    api("GET", _ALL, "read", list_all, doc(
        "memories.list", "List memories in the order of their paths.", MemoryPage,
        query=ListMemories, errors=(404,))),
    api("GET", _ONE, "read", retrieve, doc(
        "memories.retrieve", "Look at a memory.", Memory, query=ViewFull, errors=(404,))),
    api("POST", _ONE, "write", update, doc(
        "memories.update", "Give a memory another content, another path, or both.", Memory,
        query=ViewBasic, body=UpdateMemory, errors=(404, 409))),
    api("DELETE", _ONE, "write", delete, doc(
        "memories.delete", "Delete a memory; its history stays.", MemoryDeleted,
        query=DeleteMemory, errors=(404, 409))),
)  # fmt: skip
