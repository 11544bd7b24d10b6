"""Who calls: the key in a header, looked up, and kept for a moment."""

from __future__ import annotations

import time
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from memoranda.server.answers import problem_response
from memoranda.server.call import Guard
from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from memoranda.server.keys import Key
    from memoranda.server.services import Services

_MOST: Final = 10_000
_SECOND_NS: Final = 1_000_000_000


class KnownKeys:
    """Keys that were looked up a moment ago, by the hash of what was presented.

    A key that is revoked elsewhere goes on for ``seconds`` at most; ``forget`` is for here.
    Used by one event loop.
    """

    def __init__(
        self,
        check: Callable[[str], Awaitable[Key | None]],
        seconds: int,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._check = check
        self._nanoseconds = seconds * _SECOND_NS
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[Key, int]] = OrderedDict()

    async def find(self, credential: str, now_ns: int) -> Key | None:
        """The key with this secret that counts now (ns since 1970), or None."""
        digest = sha256(credential.encode()).digest()
        found = self._known.get(digest)
        if found is not None and self._clock() < found[1]:
            return found[0] if found[0].counts_at(now_ns) else None
        key = await self._check(credential)
        self._known.pop(digest, None)
        if key is not None:
            self._known[digest] = (key, self._clock() + self._nanoseconds)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return key

    def forget(self) -> None:
        """A key has changed: look them all up anew."""
        self._known.clear()


class HeaderGuard(Guard):
    """The key stands in ``x-api-key`` or in ``Authorization: Bearer``; problems are JSON."""

    async def key_of(self, request: Request, services: Services) -> Key:
        credential = _credential(request)
        key = (
            None
            if credential is None
            else await services.known_keys.find(credential, time.time_ns())
        )
        if key is None:
            said = (
                "No key was sent."
                if credential is None
                else "This key is not known, or counts no more."
            )
            raise Problem(
                401,
                f"{said} Send one as `Authorization: Bearer` or as `x-api-key`.",
                headers={"www-authenticate": 'Bearer realm="memoranda"'},
            )
        workspace = request.headers.get("anthropic-workspace-id")
        if workspace not in {None, key.workspace}:
            raise Problem(
                403, "The key belongs to another workspace than `anthropic-workspace-id`."
            )
        return key

    def refuse(self, problem: Problem, request: Request, request_id: str) -> ASGIApp:
        return problem_response(problem, request_id)


def _credential(request: Request) -> str | None:
    """What the client presents. Where both headers are there ``x-api-key`` counts, as documented."""
    given = request.headers.get("x-api-key")
    if given:
        return given
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return (token.strip() or None) if scheme.lower() == "bearer" else None
