"""How an endpoint of the API is made of a function, and what several of them do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import AlreadyExists, IsADirectory, NotADirectory, ReadOnly
from memoranda.server.answers import json_response
from memoranda.server.api.reading import check_beta
from memoranda.server.call import Doc, Endpoint, Needs, Visit
from memoranda.server.problems import DONT_RETRY, Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from memoranda.core import Core
    from memoranda.path import MemoryPath
    from memoranda.server.api.objects import Shape
    from memoranda.server.keys import Role

FULL_PAGE: Final = 20
"""A page with contents holds no more items than this."""


def api(
    method: str,
    path: str,
    role: Role,
    function: Callable[[Visit], Awaitable[Shape]],
    doc: Doc,
) -> Endpoint:
    """An endpoint that answers JSON."""

    async def handler(visit: Visit) -> ASGIApp:
        check_beta(visit)
        found = await function(visit)
        return json_response(found, {"anthropic-workspace-id": visit.key.workspace})

    return Endpoint(method=method, path=path, access=Needs(role), handler=handler, doc=doc)


def doc(
    operation: str,
    summary: str,
    answer: type[Any],
    *,
    query: type[Any] | None = None,
    body: type[Any] | None = None,
    errors: tuple[int, ...] = (),
) -> Doc:
    """What the OpenAPI document says; ``operation`` is ``tag.verb``, as the SDKs name it."""
    tag, _, _ = operation.partition(".")
    return Doc(
        operation=operation,
        summary=summary,
        tag=tag,
        query=query,
        body=body,
        answer=answer,
        errors=errors,
    )


def store_of(visit: Visit) -> str:
    """The store's id in the path."""
    return visit.params["store"]


async def opened(visit: Visit) -> Core:
    """The store in the path, opened under the key; raises ``UnknownId``."""
    return await visit.services.hosted.core(visit.key, store_of(visit))


@asynccontextmanager
async def writing(visit: Visit, core: Core, path: MemoryPath | None) -> AsyncGenerator[None]:
    """Around a write to ``path``: what is in its way is named, an archived store says so."""
    hosted = visit.services.hosted
    try:
        yield
    except ReadOnly:
        info = await hosted.info(visit.key, store_of(visit))
        if info.archived_at_ns is not None:
            raise Problem(400, "The memory store is archived; it can't be written.") from None
        raise
    except (AlreadyExists, IsADirectory, NotADirectory) as error:
        if path is None:
            raise
        there = await hosted.do(core.by_id.in_the_way(path))
        raise Problem(
            409,
            "A memory is in the way of this path.",
            kind="memory_path_conflict_error",
            more={
                "conflicting_memory_id": "" if there is None else there.memory_id,
                "conflicting_path": path.store_path if there is None else there.path.store_path,
            },
            headers=DONT_RETRY,
        ) from error
