"""Read-only: a store layer, so that no command and no program gets round it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from memoranda.errors import ReadOnly
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import Change, Context, Move, Version, WrapperStore


class RefuseWrites(WrapperStore):
    """A store that can be read, and nothing else: changes and redactions raise ``ReadOnly``.

    The path that is named is the one that would change first: the source of a move.
    """

    async def apply(self, changes: Sequence[Change], context: Context) -> NoReturn:
        raise ReadOnly(_first_path(changes))

    async def forget(self, path: MemoryPath, context: Context) -> NoReturn:
        raise ReadOnly(path)

    async def redact(self, version_id: str, context: Context) -> Version:
        raise ReadOnly(ROOT)


def _first_path(changes: Sequence[Change]) -> MemoryPath:
    for change in changes:
        return change.source if isinstance(change, Move) else change.path
    return ROOT
