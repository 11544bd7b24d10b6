"""The server as a program: uvicorn around the application."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import uvicorn

from memoranda.errors import Misuse
from memoranda.server.app import create_app
from memoranda.server.edge import JsonLines
from memoranda.server.protocol import protocol_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from memoranda.config import Settings
    from memoranda.server.settings import ServerSettings


def serve(
    url: str, settings: Settings, server: ServerSettings, ready: Callable[[str], None]
) -> None:
    """Serve the stores at ``url`` until a signal ends it: then nothing new is taken, and what is
    in flight is done. ``ready`` is called with the address once connections are taken."""
    _log_as_json()
    _Server(config_of(create_app(url, settings, server), server), ready).run()


def config_of(app: ASGIApp, server: ServerSettings) -> uvicorn.Config:
    """How uvicorn runs the application."""
    return uvicorn.Config(
        app,
        host=server.host,
        port=server.port,
        http=protocol_of(server.header_seconds),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # ours believes only who is trusted, and is tested
        lifespan="on",
        ws="none",
        backlog=server.connections,
        limit_concurrency=server.connections,
        timeout_keep_alive=server.idle_seconds,
        timeout_graceful_shutdown=server.shutdown_seconds,
    )


class _Server(uvicorn.Server):
    """Says where it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as end:  # uvicorn has logged what failed
            if self.lifespan.should_exit:
                raise
            raise Misuse(
                f"Can't listen on {self.config.host}, port {self.config.port}: it is in use, or not"
                " this machine's. Choose another with --port (0 takes a free one) or --host."
            ) from end
        for server in getattr(self, "servers", []):
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                self._ready(f"http://{shown}:{port}")


def _log_as_json() -> None:
    # No line says them, and to find them out takes a fifth of the time of one.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("memoranda", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
    logging.getLogger("memoranda").setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
