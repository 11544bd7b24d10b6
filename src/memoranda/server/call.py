"""The words in which the route table is written: who may call what, and what answers.

An ``Endpoint`` says its method, its path and its ``Access``; there is none without. ``guarded.py``
makes routes of them, and the authentication with them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from memoranda.server.keys import Key, Role
    from memoranda.server.problems import Problem
    from memoranda.server.services import Services


class Needs(NamedTuple):
    """Only for keys with this role, or a higher one."""

    role: Role


class Open(NamedTuple):
    """For everybody, and why."""

    because: str


Access: TypeAlias = Needs | Open


@dataclass(slots=True)
class Visit:
    """One request that was let in. ``key`` is None at endpoints that are open."""

    services: Services
    request: Request
    request_id: str
    known_key: Key | None = None

    @property
    def key(self) -> Key:
        """The key; only where the endpoint needs one."""
        assert self.known_key is not None
        return self.known_key

    @property
    def params(self) -> dict[str, str]:
        """What the path's placeholders hold."""
        return self.request.path_params


Handler: TypeAlias = "Callable[[Visit], Awaitable[ASGIApp]]"
"""Answers a visit: with a Starlette response, or anything else that speaks ASGI. It may raise a
``Problem`` or any error of ``memoranda.errors``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One line of the route table.

    ``streams`` lifts the time limit of an answer. ``doc`` is what the OpenAPI document says of it;
    None leaves it out.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    streams: bool = False
    doc: Doc | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """What the OpenAPI document says of an endpoint. Models are pydantic's."""

    operation: str
    summary: str
    tag: str
    query: type[Any] | None = None
    body: type[Any] | None = None
    answer: type[Any] | None = None
    errors: tuple[int, ...] = field(default=())


class Guard(Protocol):
    """Finds out who calls: by key in a header (the API, MCP), by session (the console)."""

    async def key_of(self, request: Request, services: Services) -> Key:
        """Whose request this is; raises a ``Problem``."""
        ...

    def refuse(self, problem: Problem, request: Request, request_id: str) -> ASGIApp:
        """The answer for a problem, at this surface."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """Endpoints that have a guard in common; what mounts something of its own is one more of these.

    ``lifespan`` runs while the server does.
    """

    name: str
    endpoints: tuple[Endpoint, ...]
    guard: Guard
    lifespan: Callable[[Services], AbstractAsyncContextManager[None]] | None = None
