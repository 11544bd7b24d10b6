"""Who is signed in: a session for a key, kept in the control store by the hash of its cookie.

The cookie is 256 random bits, sent to ``/console`` only, out of reach of scripts, and never to a
request that another site caused (``SameSite=Strict``). Its key, and the secret that was
shown, count anew at each request.
"""

from __future__ import annotations

import json
import secrets
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from starlette.responses import RedirectResponse

from memoranda.errors import UnknownId
from memoranda.server.call import Guard
from memoranda.server.console.rendering import problem_page
from memoranda.server.problems import Problem
from memoranda.stores.records import ABSENT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from memoranda.server.keys import Key
    from memoranda.server.services import Services

KIND: Final = "session"
COOKIE: Final = "memoranda_session"
PATH: Final = "/console"
SIGN_IN: Final = f"{PATH}/sign-in"

SESSION_SECONDS: Final = 12 * 3600

_SECOND_NS: Final = 1_000_000_000
_SAFE: Final = {"GET", "HEAD"}
_SWEPT: Final = 1000


class SessionGuard(Guard):
    """The key of the session that the cookie names; problems are pages."""

    async def key_of(self, request: Request, services: Services) -> Key:
        check_origin(request)
        token = request.cookies.get(COOKIE, "")
        record = await services.hosted.do(services.hosted.records(KIND).get(_digest(token)))
        if not token or record is None:
            raise _signed_out()
        session = json.loads(record.value)
        now = time.time_ns()
        try:
            key = await services.hosted.do(services.keys.get(session["key"]))
        except UnknownId:
            raise _signed_out() from None
        is_known = key.has_secret(session.get("secret", ""), now)
        if now >= session["until_ns"] or not key.counts_at(now) or not is_known:
            raise _signed_out()
        return key

    def refuse(self, problem: Problem, request: Request, request_id: str) -> ASGIApp:
        if problem.status == 401 and request.method in _SAFE:
            wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"{SIGN_IN}?next={quote(wanted, safe='')}", 303)
        return problem_page(problem, request, request_id)


def check_origin(request: Request) -> None:
    """Refuse what another site had the browser send. Browsers say where a request came from, and
    no page can change that; a client that says nothing is no browser, and has no cookie to abuse,
    but changes nothing here either."""
    if request.method in _SAFE:
        return
    site = request.headers.get("sec-fetch-site")
    host = request.headers.get("host")
    if site is not None:
        is_ours = site == "same-origin"
    else:
        origins = {f"http://{host}", f"https://{host}"} if host else set[str]()
        is_ours = request.headers.get("origin") in origins
    if not is_ours:
        raise Problem(403, "This was not sent from a page of this console.")


async def sign_in(
    services: Services, key: Key, credential: str, response: Response, *, is_https: bool
) -> None:
    """Begin a session for a key, and give its cookie. It ends with the secret it was begun with:
    who rotates a key because its secret got about shuts out who has it."""
    records = services.hosted.records(KIND)
    await services.hosted.do(_sweep(records))
    token = secrets.token_urlsafe(32)
    until_ns = time.time_ns() + SESSION_SECONDS * _SECOND_NS
    secret = sha256(credential.encode()).hexdigest()
    value = json.dumps({"key": key.id, "secret": secret, "until_ns": until_ns})
    await services.hosted.do(records.put(_digest(token), value, ABSENT))
    response.set_cookie(
        COOKIE,
        token,
        max_age=SESSION_SECONDS,
        path=PATH,
        secure=is_https,
        httponly=True,
        samesite="strict",
    )


async def sign_out(services: Services, request: Request, response: Response) -> None:
    """End the session of a request."""
    records = services.hosted.records(KIND)
    await services.hosted.do(records.remove(_digest(request.cookies.get(COOKIE, ""))))
    response.delete_cookie(COOKIE, path=PATH)


def next_page(wanted: str) -> str:
    """Where to go after signing in: only to pages of the console, whatever a link says."""
    is_ours = wanted.startswith(f"{PATH}/") and "\\" not in wanted and wanted.isprintable()
    return wanted if is_ours else f"{PATH}/stores"


async def _sweep(records: Records) -> None:
    now = time.time_ns()
    for record in await records.list("", _SWEPT):
        if now >= json.loads(record.value)["until_ns"]:
            await records.remove(record.key)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _signed_out() -> Problem:
    return Problem(401, "Sign in first.")


if TYPE_CHECKING:
    from memoranda.stores.records import Records
