"""The route table of the console."""

from __future__ import annotations

import time
from importlib.resources import files
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final

from starlette.responses import RedirectResponse, Response

from memoranda.server.call import Endpoint, Open, Surface
from memoranda.server.console import history, memories, oversight, stores
from memoranda.server.console.pages import form_of
from memoranda.server.console.rendering import page
from memoranda.server.console.sessions import (
    PATH,
    SIGN_IN,
    SessionGuard,
    check_origin,
    next_page,
    sign_in,
    sign_out,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from memoranda.server.call import Visit

_STATIC: Final = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
}


async def _home(visit: Visit) -> ASGIApp:
    return RedirectResponse(f"{PATH}/stores", 303)


async def _sign_in_form(visit: Visit) -> ASGIApp:
    facts = {"title": "Sign in", "key": None, "wrong": False}
    wanted = next_page(visit.request.query_params.get("next", ""))
    return page(visit.request, "sign-in.html", {**facts, "next": wanted})


async def _sign_in(visit: Visit) -> ASGIApp:
    check_origin(visit.request)
    form = await form_of(visit)
    wanted = next_page(form.get("next", ""))
    given = form.get("key", "").strip()
    with visit.services.sign_ins.take(_address_of(visit)):
        key = await visit.services.known_keys.find(given, time.time_ns())
    if key is None:
        facts = {"title": "Sign in", "key": None, "wrong": True, "next": wanted}
        return page(visit.request, "sign-in.html", facts, status=401)
    response = RedirectResponse(wanted, 303)
    is_https = visit.request.url.scheme == "https"
    with visit.services.shares.take(key.id):
        await sign_in(visit.services, key, given, response, is_https=is_https)
    return response


def _address_of(visit: Visit) -> str:
    """Who tries keys: an address; of the many that one host has in IPv6 their common part."""
    client = visit.request.client
    try:
        address = ip_address("" if client is None else client.host)
    except ValueError:
        return ""
    bits = 64 if address.version == 6 else 32
    return str(ip_network((address, bits), strict=False))


async def _sign_out(visit: Visit) -> ASGIApp:
    check_origin(visit.request)
    response = RedirectResponse(f"{SIGN_IN}?done=signed-out", 303)
    await sign_out(visit.services, visit.request, response)
    return response


async def _static(visit: Visit) -> ASGIApp:
    name = visit.params["name"]
    if name not in _STATIC:
        return Response("There is no such file.", 404, media_type="text/plain")
    content = files("memoranda.server.console").joinpath("static", name).read_bytes()
    headers = {"cache-control": "public, max-age=3600"}
    return Response(content, headers={**headers, "content-type": _STATIC[name]})


CONSOLE: Final = Surface(
    name="console",
    endpoints=(
        Endpoint(
            method="GET", path=PATH, access=Open("Only says where the pages are."), handler=_home
        ),
        Endpoint(
            method="GET",
            path=SIGN_IN,
            access=Open("Who is to sign in has no session yet."),
            handler=_sign_in_form,
        ),
        Endpoint(
            method="POST",
            path=SIGN_IN,
            access=Open("Checks the key itself, and the origin."),
            handler=_sign_in,
        ),
        Endpoint(
            method="POST",
            path=f"{PATH}/sign-out",
            access=Open("Ends the session of its own cookie, whichever that is."),
            handler=_sign_out,
        ),
        Endpoint(
            method="GET",
            path=f"{PATH}/static/{{name}}",
            access=Open("The same files for everybody, from a fixed list."),
            handler=_static,
        ),
        *stores.ENDPOINTS,
        *memories.ENDPOINTS,
        *history.ENDPOINTS,
        *oversight.ENDPOINTS,
    ),
    guard=SessionGuard(),
)
