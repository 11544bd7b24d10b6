"""Forks with databases open: nobody is amid anything while the process is copied.

SQLite keeps the locks of a whole process in one table. A child that finds the parent's connections
there takes locks for held that it has not: its commits were seen to vanish when the parent closed
the file. So a fork waits until every watched backend is quiet, and the child closes what it got
before it opens anything. Where quiet can't be had in time (a fork from within an edit, say) the
child may not use that backend.
"""

from __future__ import annotations

import os
import time
from typing import Final, Protocol, TypeVar
from weakref import WeakSet

LONGEST_WAIT_SECONDS: Final = 5.0


class Watched(Protocol):
    """What is told of forks. Each call comes in the thread that forks."""

    def before_fork(self, seconds: float) -> bool:
        """Come to rest, for at most so many seconds; whether that was possible."""
        ...

    def after_fork_in_parent(self) -> None:
        """Go on, if ``before_fork`` came to rest."""
        ...

    def after_fork_in_child(self, *, is_quiet: bool) -> None:
        """Close what was inherited, if all was at rest, and begin anew."""
        ...


T = TypeVar("T")


def all_of(things: WeakSet[T]) -> tuple[T, ...]:
    """What a weak set holds, while other threads may add to it."""
    while True:
        try:
            return tuple(things)
        except RuntimeError:  # one was added meanwhile
            continue


_watched: WeakSet[Watched] = WeakSet()
_at_rest: list[tuple[Watched, bool]] = []


def watch(thing: Watched) -> None:
    """Tell ``thing`` of forks, as long as it lives."""
    _watched.add(thing)


def _before() -> None:
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    for thing in all_of(_watched):
        left = max(0.0, deadline - time.monotonic())
        _at_rest.append((thing, thing.before_fork(left)))


def _in_parent() -> None:
    while _at_rest:
        thing, _ = _at_rest.pop()
        thing.after_fork_in_parent()


def _in_child() -> None:
    while _at_rest:
        thing, is_quiet = _at_rest.pop()
        thing.after_fork_in_child(is_quiet=is_quiet)


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
