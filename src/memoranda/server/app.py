"""The application factory: surfaces in, one ASGI application out."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.routing import Router

from memoranda.errors import MemorandaError
from memoranda.server.api.surface import API
from memoranda.server.auth import KnownKeys
from memoranda.server.calls import ToolCalls
from memoranda.server.console.surface import CONSOLE
from memoranda.server.edge import Edge
from memoranda.server.guarded import Nothing, routes_of
from memoranda.server.hosted import Hosted
from memoranda.server.keys import KIND, Keys
from memoranda.server.mcp import MCP, McpApps
from memoranda.server.metrics import Metrics
from memoranda.server.services import Services
from memoranda.server.settings import ServerSettings
from memoranda.server.shares import Shares
from memoranda.server.sweeping import sweep_again_and_again

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from starlette.types import ASGIApp

    from memoranda.config import Settings
    from memoranda.server.call import Surface

_SWEEP_SECONDS: Final = 3600
_log: Final = logging.getLogger("memoranda.server")

SURFACES: tuple[Surface, ...] = (API, CONSOLE, MCP)
"""All that the server offers, each with a guard of its own."""


def create_app(
    url: str,
    settings: Settings,
    server: ServerSettings | None = None,
    *,
    surfaces: Sequence[Surface] = SURFACES,
) -> ASGIApp:
    """The server over the stores at ``url``, as one ASGI application.

    ``settings`` has the policies. Opens the backend at once and closes it with the lifespan. The
    application works on one event loop, in one process; others may serve the same stores.
    """
    server = server or ServerSettings()
    hosted = Hosted(url, settings)
    keys = Keys(hosted.records(KIND))
    services = Services(
        settings=server,
        hosted=hosted,
        keys=keys,
        known_keys=KnownKeys(
            lambda credential: hosted.do(keys.check(credential)), server.key_cache_seconds
        ),
        shares=Shares(server.requests_per_minute, server.requests_at_once),
        sign_ins=Shares(server.sign_ins_per_minute, server.requests_at_once, who="This address"),
        calls=ToolCalls(hosted),
        metrics=Metrics(),
        mcp=McpApps(),
    )
    router = Router(
        [route for surface in surfaces for route in routes_of(surface, services)],
        redirect_slashes=False,
        default=Nothing(API, services),
        lifespan=lambda app: _lifespan(services, surfaces),
    )
    return Edge(router, server, services.metrics)


@asynccontextmanager
async def _lifespan(services: Services, surfaces: Sequence[Surface]) -> AsyncGenerator[None]:
    """Around the server's life: its threads, what surfaces need, and the backend's close at the
    end, when no request is in flight any more."""
    threads = ThreadPoolExecutor(services.settings.threads, thread_name_prefix="memoranda")
    asyncio.get_running_loop().set_default_executor(threads)
    tasks = [asyncio.create_task(_sweep(services))]
    minutes = services.settings.sweep_minutes
    if minutes:
        again = sweep_again_and_again(services.hosted, services.keys, minutes)
        tasks.append(asyncio.create_task(again))
    try:
        async with AsyncExitStack() as stack:
            for surface in surfaces:
                if surface.lifespan is not None:
                    await stack.enter_async_context(surface.lifespan(services))
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)  # what a thread is at is finished before its backend closes
        services.calls.close()
        await services.hosted.close()


async def _sweep(services: Services) -> None:
    """Forget tool calls that nobody will repeat, every hour."""
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        try:
            await services.calls.sweep()
        except MemorandaError as error:
            _log.warning("Old tool calls could not be swept", exc_info=error)
