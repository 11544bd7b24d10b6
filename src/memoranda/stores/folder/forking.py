"""A fork finds every database closed, and nobody in the midst of opening one.

SQLite keeps its locks in memory that a fork copies: a child would wait for ever for what a thread of
its parent held just then. https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

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
