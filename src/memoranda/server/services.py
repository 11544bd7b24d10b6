"""What endpoints work with: the stores, the keys, the settings; made once, for the whole server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoranda.server.auth import KnownKeys
    from memoranda.server.calls import ToolCalls
    from memoranda.server.hosted import Hosted
    from memoranda.server.keys import Keys
    from memoranda.server.mcp import McpApps
    from memoranda.server.metrics import Metrics
    from memoranda.server.settings import ServerSettings
    from memoranda.server.shares import Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Shared by all requests, on one event loop."""

    settings: ServerSettings
    hosted: Hosted
    keys: Keys
    known_keys: KnownKeys
    shares: Shares
    sign_ins: Shares
    calls: ToolCalls
    metrics: Metrics
    mcp: McpApps
