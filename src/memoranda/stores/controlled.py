"""What the backends that keep a control table have in common: making and changing stores in it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from memoranda.stores import control
from memoranda.stores.base import Backend, StoreInfo
from memoranda.tenant import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from memoranda.stores.log.connection import Connection
    from memoranda.stores.records import Records


class ControlledBackend(Backend):
    """A backend whose stores are rows of ``control``.

    A subclass has the clock, the transaction and what else a new store needs.
    """

    @abstractmethod
    def _now_ns(self) -> int:
        """Nanoseconds since 1970."""

    @abstractmethod
    def changing(self) -> AbstractContextManager[Connection]:
        """A durable transaction on the table; raises ``Misuse`` when the backend is closed."""

    @abstractmethod
    def looking(self) -> AbstractContextManager[Connection | None]:
        """The database as it is; None while there is none. Raises ``Misuse`` when the backend is
        closed."""

    @abstractmethod
    def _make(self, info: StoreInfo) -> None:
        """Make a store that no user has; raises ``Misuse`` when the backend is closed."""

    def records(self, kind: str) -> Records:
        from memoranda.stores.control_records import SqlRecords

        return SqlRecords(self, kind)

    async def create(
        self,
        name: str,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        now = self._now_ns()
        info = StoreInfo.new(now, name, workspace, description, metadata)
        self._make(info)
        return info

    async def update(
        self,
        store_id: str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        await self.info(store_id, workspace)
        with self.changing() as db:
            return control.update(
                db,
                store_id,
                workspace,
                self._now_ns(),
                name=name,
                description=description,
                metadata=metadata,
            )
