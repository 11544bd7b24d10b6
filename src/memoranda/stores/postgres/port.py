"""How statements reach a server: one port, which blocks or suspends.

A statement is a literal of this package; what comes from outside is always a bound value. No
session state is used beyond a transaction and no statement is prepared by name, so a pooler in
transaction mode (PgBouncer) may sit in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from typing import LiteralString

T = TypeVar("T")

Row: TypeAlias = "tuple[Any, ...]"
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""What is bound to a statement: ``%s`` in order, or ``%(name)s``."""

COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"

_LIMITS: Final = (
    # Who stops amid a transaction holds others back for no longer than this.
    b"; SET LOCAL idle_in_transaction_session_timeout = '10s'; SET LOCAL lock_timeout = '10s'"
)


def begin(store: int | None, *, snapshot: bool) -> bytes:
    """The statements, one round trip, by which a transaction begins; for ``store`` if given."""
    level = b"REPEATABLE READ READ ONLY" if snapshot else b"READ COMMITTED"
    whole = b"BEGIN ISOLATION LEVEL " + level + _LIMITS
    if store is None:
        return whole
    return b"%s; SELECT set_config('memoranda.store', '%d', true)" % (whole, store)


class Session(Protocol):
    """One connection inside a transaction."""

    async def run(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        """The rows of one statement."""
        ...


class Port(Protocol):
    """A pool of connections to one database. Safe to use from many threads or tasks.

    Whatever a call raises has been translated (``faults.py``): ``Lost`` where the connection broke
    or the server went away, ``Again`` where the transaction was rolled back and may be tried again,
    ``Unavailable`` for the rest. A connection whose state is in doubt never goes back to the pool.
    """

    suspends: ClassVar[bool]

    async def run(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        """The rows of one statement, which is a transaction of its own: one round trip."""
        ...

    async def transact(
        self,
        work: Callable[[Session], Awaitable[T]],
        store: int | None = None,
        *,
        snapshot: bool = False,
    ) -> T:
        """What ``work`` gives, done in one transaction that commits if it returns.

        ``store`` names the store to the second wall, in the round trip that begins anyway.
        ``snapshot``: it reads only, and sees one moment throughout.
        """
        ...

    async def pause(self, seconds: float) -> None:
        """Wait."""
        ...

    async def close(self) -> None:
        """Close all connections; those in use when they come back."""
        ...
