"""Jobs: what callers want done to a store, on its way through group commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from memoranda.stores.base import Change, Context, Edit, Move, Put, Remove, Version
from memoranda.stores.group_commit import Job

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.log.turn import Turn

Work: TypeAlias = "Callable[[Turn], tuple[Version, ...]]"

_NO_CONTEXT: Final = Context()

_JOB_BYTES: Final = 200
"""What a job writes beside its contents, about."""


class FolderJob(Job):
    """One caller's work. ``work`` runs in a turn, after the tree was compared with the log at the
    paths ``looks`` (each with whether the work reads the content there)."""

    __slots__ = (
        "adopts_all",
        "changes",
        "context",
        "looks",
        "moves_things",
        "runs",
        "versions",
        "work",
    )

    def __init__(
        self,
        work: Work,
        *,
        looks: tuple[tuple[MemoryPath, bool], ...] = (),
        adopts_all: bool = False,
        size_bytes: int = 0,
    ) -> None:
        super().__init__(_JOB_BYTES + size_bytes)
        self.work = work
        self.looks = looks
        self.adopts_all = adopts_all
        self.changes: Sequence[Change] = ()
        self.context = _NO_CONTEXT
        self.moves_things = False
        """Whether places mean something else after it."""
        self.runs = 0
        self.versions: tuple[Version, ...] = ()

    @classmethod
    def applying(cls, changes: Sequence[Change], context: Context) -> FolderJob:
        """The job of ``Store.apply``."""
        looks: list[tuple[MemoryPath, bool]] = []
        size = 0
        moves_things = False
        for change in changes:
            if isinstance(change, Put):
                size += len(change.content)
                looks.append((change.path, False))
            elif isinstance(change, Move):
                moves_things = True
                looks += [(change.source, False), (change.target, False)]
            else:
                moves_things = moves_things or isinstance(change, Remove)
                looks.append((change.path, isinstance(change, Edit)))
        job = cls(lambda turn: turn.run(changes, context), looks=tuple(looks), size_bytes=size)
        job.changes = changes
        job.context = context
        job.moves_things = moves_things
        return job


def nothing(_: Turn) -> tuple[Version, ...]:
    """The work of a job that only looks."""
    return ()
