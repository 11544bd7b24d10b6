"""What the child of a fork makes anew.

A lock that another thread of the parent held at that instant is held in the child for ever: the
thread that would give it back is not there.
"""

from __future__ import annotations

import os
from typing import Final, Protocol
from weakref import WeakSet


class Renewed(Protocol):
    """What has locks of its own."""

    def after_fork_in_child(self) -> None:
        """Make the locks anew, and what they guard too if it may have been copied half-changed.
        Comes before anything else runs in the child."""
        ...


_renewed: Final[WeakSet[Renewed]] = WeakSet()


def renew(thing: Renewed) -> None:
    """Have ``thing`` made anew in each child, as long as it lives."""
    _renewed.add(thing)


def _in_child() -> None:
    for thing in tuple(_renewed):
        thing.after_fork_in_child()


os.register_at_fork(after_in_child=_in_child)
