"""Pages about one memory: view, edit with conflict detection, make, move, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from memoranda.errors import AlreadyExists, Conflict, NotFound
from memoranda.server.call import Endpoint, Needs
from memoranda.server.console.diffing import side_by_side
from memoranda.server.console.pages import (
    Facts,
    action,
    field,
    go,
    key_facts,
    opened,
    path_of,
    shown,
    store_facts,
)
from memoranda.server.console.rendering import page, time_of
from memoranda.server.console.sessions import PATH
from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp

    from memoranda.async_memory import AsyncMemory
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.server.call import Visit

_SHOWN_BYTES: Final = 1024 * 1024


async def view(visit: Visit) -> Facts:
    """A memory, rendered or as it is (``?as=text``)."""
    stored = await (await opened(visit)).read(path_of(visit))
    text = _text(stored)
    return {
        "title": stored.path.name,
        "store": await store_facts(visit),
        **_about(stored),
        "text": text,
        "as_text": visit.request.query_params.get("as") == "text"
        or not stored.path.name.lower().endswith((".md", ".markdown")),
        "can_edit": text is not None and _line_end(text) is not None,
    }


def _about(stored: StoredMemory) -> Facts:
    return {
        "path": stored.path.text,
        "version_id": stored.version_id,
        "size_bytes": stored.size_bytes,
        "updated_at": time_of(int(stored.updated_at.timestamp() * 1e9)),
    }


def _text(stored: StoredMemory) -> str | None:
    """The content as a page shows it; None for what is no text, or too long."""
    if stored.size_bytes > _SHOWN_BYTES:
        return None
    try:
        return stored.content.decode()
    except UnicodeDecodeError:
        return None


async def download(visit: Visit) -> ASGIApp:
    """The bytes, to be kept and not to be shown by the browser."""
    stored = await (await opened(visit)).read(path_of(visit))
    headers = {"content-disposition": "attachment", "x-content-type-options": "nosniff"}
    return Response(stored.content, media_type="application/octet-stream", headers=headers)


async def edit(visit: Visit) -> Facts:
    """A memory in a form."""
    stored = await (await opened(visit)).read(path_of(visit))
    text = _text(stored)
    if text is None or _line_end(text) is None:
        raise Problem(
            400, "This memory can't be edited here: it is no text, too long, or mixes line ends."
        )
    facts = {"title": stored.path.name, "store": await store_facts(visit), **_about(stored)}
    return {**facts, "text": text, "is_new": False, "theirs": None}


async def save(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Save what was edited, unless somebody changed the memory meanwhile: then show both."""
    memory = await opened(visit)
    path, given = field(form, "path"), field(form, "text")
    before = field(form, "version_id")
    stored = await _there(memory, path)
    line_end = "\n" if stored is None else _line_end(_text(stored) or "") or "\n"
    text = _with_line_ends(given, line_end)
    try:
        version = await memory.write(path, text, if_version=before)
    except (Conflict, NotFound):
        return await _conflict(visit, memory, path, text)
    done = "saved" if version.id != before else "unchanged"
    return go(f"/stores/{visit.params['store']}/memory", done, path=path)


async def _there(memory: AsyncMemory, path: str) -> StoredMemory | None:
    try:
        return await memory.read(path)
    except NotFound:
        return None


async def _conflict(visit: Visit, memory: AsyncMemory, path: str, mine: str) -> ASGIApp:
    """The form again, with what is there now beside it; saving then replaces that version."""
    stored = await _there(memory, path)
    theirs = "" if stored is None else _text(stored) or ""
    rows = side_by_side(theirs, mine)
    facts: Facts = {
        "title": path.rpartition("/")[2],
        "store": await store_facts(visit),
        "path": path,
        "version_id": "" if stored is None else stored.version_id,
        "size_bytes": 0 if stored is None else stored.size_bytes,
        "updated_at": None if stored is None else _about(stored)["updated_at"],
        "text": mine,
        "is_new": stored is None,
        "theirs": None if rows is None else [row._asdict() for row in rows],
        "key": key_facts(visit.key),
    }
    return page(visit.request, "edit.html", facts, status=409)


async def new(visit: Visit) -> Facts:
    """An empty form."""
    directory = path_of(visit, "/memories").rstrip("/")
    facts = {"title": "New memory", "store": await store_facts(visit), "path": f"{directory}/"}
    return {**facts, "version_id": "", "text": "", "is_new": True, "theirs": None}


async def create(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Make a memory; never overwrites one."""
    memory = await opened(visit)
    path = field(form, "path")
    text = _with_line_ends(field(form, "text"), "\n")
    try:
        version = await memory.write(path, text, if_absent=True)
    except AlreadyExists:
        raise Problem(409, f"There is a memory at {path} already; choose another path.") from None
    assert version.path is not None
    return go(f"/stores/{visit.params['store']}/memory", "created", path=version.path.text)


async def change_asked(visit: Visit) -> Facts:
    """Before a memory or a directory is moved or deleted."""
    path = path_of(visit)
    return {"title": "Move or delete", "store": await store_facts(visit), "path": path}


async def move(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Give a memory or a directory another path."""
    target = field(form, "target")
    await (await opened(visit)).move(field(form, "path"), target)
    directory = target.rstrip("/").rpartition("/")[0] or "/memories"
    return go(f"/stores/{visit.params['store']}", "moved", path=directory)


async def delete(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Delete a memory or a directory; history stays."""
    path = field(form, "path")
    await (await opened(visit)).remove(path)
    return go(f"/stores/{visit.params['store']}", "deleted", path=path.rpartition("/")[0])


def _line_end(text: str) -> str | None:
    """How the lines of a text end; None where they differ, which a browser's form would not keep."""
    n_crlf = text.count("\r\n")
    if text.count("\r") != n_crlf or (n_crlf and text.count("\n") != n_crlf):
        return None
    return "\r\n" if n_crlf else "\n"


def _with_line_ends(given: str, line_end: str) -> str:
    """What a form gave, whose lines all end in CR LF, with the line ends of the memory."""
    return given.replace("\r\n", "\n").replace("\r", "\n").replace("\n", line_end)


ENDPOINTS: Final = (
    shown("/stores/{store}/memory", "read", "memory.html", view),
    Endpoint(
        method="GET",
        path=f"{PATH}/stores/{{store}}/download",
        access=Needs("read"),
        handler=download,
    ),
    shown("/stores/{store}/edit", "write", "edit.html", edit),
    action("/stores/{store}/edit", "write", save),
    shown("/stores/{store}/new", "write", "edit.html", new),
    action("/stores/{store}/new", "write", create),
    shown("/stores/{store}/change", "write", "change.html", change_asked),
    action("/stores/{store}/move", "write", move),
    action("/stores/{store}/delete", "write", delete),
)
