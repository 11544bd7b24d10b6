"""What is known of a store without opening it: its names and times, and what its backend can do."""

from __future__ import annotations

from collections.abc import Mapping

from memoranda.light_named_tuples import NamedTuple


class Capabilities(NamedTuple):
    """What a backend can do; a missing one is refused before anything starts."""

    durable: bool = True
    redacts: bool = True
    searches: bool = True
    time_travel: bool = True
    shared_by_processes: bool = True
    shared_by_machines: bool = False
    external_edits: bool = False
    audits: bool = False
    """Keeps the audit of views and refusals too, and its chain."""
    takes_history: bool = False
    """``Backend.take_up``: takes over another store's history, with ids of memories, times and actors."""


class StoreInfo(NamedTuple):
    """What a backend knows of a store. ``user`` is None for stores made through the API."""

    id: str
    workspace: str
    name: str
    user: str | None
    description: str = ""
    metadata: Mapping[str, str] = {}
    created_at_ns: int = 0
    updated_at_ns: int = 0
    archived_at_ns: int | None = None

    @classmethod
    def new(
        cls,
        now_ns: int,
        name: str,
        workspace: str,
        description: str,
        metadata: Mapping[str, str] | None,
    ) -> StoreInfo:
        """A store that is about to be made, without a user, under a fresh id."""
        from memoranda.stores.log.ids import new_store_id

        return cls(
            new_store_id(now_ns),
            workspace,
            name,
            None,
            description,
            dict(metadata or {}),
            created_at_ns=now_ns,
            updated_at_ns=now_ns,
        )


class StorePage(NamedTuple):
    """A page of stores, newest first; ``after`` continues it, None on the last page."""

    stores: tuple[StoreInfo, ...]
    after: str | None
