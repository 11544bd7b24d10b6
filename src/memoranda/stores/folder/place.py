"""Places: where a store is or will be, open or not, shared by all its handles of one backend.

Only so many stores are open at once as descriptors allow. The one that was used longest ago is
closed when another has to open; whoever holds it then opens it again without noticing.
"""

from __future__ import annotations

import resource
from threading import Lock
from typing import TYPE_CHECKING, Final

import apsw

from memoranda.errors import UnknownId
from memoranda.stores.folder.faults import as_unavailable
from memoranda.stores.folder.forking import ForkGate
from memoranda.stores.folder.opening import Whose, open_store
from memoranda.stores.folder.writer import Writer
from memoranda.stores.log.database import as_ours
from memoranda.stores.log.records import Records

if TYPE_CHECKING:
    from memoranda.stores.folder.backend import FolderBackend
    from memoranda.stores.folder.clock import Clock

DESCRIPTORS_A_STORE: Final = 8
"""Directory, lock, memories/, incoming/, the database's three, one while reading."""

_LEFT_TO_OTHERS: Final = 64
IDLE_SECONDS: Final = 60.0


class Place:
    """One store's place in a backend: ``directory`` is its name there."""

    def __init__(self, backend: FolderBackend, directory: str, whose: Whose, store_id: str) -> None:
        self.directory = directory
        self.whose = whose
        self.id = store_id
        """The store's id; until it is known to exist, the one that it will get."""
        self.is_erased = False
        self.records = Records()
        self.writer: Writer | None = None
        self.used = 0.0
        self._backend = backend
        self._opening = Lock()  # one thread at a time opens or closes

    def open(self, clock: Clock, *, make: bool = False) -> Writer | None:
        """The writer of the open store; None if the store does not exist."""
        writer = self.writer
        if writer is None:
            writer = self._open(make)
        self.used = clock.monotonic()
        return writer

    def _open(self, make: bool) -> Writer | None:
        open_places.make_room(self._backend.clock.monotonic())
        with open_places.gate.passed(), self._opening:
            if self.writer is not None:
                return self.writer
            if self.is_erased:
                raise UnknownId("store")
            try:
                home = self._backend.home(self.directory, make=make)
                if home is None:
                    return None
                opened = open_store(home, self.id if make else None, self.whose)
            except OSError as error:
                raise as_unavailable(error) from error
            except apsw.Error as error:
                raise as_ours(error) from error
            if opened is None:
                if self.whose.user is None:
                    raise UnknownId("store")
                return None
            self.id = opened.log.id
            self.writer = Writer(opened, self.records)
            open_places.add(self)
        if opened.is_new:
            self._backend.made(self, opened.created_at_ns)
        return self.writer

    def close(self) -> None:
        """Close the store if it is open; it opens again when it is needed."""
        with self._opening:
            writer = self.writer
            if writer is None:
                return
            writer.close()
            self.writer = None
            open_places.discard(self)

    def forget(self, writer: Writer) -> None:
        """The store is not what it was when it was opened: another one lies there, or none."""
        with self._opening:
            if self.writer is writer:
                self.writer = None
                open_places.discard(self)

    def let_go(self) -> None:
        """Close the database at once, with all that has to be done left to the next opening."""
        with self._opening:
            if self.writer is not None:
                self.writer.let_go()
                self.writer = None

    def after_fork(self) -> None:
        """In the child: what waits to be written is the parent's to write."""
        self._opening = Lock()
        self.records = Records()


class OpenPlaces:
    """The open stores of this process, of all its backends."""

    def __init__(self) -> None:
        self._lock = Lock()  # guards the set
        self._open: set[Place] = set()
        self._most: int | None = None
        self.gate = ForkGate()

    @property
    def most(self) -> int:
        """How many stores may be open at once."""
        if self._most is None:
            soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            share = (soft - _LEFT_TO_OTHERS) // 2 // DESCRIPTORS_A_STORE
            self._most = 512 if soft == resource.RLIM_INFINITY else min(max(share, 8), 512)
        return self._most

    @most.setter
    def most(self, value: int) -> None:
        self._most = value

    def add(self, place: Place) -> None:
        """A store was opened."""
        with self._lock:
            self._open.add(place)

    def discard(self, place: Place) -> None:
        """A store was closed."""
        with self._lock:
            self._open.discard(place)

    def make_room(self, now: float) -> None:
        """Close stores that nobody used for a while, and the one that was used longest ago if one
        more would be too many."""
        self.close_idle(now)
        with self._lock:
            if len(self._open) < self.most:
                return
            oldest = min(self._open, key=lambda place: place.used)
        oldest.close()

    def close_idle(self, now: float) -> None:
        """Close the stores that nobody used for a while."""
        with self._lock:
            idle = [place for place in self._open if place.used + IDLE_SECONDS < now]
        for place in idle:
            place.close()

    def close_all(self) -> None:
        """Close every store: the process ends."""
        with self._lock:
            places = list(self._open)
        for place in places:
            place.close()

    def before_fork(self) -> None:
        """Close every database, and let nobody open one until the fork is over."""
        self.gate.shut()
        with self._lock:
            places, self._open = self._open, set()
        for place in places:
            place.let_go()

    def after_fork_in_child(self) -> None:
        """The parent's threads, which may have held these, are not there."""
        self._lock = Lock()
        self.gate = ForkGate()


open_places: Final = OpenPlaces()
