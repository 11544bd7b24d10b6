"""How a page of the console is made of a function, and what several of them do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse

from memoranda.server.call import Endpoint, Needs, Visit
from memoranda.server.console.rendering import page, time_of
from memoranda.server.console.sessions import PATH
from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from memoranda.async_memory import AsyncMemory
    from memoranda.server.keys import Key, Role
    from memoranda.stores.base import StoreInfo, Version

Facts = dict[str, Any]


def shown(
    path: str, role: Role, template: str, function: Callable[[Visit], Awaitable[Facts]]
) -> Endpoint:
    """A page: a function gathers its facts, a template shows them."""

    async def handler(visit: Visit) -> ASGIApp:
        facts = await function(visit)
        return page(visit.request, template, {"key": key_facts(visit.key), **facts})

    return Endpoint(method="GET", path=PATH + path, access=Needs(role), handler=handler)


def action(
    path: str, role: Role, function: Callable[[Visit, Mapping[str, str]], Awaitable[ASGIApp]]
) -> Endpoint:
    """What a form does: a function gets its fields, and says where to go on."""

    async def handler(visit: Visit) -> ASGIApp:
        return await function(visit, await form_of(visit))

    return Endpoint(method="POST", path=PATH + path, access=Needs(role), handler=handler)


async def form_of(visit: Visit) -> dict[str, str]:
    """The fields of a form; files are not taken."""
    kind = visit.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(400, "A form is sent as application/x-www-form-urlencoded.")
    try:
        async with visit.request.form(max_fields=50) as form:
            return {name: value for name, value in form.items() if isinstance(value, str)}
    except MultiPartException:
        raise Problem(400, "The form has too many fields, or one over 1 MB.") from None
    except ClientDisconnect:
        raise Problem(400, "The client went away before its form was whole.") from None


def go(to: str, done: str | None = None, **query: str) -> RedirectResponse:
    """On to a page of the console, which says what was done."""
    given = {**query, **({} if done is None else {"done": done})}
    return RedirectResponse(PATH + to + (f"?{urlencode(given)}" if given else ""), 303)


def key_facts(key: Key) -> Facts:
    """What pages show of the key that is signed in."""
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "workspace": key.workspace,
        "writes": key.may("write"),
        "administers": key.may("admin"),
        "expires_at": None if key.expires_at_ns is None else time_of(key.expires_at_ns),
    }


async def opened(visit: Visit) -> AsyncMemory:
    """The memory of the store in the path."""
    return await visit.services.hosted.memory(visit.key, visit.params["store"])


async def store_facts(visit: Visit) -> Facts:
    """What the head of every page of a store shows."""
    return info_facts(await visit.services.hosted.info(visit.key, visit.params["store"]))


def info_facts(info: StoreInfo) -> Facts:
    """A store without its sizes."""
    return {
        "id": info.id,
        "title": info.user or info.name,
        "user": info.user,
        "description": info.description,
        "created_at": time_of(info.created_at_ns),
        "archived": info.archived_at_ns is not None,
    }


def version_facts(version: Version) -> Facts:
    """A version without its content."""
    redacted = version.redacted_at_ns
    return {
        "id": version.id,
        "operation": version.operation,
        "path": None if version.path is None else version.path.text,
        "actor": version.actor,
        "command": version.command,
        "at": time_of(version.created_at_ns),
        "size_bytes": version.size_bytes,
        "redacted_at": None if redacted is None else time_of(redacted),
        "redacted_by": version.redacted_by,
    }


def path_of(visit: Visit, default: str | None = None) -> str:
    """The path that an address names."""
    path = visit.request.query_params.get("path", default)
    if path is None:
        raise Problem(400, "The address names no memory: it needs ?path=/memories/...")
    return path


def field(form: Mapping[str, str], name: str) -> str:
    """A field that a form has to have."""
    value = form.get(name)
    if value is None:
        raise Problem(400, f"The form has no field {name}.")
    return value
