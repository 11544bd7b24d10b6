"""``/healthz``, ``/readyz``, ``/metrics``: for whoever runs the server; nothing about anybody in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from memoranda.errors import MemorandaError
from memoranda.server.answers import json_response
from memoranda.server.call import Endpoint, Open
from memoranda.server.keys import KIND
from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from memoranda.server.call import Visit


async def healthz(visit: Visit) -> ASGIApp:
    """The process answers."""
    return json_response({"status": "ok"})


async def readyz(visit: Visit) -> ASGIApp:
    """The storage answers."""
    hosted = visit.services.hosted
    try:
        await hosted.do(hosted.records(KIND).get("ready"))
    except MemorandaError:
        raise Problem(503, "The storage does not answer.", headers={"retry-after": "1"}) from None
    return json_response({"status": "ready"})


async def metrics(visit: Visit) -> ASGIApp:
    """Numbers for Prometheus."""
    found = visit.services.metrics
    return Response(found.text(), headers={"content-type": found.media_type})


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="/healthz",
        access=Open("Says no more than that the process answers."),
        handler=healthz,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        access=Open("Says no more than that the storage answers."),
        handler=readyz,
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        access=Open("Numbers by route and status; no key, store or path is in them."),
        handler=metrics,
    ),
)
