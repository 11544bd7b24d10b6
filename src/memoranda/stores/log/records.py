"""What waits in memory for the next commit: audit entries of what changed nothing, and uses."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

from memoranda.stores.base import Context
from memoranda.stores.log.packs import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.log.turn import Turn

LOST: Final = "lost"
"""The command of an entry that stands for as many as its draft says that could not be written."""
ENTRIES: Final = "entries"

Taken: TypeAlias = "tuple[list[tuple[Context, int]], dict[MemoryPath, int]]"

NOTHING_TAKEN: Final[Taken] = ([], {})
MOST_RECORDS: Final = 1000
LONGEST_WAIT_NS: Final = 1_000_000_000


class Records:
    """Audit entries and last uses of one store that are not written yet.

    They go with the next change, or by themselves once there are ``MOST_RECORDS`` or the oldest
    waits for a second; a crash may lose them. Where they can't be written the newest
    ``MOST_RECORDS`` are kept and tried again each second; the audit then says how many were lost.
    """

    __slots__ = ("_failed", "_lock", "_lost", "_notes", "_since", "_uses")

    def __init__(self) -> None:
        self._lock = Lock()  # guards the uses, and whoever takes or gives back
        self._notes: deque[tuple[Context, int]] = deque()
        self._uses: dict[MemoryPath, int] = {}
        self._since: int | None = None
        self._failed = False
        self._lost = 0

    def note(self, context: Context, at_ns: int) -> bool:
        """Keep an audit entry; whether what waits has to be written now.

        Without the lock, which would be a tenth of what a view may cost: both ends of a deque are
        safe, and whoever takes forgets the time before the entries, we do it the other way round.
        """
        self._notes.append((context, at_ns))
        since = self._since
        if since is None:
            self._since = at_ns
            return False
        return at_ns - since >= LONGEST_WAIT_NS or (
            len(self._notes) >= MOST_RECORDS and not self._failed
        )

    def use(self, paths: Sequence[MemoryPath], at_ns: int, now_ns: int) -> None:
        """Keep when memories were used last."""
        with self._lock:
            for path in paths:
                self._uses[path] = max(at_ns, self._uses.get(path, at_ns))
            if self._since is None and paths:
                self._since = now_ns

    @property
    def are_waiting(self) -> bool:
        """Whether there is anything to write."""
        return self._since is not None

    def are_due(self, now_ns: int) -> bool:
        """Whether they have to be written though nothing changes."""
        since = self._since
        return since is not None and (
            now_ns - since >= LONGEST_WAIT_NS
            or (len(self._notes) >= MOST_RECORDS and not self._failed)
        )

    def take(self) -> Taken:
        """Everything that waits, which from here on is the caller's to write or to give back."""
        if self._since is None:
            return NOTHING_TAKEN
        with self._lock:
            self._since = None
            notes = self._drained()
            if self._lost:
                at_ns = notes[0][1] if notes else 0
                notes.insert(0, (Context("audit", LOST, audit={ENTRIES: self._lost}), at_ns))
            uses, self._uses = self._uses, {}
            self._failed, self._lost = False, 0
            return notes, uses

    def _drained(self) -> list[tuple[Context, int]]:
        notes: list[tuple[Context, int]] = []
        with suppress(IndexError):
            while True:
                notes.append(self._notes.popleft())
        return notes

    def give_back(self, taken: Taken, since_ns: int) -> None:
        """Put back what could not be written."""
        with self._lock:
            notes, uses = taken
            if notes or uses:
                if notes and notes[0][0].command == LOST:
                    self._lost += notes.pop(0)[0].audit[ENTRIES]
                notes = notes + self._drained()
                self._failed = True
                self._lost += max(len(notes) - MOST_RECORDS, 0)
                self._notes.extendleft(reversed(notes[-MOST_RECORDS:]))
                self._uses = uses | self._uses
                self._since = since_ns


def warn_of_loss() -> None:
    """Tell the operator that what waited is lost: it could not be written before the end."""
    import logging

    logging.getLogger("memoranda").warning("Audit entries of views could not be written.")


def write_into(turn: Turn, taken: Taken) -> None:
    """Write what was taken into a turn."""
    notes, uses = taken
    for context, at_ns in packed(notes) if notes else ():
        turn.audit(context, at_ns)
    for path, at_ns in uses.items():
        turn.touch(path, at_ns)
