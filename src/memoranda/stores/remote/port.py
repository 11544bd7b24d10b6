"""How requests reach the server: one of two ports, which block or suspend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from memoranda.stores.patience import patiently

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from anthropic.resources.beta.memory_stores import MemoryStores

    from memoranda.stores.remote.address import Address

T = TypeVar("T")

CONNECT_SECONDS: Final = 5.0


class Port(ABC):
    """Sends requests. A request is a function of the SDK's resource for memory stores, whose calls are
    spelled the same in both colours."""

    suspends: ClassVar[bool]

    @abstractmethod
    async def ask(self, request: Callable[[MemoryStores], T]) -> T:
        """What one request gives, sent once. Raises what ``faults.translated`` says."""

    @abstractmethod
    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """One at a time in this process, by name: who would only lose a race waits instead."""

    @abstractmethod
    async def pause(self, seconds: float) -> None:
        """Wait."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections."""

    async def look(self, request: Callable[[MemoryStores], T]) -> T:
        """What a request gives that changes nothing: sent again while the fault is one that passes."""
        return await patiently(self, lambda: self.ask(request), monotonic)


def client_options(where: Address, key: str) -> dict[str, Any]:
    """What both of the SDK's clients are told.

    Retries are ours: a client that sends a write again by itself takes its own success for somebody
    else's. Given a key, the SDK looks for no other one in the environment.
    """
    import anthropic

    return {
        "api_key": key,
        "base_url": where.base_url,
        "max_retries": 0,
        "timeout": anthropic.Timeout(where.timeout_seconds, connect=CONNECT_SECONDS),
    }


def http_options(where: Address) -> dict[str, Any]:
    """What the HTTP client below is told: no redirection takes the key elsewhere, and no proxy sees
    what has no TLS."""
    options: dict[str, Any] = {"follow_redirects": False}
    if where.is_plain:
        # Certificates are not asked for here, and loading the authorities takes a tenth of a second.
        options |= {"trust_env": False, "verify": False}
    return options
