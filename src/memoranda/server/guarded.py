"""Routes made of the route table: nothing gets to a handler but through here.

For every request, in this order: the method, the key, the role, the key's shares, the time limit.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from memoranda.errors import MemorandaError, Misuse, Unavailable
from memoranda.server.call import Endpoint, Needs, Surface, Visit
from memoranda.server.edge import REQUEST_ID, note
from memoranda.server.problems import Problem, problem_of, unknown_route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from memoranda.server.services import Services

_log: Final = logging.getLogger("memoranda.server")


class Guarded:
    """One path of a surface, all methods of it. An ASGI application.

    Whoever has no good key learns nothing, not even which methods there are.
    """

    def __init__(self, surface: Surface, path: str, services: Services) -> None:
        self.surface = surface
        self.path = path
        self._services = services
        self.by_method = {each.method: each for each in surface.endpoints if each.path == path}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in or refuse, then answer."""
        request = Request(scope, receive)
        request_id: str = scope[REQUEST_ID]
        note(scope, route=self.path)
        try:
            answer = await self._answer(request, request_id)
        except Problem as problem:
            answer = self.surface.guard.refuse(problem, request, request_id)
        except MemorandaError as error:
            if isinstance(error, (Unavailable, Misuse)) or error.http_status >= 500:
                _log.error("A request failed", exc_info=error, extra={"request_id": request_id})
            answer = self.surface.guard.refuse(problem_of(error), request, request_id)
        await answer(scope, receive, send)

    async def _answer(self, request: Request, request_id: str) -> ASGIApp:
        endpoint = self._endpoint(request.method)
        services = self._services
        visit = Visit(services, request, request_id)
        if endpoint is not None and not isinstance(endpoint.access, Needs):
            return await endpoint.handler(visit)
        visit.known_key = key = await self.surface.guard.key_of(request, services)
        note(request.scope, key=key.id)
        if endpoint is None:
            raise Problem(
                405,
                f"{request.method} can't be done here.",
                headers={"allow": ", ".join(sorted(self.by_method))},
            )
        assert isinstance(endpoint.access, Needs)
        role = endpoint.access.role
        if not key.may(role):
            raise Problem(403, f"This needs a key with the role {role}; yours is {key.role}.")
        if endpoint.streams:
            return await endpoint.handler(visit)
        try:
            with services.shares.take(key.id):
                async with asyncio.timeout(services.settings.request_seconds):
                    return await endpoint.handler(visit)
        except TimeoutError:
            raise Problem(504, "This took too long; try again.") from None

    def _endpoint(self, method: str) -> Endpoint | None:
        return self.by_method.get("GET" if method == "HEAD" else method)


class Nothing:
    """What answers where there is no route. Below ``/v1`` only who has a key learns that."""

    def __init__(self, surface: Surface, services: Services) -> None:
        self._surface = surface
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say that there is nothing."""
        request = Request(scope, receive)
        request_id: str = scope[REQUEST_ID]
        problem = unknown_route()
        if scope["path"].startswith("/v1"):
            try:
                await self._surface.guard.key_of(request, self._services)
            except Problem as refused:
                problem = refused
            except MemorandaError as error:
                problem = problem_of(error)
        await self._surface.guard.refuse(problem, request, request_id)(scope, receive, send)


def routes_of(surface: Surface, services: Services) -> list[BaseRoute]:
    """The routes of a surface, in the order of its table, one for each path."""
    paths = dict.fromkeys(endpoint.path for endpoint in surface.endpoints)
    return [Route(path, Guarded(surface, path, services)) for path in paths]
