"""The commands of one transaction on one store, in memory until they are written at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Context, Put, Version
    from memoranda.stores.log.heads import Heads
    from memoranda.stores.log.store_log import Image, StoreLog
    from memoranda.stores.log.tree import Node


@dataclass(frozen=True, slots=True)
class Retention:
    """How much history stays: everything younger than ``keep_days`` (0: for ever), always the head
    and the ``keep_newest`` versions of a live memory, and, where ``budget_bytes`` is given, as much
    as fits: the oldest goes first. Events after ``keep_after_seq`` stay whatever else holds."""

    keep_days: int = 30
    keep_newest: int = 10
    budget_bytes: int | None = None
    keep_after_seq: int | None = None


class Turn:
    """One transaction's commands on one store.

    Make it after BEGIN IMMEDIATE and drop it after COMMIT or ROLLBACK; until ``finish`` it only
    reads the database. ``now_ns`` is the clock; events get at least the time of the newest one.
    ``archived`` makes Put, Edit and Move raise ``ReadOnly``.
    """

    def __init__(
        self,
        log: StoreLog,
        heads: Heads,
        now_ns: int,
        *,
        archived: bool = False,
        retention: Retention | None = None,
    ) -> None:
        raise NotImplementedError

    # ---- looking

    def find(self, path: MemoryPath) -> Node | None:
        """The live node at ``path`` as this turn sees it, file or directory, or None."""
        raise NotImplementedError

    def path_of(self, node: Node) -> MemoryPath | None:
        """Where a node lives as this turn sees it; None when it is gone."""
        raise NotImplementedError

    def last_removed(self, path: MemoryPath) -> tuple[str, str] | None:
        """Memory id and remover's actor of the file that was last deleted, by itself, at ``path``."""
        raise NotImplementedError

    # ---- changing

    def run(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        """Do one command as ``Store.apply`` says. Whatever it raises undoes it, nothing else."""
        raise NotImplementedError

    def adopt(self, put: Put, image: Image, context: Context) -> tuple[Version, ...]:
        """A Put of text that lies at its place in the tree already: ``Heads.store`` is not asked
        for it, ``image`` is taken as it is. Equal content only refreshes the image."""
        raise NotImplementedError

    def add_late(self, node: Node, content: bytes, context: Context) -> Version:
        """A version that is in history and never head (``Version.late``)."""
        raise NotImplementedError

    def set_image(self, node: Node, image: Image) -> None:
        """The file of a node is what it was, only its image changed; makes no version."""
        raise NotImplementedError

    def set_disk(self, node: Node, disk: str | None) -> None:
        """The name a node has on disk where it can't be its own (a host that folds case)."""
        raise NotImplementedError

    def audit(self, context: Context, at_ns: int | None = None) -> None:
        """An audit entry of something that changed nothing."""
        raise NotImplementedError

    def touch(self, path: MemoryPath, at_ns: int) -> None:
        """Note that a memory was used; nothing if it is not there."""
        raise NotImplementedError

    # ---- writing

    def finish(self) -> None:
        """Ask ``heads`` to keep what changed and write all rows. COMMIT is the caller's."""
        raise NotImplementedError
