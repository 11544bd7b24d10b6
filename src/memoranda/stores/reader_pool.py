"""Reading connections that are lent to one thread at a time and kept for the next."""

from __future__ import annotations

from threading import Condition
from typing import TYPE_CHECKING, Final

from memoranda.errors import MemorandaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from memoranda.stores.log.connection import Connection

MOST_IDLE: Final = 8
"""Connections that are kept; more are opened when needed and closed again."""


class ReaderPool:
    """Lends connections that ``connect`` makes; it gives None where there is nothing to read.

    Keeps at most ``most_idle`` that nobody uses.
    """

    __slots__ = ("_changed", "_connect", "_idle", "_is_held", "_lent", "_most_idle")

    def __init__(
        self, connect: Callable[[], Connection | None], *, most_idle: int = MOST_IDLE
    ) -> None:
        self._connect = connect
        self._most_idle = most_idle
        self._changed = Condition()  # guards the three below
        self._idle: list[Connection] = []
        self._lent = 0
        self._is_held = False

    def lent(self) -> Lent:
        """A connection for as long as the context is open."""
        return Lent(self)

    def lend(self) -> Connection | None:
        """A connection in a transaction of its own; give it back, also a None."""
        with self._changed:
            while self._is_held:
                self._changed.wait()
            self._lent += 1
            db = self._idle.pop() if self._idle else None
        try:
            db = db or self._connect()
            if db is not None:
                db.execute("BEGIN")
        except BaseException:
            self.give_back(None)
            raise
        return db

    def give_back(self, db: Connection | None, *, is_sound: bool = False) -> None:
        """A connection is free again; one that is not ``is_sound`` is closed."""
        try:
            if db is not None and is_sound:
                db.execute("COMMIT")
        except BaseException:
            is_sound = False
            raise
        finally:
            with self._changed:
                self._lent -= 1
                keeps = is_sound and len(self._idle) < self._most_idle
                if db is not None and keeps:
                    self._idle.append(db)
                if self._is_held:
                    self._changed.notify_all()
            if db is not None and not keeps:
                db.close()

    def hold(self, seconds: float) -> bool:
        """Lend nothing any more until ``let_go``; whether all came back within so many seconds.
        If not, lending goes on."""
        with self._changed:
            self._is_held = True
            is_quiet = self._changed.wait_for(lambda: not self._lent, seconds)
            if not is_quiet:
                self._is_held = False
                self._changed.notify_all()
        return is_quiet

    def let_go(self) -> None:
        """Lend again."""
        with self._changed:
            self._is_held = False
            self._changed.notify_all()

    def close(self) -> None:
        """Close what is here; what is lent is closed, or kept for the next, when it comes back."""
        with self._changed:
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()


class Lent:
    """The context in which a connection is lent; a class, since a generator costs 4 us more (a
    read takes 40)."""

    __slots__ = ("_db", "_pool")

    def __init__(self, pool: ReaderPool) -> None:
        self._pool = pool

    def __enter__(self) -> Connection | None:
        self._db = self._pool.lend()
        return self._db

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After a refusal it is as good as before: to open one costs more than most reads.
        is_sound = error is None or isinstance(error, MemorandaError)
        self._pool.give_back(self._db, is_sound=is_sound)
