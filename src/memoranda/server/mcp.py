"""``/mcp``: memories over the Model Context Protocol, with the server's keys and policies."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from memoranda.server.auth import HeaderGuard
from memoranda.server.call import Endpoint, Needs, Surface
from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from memoranda.adapters.mcp import HttpApp, Served
    from memoranda.server.call import Visit

_SERVED: Final = "memoranda.mcp"
"""Where the scope of a request holds its memory."""


class McpApps:
    """The protocol's application, while the server runs."""

    def __init__(self) -> None:
        self._app: HttpApp | None = None

    @property
    def app(self) -> ASGIApp:
        """What answers requests; only between the server's start and its end."""
        assert self._app is not None
        return self._app

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Around the server's life. The SDK is loaded here, before the first request."""
        from memoranda.adapters.mcp import HttpApp

        self._app = HttpApp(_find)
        async with self._app.lifespan():
            yield


async def _find(request: Request) -> Served:
    """The memory that the handler below has put there, after the guard."""
    served: Served = request.scope[_SERVED]
    return served


async def answer(visit: Visit) -> ASGIApp:
    """Answer a message of the protocol, about the store that the path names, or the key's only one.

    Keys with the role "read" may look; changes are refused in the words that models read.
    """
    from memoranda.adapters.mcp import Served

    key = visit.key
    store_id = visit.params.get("store")
    if store_id is None:
        if key.stores is None or len(key.stores) != 1:
            raise Problem(
                404, "Name the store, as in /mcp/memstore_..., or use a key that is for one store."
            )
        (store_id,) = key.stores
    memory = await visit.services.hosted.memory(key, store_id)
    visit.request.scope[_SERVED] = Served(memory, (key.workspace, store_id))
    return visit.services.mcp.app


MCP: Final = Surface(
    name="mcp",
    endpoints=tuple(
        Endpoint(method="POST", path=path, access=Needs("read"), handler=answer)
        for path in ("/mcp", "/mcp/{store}")
    ),
    guard=HeaderGuard(),
    lifespan=lambda services: services.mcp.running(),
)
"""Only ``POST``: requests stand for themselves, there is no session to end and none to listen to."""
