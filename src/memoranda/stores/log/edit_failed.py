"""What an edit raises is its caller's own; what anything else of a command raises is not.

A ``TypeError`` of the function that a caller gave means what its caller says. The same one, met
while a damaged row is read for that edit, means ``Corrupt``. So the first kind travels in a
wrapper as far as the job that it belongs to.
"""

from __future__ import annotations

from memoranda.stores.log.database import NONSENSE, damaged


class EditFailed(Exception):
    """Carries what the function of an ``Edit`` raised, or what its answer led to."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def for_caller(error: Exception) -> Exception:
    """What a caller of a command gets for what the command raised."""
    if isinstance(error, EditFailed):
        return error.error
    if isinstance(error, NONSENSE):
        ours = damaged()
        ours.__cause__ = error
        return ours
    return error
