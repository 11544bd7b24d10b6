"""Where a store is, or will be once its user changes anything: shared by all its handles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.stores.git.writer import ChangeJob, Writer
from memoranda.stores.log.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memoranda.stores.base import Change, Context
    from memoranda.stores.git.repository import Repository


class Place:
    """``writer`` is None until the store is made; ``id`` is then the one that it will get unless
    somebody else makes it first."""

    __slots__ = ("__weakref__", "id", "records", "user", "workspace", "writer")

    def __init__(self, store_id: str, workspace: str, user: str | None) -> None:
        self.id = store_id
        self.workspace = workspace
        self.user = user
        self.records = Records()
        self.writer: Writer | None = None

    def bind(
        self,
        store_id: str,
        repository: Repository,
        now: Callable[[], int],
        is_archived: Callable[[], bool],
    ) -> None:
        """The store exists, there."""
        if self.writer is None:
            self.id = store_id
            self.writer = Writer(repository, store_id, now, is_archived)

    def job(self, changes: Sequence[Change], context: Context | None) -> ChangeJob:
        """A batch for this store, which takes along what waits."""
        return ChangeJob(self.records, changes, context)
