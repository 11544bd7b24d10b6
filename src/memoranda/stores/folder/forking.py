"""A fork finds every database closed, and nobody in the midst of opening one.

Where somebody is amid a command for long (a fork from within an edit, say) that store's database
stays open, and the child may not use the store. SQLite keeps its locks in memory that a fork copies: a child would wait for ever for what a thread of
its parent held just then. https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING, Final

from memoranda.errors import Misuse

if TYPE_CHECKING:
    from collections.abc import Generator


class ForkGate:
    """Whoever opens a database passes it; a fork shuts it and waits until nobody is inside."""

    def __init__(self) -> None:
        self._changed = Condition()  # guards both
        self._inside = 0
        self._is_shut = False

    @contextmanager
    def passed(self) -> Generator[None]:
        """No fork happens meanwhile."""
        with self._changed:
            while self._is_shut:
                self._changed.wait()
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def shut(self) -> None:
        """Let nobody in, and wait for those inside."""
        with self._changed:
            while self._is_shut:
                self._changed.wait()  # another thread forks
            self._is_shut = True
            while self._inside:
                self._changed.wait()

    def open(self) -> None:
        """The fork is over."""
        with self._changed:
            self._is_shut = False
            self._changed.notify_all()


_copied_at_work: Final[dict[str, object]] = {}
"""Stores that were in use when this process was forked off, and what the parent had open of them,
which may never be closed here."""


def leave_to_parent(directory: str, inherited: object) -> None:
    """In the child: a store at work was copied along; nobody may use it here."""
    _copied_at_work[os.path.realpath(directory)] = inherited


def check_not_copied(directory: str) -> None:
    """Raise ``Misuse`` for a store that the parent was at work on."""
    if _copied_at_work and os.path.realpath(directory) in _copied_at_work:
        raise Misuse("This process was forked off amid work on the memory; it can't use it.")
