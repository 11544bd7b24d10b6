"""What the log counts of directories, asked on a connection of its own: whoever lists waits for no
writer, and sees everything that was committed."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from memoranda.errors import MemorandaError
from memoranda.stores.folder.home import HISTORY
from memoranda.stores.log.database import connect
from memoranda.stores.log.schema import check_format
from memoranda.stores.reader_pool import ReaderPool

if TYPE_CHECKING:
    from collections.abc import Generator

    from memoranda.stores.folder.forking import ForkGate
    from memoranda.stores.folder.open_tree import OpenTree
    from memoranda.stores.folder.tree import Place
    from memoranda.stores.log.connection import Connection

_CACHE_KIB: Final = 256

_COUNTERS: Final = "SELECT id, files, shown, children + grandchildren FROM node"
_CHILD: Final = f"{_COUNTERS} WHERE parent = ? AND name = ? AND gone IS NULL"
_ROOT: Final = f"{_COUNTERS} WHERE id = 0"

_A_NUMBER: Final = frozenset({int, type(None)})

_making: Final = Lock()
"""Guards the making of a store's pool. Held inside the gate only, so never at a fork."""


class Counted(NamedTuple):
    """A row of the log: a file's (``files`` is None), or what is counted beneath a directory."""

    id: int
    files: int | None
    shown: int
    items: int


class Counters:
    """The log's counters during one listing. A connection is lent with the first question; call
    ``close``. A log that can't be read knows nothing: whoever needs it will say what is wrong."""

    def __init__(self, opened: OpenTree, gate: ForkGate) -> None:
        self._opened = opened
        self._gate = gate
        self._until_closed = ExitStack()
        self._is_asked = False
        self._is_sound = True
        self._db: Connection | None = None
        self._directories: dict[Place, Counted | None] = {}

    def of_directory(self, place: Place) -> Counted | None:
        """What is counted beneath a directory; None if the log doesn't know it."""
        if place not in self._directories:
            self._directories[place] = self._found(place)
        return self._directories[place]

    def knows_file(self, place: Place) -> bool:
        """Whether the log has a memory at a place."""
        parent = self.of_directory(place[:-1])
        return parent is not None and self._ask(_CHILD, parent.id, place[-1]) is not None

    def close(self) -> None:
        """Give the connection back."""
        self._until_closed.close()

    def _found(self, place: Place) -> Counted | None:
        if not place:
            return self._ask(_ROOT)
        parent = self.of_directory(place[:-1])
        return None if parent is None else self._ask(_CHILD, parent.id, f"{place[-1]}/")

    def _ask(self, statement: str, *bindings: int | str) -> Counted | None:
        try:
            if not self._is_asked:
                self._is_asked = True
                self._db = self._until_closed.enter_context(self._lent())
            row = None if self._db is None else self._db.execute(statement, bindings).fetchone()
        except (apsw.Error, MemorandaError):
            self._is_sound = False
            self._db = None
            return None
        # A damaged row may hold anything: no number is as good as no row.
        is_number = row is not None and all(type(value) in _A_NUMBER for value in row)
        return Counted(*row) if row is not None and is_number else None

    @contextmanager
    def _lent(self) -> Generator[Connection | None]:
        with self._gate.passed():
            readers = readers_of(self._opened)
            db = readers.lend()
            try:
                yield db
            finally:
                with suppress(apsw.Error):
                    readers.give_back(db, is_sound=self._is_sound)


def readers_of(opened: OpenTree) -> ReaderPool:
    """The reading connections of an open store."""
    with _making:
        if opened.readers is None:
            path = os.path.join(opened.path, HISTORY)
            # Without the object itself: a circle would keep its descriptors open.
            opened.readers = ReaderPool(partial(_connect, path), most_idle=1)
        return opened.readers


def _connect(path: str) -> Connection:
    return connect(path, cache_kib=_CACHE_KIB, check=check_format)
