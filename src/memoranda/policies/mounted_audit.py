"""Looks and refusals, and uses, are noted with the store that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.errors import MemorandaError
from memoranda.path import MemoryPath, parse_path
from memoranda.policies.audit import AuditTrail
from memoranda.policies.expiry import Uses
from memoranda.policies.mounted import Mounted
from memoranda.stores.audit import PATH, TARGET
from memoranda.stores.base import Context


class MountedTrail(AuditTrail):
    """The trail of a memory with mounts: each entry goes to the store whose path it names first."""

    __slots__ = ("_mounts", "_own")

    def __init__(self, own: AuditTrail, mounts: Sequence[Mounted]) -> None:
        self._own = own
        self._mounts = mounts

    @property
    def keeps_reads(self) -> bool:
        return self._own.keeps_reads or any(mount.trail.keeps_reads for mount in self._mounts)

    async def read(self, context: Context, draft: Mapping[str, Any]) -> None:
        trail, inside = self._chosen(draft)
        if trail.keeps_reads:
            await trail.read(context, inside)

    async def note(self, context: Context, draft: Mapping[str, Any]) -> None:
        trail, inside = self._chosen(draft)
        await trail.note(context, inside)

    def hidden(self, draft: Mapping[str, Any]) -> Mapping[str, Any]:
        # By each store's own rules, and the memory's: a name is judged by whoever may keep it.
        for trail in (self._own, *(mount.trail for mount in self._mounts)):
            draft = trail.hidden(draft)
        return draft

    def _chosen(self, draft: Mapping[str, Any]) -> tuple[AuditTrail, Mapping[str, Any]]:
        path = _path(draft.get(PATH))
        for mount in self._mounts:
            if path is not None and mount.holds(path):
                inside = {**draft, PATH: mount.inward(path).text}
                target = _path(draft.get(TARGET))
                if target is not None and mount.holds(target):
                    inside[TARGET] = mount.inward(target).text
                return mount.trail, inside
        return self._own, draft


class MountedUses(Uses):
    """Where uses are noted in a memory with mounts: with the store that was looked into."""

    def __init__(self, own: Uses | None, mounts: Sequence[Mounted]) -> None:
        self._own = own
        self._mounts = mounts

    async def note(self, path: MemoryPath) -> None:
        for mount in self._mounts:
            if mount.holds(path):
                if mount.uses is not None:
                    await mount.uses.note(mount.inward(path))
                return
        if self._own is not None:
            await self._own.note(path)


def _path(text: object) -> MemoryPath | None:
    """A path of a draft; what was refused as one is nobody's."""
    try:
        return parse_path(text) if isinstance(text, str) else None
    except MemorandaError:
        return None
