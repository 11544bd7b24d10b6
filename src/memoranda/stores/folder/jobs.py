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

_JOB_BYTES: Final = 200
"""What a job writes beside its contents, about."""


class FolderJob(Job):
    """One caller's work. ``work`` runs in a turn, after the tree was compared with the log at the
    paths ``looks`` (each with whether the work reads the content there)."""

    __slots__ = ("adopts_all", "changes", "context", "looks", "runs", "versions", "work")

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
        self.context = Context()
        self.runs = 0
        self.versions: tuple[Version, ...] = ()

    @classmethod
    def applying(cls, changes: Sequence[Change], context: Context) -> FolderJob:
        """The job of ``Store.apply``."""
        looks: list[tuple[MemoryPath, bool]] = []
        for change in changes:
            if isinstance(change, Move):
                looks += [(change.source, False), (change.target, False)]
            else:
                looks.append((change.path, isinstance(change, Edit)))
        size = sum(len(change.content) for change in changes if isinstance(change, Put))
        job = cls(lambda turn: turn.run(changes, context), looks=tuple(looks), size_bytes=size)
        job.changes = changes
        job.context = context
        return job

    @property
    def runs_callers_code(self) -> bool:
        """Whether what it raises may be its caller's own."""
        return any(isinstance(change, Edit) for change in self.changes)

    @property
    def moves_things(self) -> bool:
        """Whether places mean something else after it."""
        return any(isinstance(change, Move | Remove) for change in self.changes)


def nothing(_: Turn) -> tuple[Version, ...]:
    """The work of a job that only looks."""
    return ()
