"""What we use of a database connection, typed: apsw's own stubs need Python 3.12 for their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Rows(Protocol):
    """The result of a statement, read as far as one wants."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows, one by one."""
        ...

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last."""
        ...

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        ...

    @property
    def get(self) -> Any:
        """The first value of the first row where there is one of each; None without rows."""
        ...


class Connection(Protocol):
    """An open database; one thread at a time uses it."""

    def execute(self, statements: str, bindings: Sequence[Any] = ()) -> Rows:
        """Run a statement; it is prepared once and kept."""
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Any]]) -> object:
        """Run a statement once for each row of bindings."""
        ...

    def pragma(self, name: str, value: int | str | None = None) -> Any:
        """Get or set a pragma."""
        ...

    def data_version(self) -> int:
        """A number that changes with every commit to the file, of this connection and of others';
        of others' it tells inside a transaction only."""
        ...

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def set_busy_timeout(self, milliseconds: int) -> None:
        """How long to wait for a lock that another connection has."""
        ...

    def close(self, force: bool = False) -> None:
        """Close it; a second call does nothing."""
        ...
