"""The route table of the API: one list, of which the routes, the document and the tests are made."""

from __future__ import annotations

from typing import Final

from memoranda.server.api import health, memories, openapi, stores, tool, versions
from memoranda.server.auth import HeaderGuard
from memoranda.server.call import Endpoint, Surface

DESCRIBED: Final[tuple[Endpoint, ...]] = (
    *stores.ENDPOINTS,
    *memories.ENDPOINTS,
    *versions.ENDPOINTS,
    *tool.ENDPOINTS,
)

API: Final = Surface(
    name="api",
    endpoints=(*DESCRIBED, *health.ENDPOINTS, openapi.endpoint(DESCRIBED)),
    guard=HeaderGuard(),
)
