"""Who the client is where a proxy stands before us: only proxies that we know are believed."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Scope


class TrustedProxies:
    """Networks whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` count."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(network) for network in networks]

    def apply(self, scope: Scope) -> None:
        """Set the client and the scheme of a request that came through a proxy that is trusted.

        Of the chain the last address counts that no trusted proxy has: what stands before it may
        be made up.
        """
        client = scope.get("client")
        if not self._networks or client is None or not self._trusts(client[0]):
            return
        chain = _values(scope, b"x-forwarded-for")
        for address in reversed(chain):
            if not _is_address(address):
                break
            scope["client"] = (address, 0)
            if not self._trusts(address):
                break
        protocol = _values(scope, b"x-forwarded-proto")
        if protocol and protocol[-1] in {"http", "https"}:
            scope["scheme"] = protocol[-1]

    def _trusts(self, address: str) -> bool:
        if not _is_address(address):
            return False
        found = ip_address(address)
        return any(found in network for network in self._networks)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _values(scope: Scope, wanted: bytes) -> list[str]:
    found = [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]
    return [part.strip() for part in ",".join(found).split(",") if part.strip()]
