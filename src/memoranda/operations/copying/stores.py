"""Which stores of a backend are meant: one, those of a workspace, or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.errors import UnknownUser, Unsupported
from memoranda.stores.companions import RESERVED
from memoranda.tenant import DEFAULT_WORKSPACE, STORE_PREFIX

if TYPE_CHECKING:
    from memoranda.stores.base import Backend, StoreInfo


async def stores_of(
    backend: Backend, user: str | None = None, workspace: str | None = None
) -> list[StoreInfo]:
    """The store of ``user`` (a name, or the id of a store) in a workspace, the default one unless
    said; without a user all stores of the workspace, or of all workspaces. Oldest first.

    Where a backend can't tell its workspaces, those of the default one. Raises ``UnknownId`` for an id, ``UnknownUser`` for a
    name.
    """
    if user is not None:
        return [await _one(backend, user, workspace or DEFAULT_WORKSPACE)]
    found: list[StoreInfo] = []
    for each in await _workspaces(backend) if workspace is None else (workspace,):
        after: str | None = None
        while True:
            page = await backend.list(each, after=after)
            found += page.stores
            after = page.after
            if after is None:
                break
    return sorted(found, key=lambda info: (info.created_at_ns, info.id))


async def _one(backend: Backend, user: str, workspace: str) -> StoreInfo:
    if user.startswith(STORE_PREFIX):
        return await backend.info(user, workspace)
    found = await backend.find_user(user, workspace)
    if found is None:
        raise UnknownUser
    return found


async def _workspaces(backend: Backend) -> tuple[str, ...]:
    try:
        found = await backend.workspaces()
    except Unsupported:
        return (DEFAULT_WORKSPACE,)
    return tuple(each for each in found if each not in RESERVED)
