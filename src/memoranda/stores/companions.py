"""Companions: stores of made-up users that keep, beside a store, what is about it and not in it.

They lie in workspaces of the same backend that no application opens, so they work on every backend,
are written as durably as any memory, sealed where contents are, and erased as thoroughly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.digests import sha256

if TYPE_CHECKING:
    from memoranda.stores.base import Backend
    from memoranda.stores.changes import Context
    from memoranda.stores.store_info import StoreInfo

PROPOSALS: Final = "proposals"
"""The workspace of what waits for a person."""

RECORDS: Final = "control-records"
"""The workspace of records that belong to no store, where a backend has no place of their own."""

RESERVED: Final = frozenset({PROPOSALS, RECORDS})
"""Workspaces that no application may open."""


def label_of(info: StoreInfo) -> str:
    """The made-up user whose store is the companion of a store."""
    if info.user is None:
        return _label("id", info.id)
    return label_of_user(info.user, info.workspace)


def label_of_user(user: str, workspace: str) -> str:
    """The same for the store of a user, made or not."""
    return _label("user", workspace, user)


def _label(*parts: str) -> str:
    return f"{parts[0]}-{sha256('/'.join(parts).encode()).hexdigest()[:40]}"


async def erase_proposals(backend: Backend, info: StoreInfo, context: Context) -> None:
    """Erase what waits for a person about a store that was erased; every ``Backend.erase`` ends
    with it."""
    if info.workspace in RESERVED:
        return
    found = await backend.find_user(label_of(info), PROPOSALS)
    if found is not None:
        await backend.erase(found.id, context, PROPOSALS)
