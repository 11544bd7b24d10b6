"""What the driver's errors mean to us, and which are worth another try.

No message of the server's goes on: it may hold a path, a value or a host. It is chained, for logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Unavailable
from memoranda.stores.patience import Again, Lost

if TYPE_CHECKING:
    import psycopg

_PASSES: Final = frozenset(
    {
        "40001",  # serialization failure
        "40P01",  # deadlock
        "55P03",  # a lock was not to be had in time
        "25006",  # a standby: the connection outlived a failover
        "08P01",  # a pooler that has no server at the moment
        "53300",  # too many connections
        "57P03",  # the server starts up or shuts down
    }
)
_GOES_AWAY: Final = frozenset({"57P01", "57P02", "57P04", "57P05"})
_NOT_SET_UP: Final = frozenset({"3F000", "42P01", "42883", "42703", "42501"})


def translated(error: psycopg.Error, *, is_broken: bool) -> Unavailable:
    """Our error for one of the driver's; ``is_broken`` tells that the connection is gone."""
    state = error.sqlstate
    if state in _GOES_AWAY or (is_broken and state not in _PASSES):
        return Lost("The connection to the database broke; try again.")
    if state in _PASSES:
        return Again("The database can't do this just now; try again.")
    if state in _NOT_SET_UP:
        return Unavailable(
            "The database is not set up for Memoranda, or the role may not use it: run "
            "`python -m memoranda.stores.postgres.migrate` as the owner."
        )
    if state == "57014":
        return Unavailable("The database took too long and gave up; nothing changed.")
    if state in {"53100", "53200"}:
        return Unavailable("The database has no room left; nothing changed.")
    if state is None and isinstance(error, _unsendable()):
        return Unavailable("A value can't be stored; nothing changed.")
    if state is None:
        return Lost("The database can't be reached; try again.")
    return Unavailable(f"The database refused (SQLSTATE {state}); nothing changed.")


def _unsendable() -> type[psycopg.Error]:
    """What the driver raises for a value before anything is sent."""
    from psycopg import DataError

    return DataError
