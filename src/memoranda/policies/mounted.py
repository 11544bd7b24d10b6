"""One mounted store: its paths and errors as they are seen from the memory that shows it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar

from memoranda.errors import AboutPath, MemorandaError, MovedNameTooLong
from memoranda.light_dataclasses import replace
from memoranda.path import ROOT_TEXT, MemoryPath
from memoranda.policies.audit import AuditTrail
from memoranda.policies.expiry import Uses
from memoranda.stores.base import (
    Change,
    Context,
    Directory,
    Entry,
    Move,
    Removal,
    Store,
    Version,
    VersionFilter,
)

T = TypeVar("T")


class Mounted(NamedTuple):
    """A store inside its own layers, shown at ``point``; its own audit, and where its uses are noted."""

    point: MemoryPath
    store: Store
    trail: AuditTrail
    uses: Uses | None

    def holds(self, path: MemoryPath) -> bool:
        """Whether a path is the mount point or lies beneath it."""
        return path == self.point or path.is_below(self.point)

    # ---- paths

    def inward(self, path: MemoryPath) -> MemoryPath:
        """A path of the memory, as the mounted store knows it."""
        return MemoryPath.of(path.segments[len(self.point.segments) :])

    def outward(self, path: MemoryPath) -> MemoryPath:
        """A path of the mounted store, as the memory shows it."""
        return MemoryPath.of((*self.point.segments, *path.segments))

    def after(self, position: str | None) -> tuple[bool, str | None]:
        """Where a listing of the memory that goes on after ``position`` has to go on here; False:
        nowhere, all of this lies before it."""
        inside = f"{self.point.store_path}/"
        if position is None or position < inside:
            return True, None
        return position.startswith(inside), position[len(inside) - 1 :]

    # ---- what goes in

    def change(self, change: Change) -> Change:
        """A change, with its paths as the mounted store knows them."""
        if isinstance(change, Move):
            return replace(
                change, source=self.inward(change.source), target=self.inward(change.target)
            )
        return replace(change, path=self.inward(change.path))

    def context(self, context: Context) -> Context:
        """The context of a batch, which is told what happens in the memory's paths."""
        notice = context.notice
        if notice is None:
            return context

        def seen(removal: Removal) -> None:
            notice(removal._replace(path=self.outward(removal.path)))

        return replace(context, notice=seen)

    def filter(self, where: VersionFilter) -> VersionFilter:
        """A filter with a path in here."""
        assert where.path is not None, "it was chosen by its path"
        return replace(where, path=self.inward(where.path))

    # ---- what comes out

    def entry(self, entry: Entry) -> Entry:
        """A memory, where it is shown."""
        return entry._replace(path=self.outward(entry.path))

    def listed(self, one: Entry | Directory) -> Entry | Directory:
        """One line of a listing, where it is shown."""
        return one._replace(path=self.outward(one.path))

    def version(self, version: Version) -> Version:
        """A version, where its memory is shown."""
        if version.path is None:
            return version
        return version._replace(path=self.outward(version.path))

    def versions(self, versions: Sequence[Version]) -> tuple[Version, ...]:
        """The same of several."""
        return tuple(self.version(version) for version in versions)

    async def call(self, work: Coroutine[Any, Any, T], seen: Callable[[T], T] | None = None) -> T:
        """What the mounted store answers; its errors name the memory's paths."""
        try:
            answer = await work
        except MemorandaError as error:
            self._rename(error)
            raise
        return answer if seen is None else seen(answer)

    def _rename(self, error: MemorandaError) -> None:
        if isinstance(error, MovedNameTooLong):
            error.source = self.outward(error.source)
            error.too_long = f"{self.point}{error.too_long.removeprefix(ROOT_TEXT)}"
        if isinstance(error, AboutPath):
            inner, error.path = error.path, self.outward(error.path)
            error.args = tuple(
                said.replace(inner.text, error.path.text, 1) if isinstance(said, str) else said
                for said in error.args
            )
