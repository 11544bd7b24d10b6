"""Places: where a store is or will be, open or not, shared by all its handles of one backend.

A store is open for reading (three descriptors) or in full (a writer, its lock and its database);
who only reads opens no more than that. Only so many stores are open at once as descriptors allow. The
one that was used longest ago is closed when another has to open; whoever holds it then opens it again
without noticing.
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from memoranda.errors import MemorandaError, StoreExists, UnknownId
from memoranda.stores import forks
from memoranda.stores.folder.faults import Unwritable, as_unavailable, as_unopened
from memoranda.stores.folder.forking import ForkGate, check_not_copied, leave_to_parent
from memoranda.stores.folder.home import STORES
from memoranda.stores.folder.open_tree import (
    TreeAsItLies,
    is_there,
    open_tree,
    open_tree_as_it_lies,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.folder.backend import FolderBackend
    from memoranda.stores.folder.clock import Clock
    from memoranda.stores.folder.home import Home, Whose
    from memoranda.stores.folder.open_tree import OpenTree
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.folder.opening import TakenUp
    from memoranda.stores.folder.writer import Writer
    from memoranda.stores.log.records import Records

DESCRIPTORS_A_STORE: Final = 10
"""Directory, lock, memories/, incoming/, the database's three, two of a reading connection, one
while reading."""

_LEFT_TO_OTHERS: Final = 64
LEAST_OPEN: Final = 8
"""So many stores may be open however few descriptors there are."""

IDLE_SECONDS: Final = 60.0
MOST_CLOSING: Final = 8
"""So many stores are closed at a time."""

LOOK_AGAIN_SECONDS: Final = 1.0
"""A store that may not be written is opened anew so often: it may be in order by then."""


class Place:
    """One store's place in a backend: ``directory`` is its name there.

    ``store_id`` is None for a user's store that may not exist: it then gets an id with its first
    change, unless another process made it before.
    """

    def __init__(
        self, backend: FolderBackend, directory: str, whose: Whose, store_id: str | None
    ) -> None:
        self.directory = directory
        self.whose = whose
        self.is_erased = False
        self._records: Records | None = None
        self.writer: Writer | None = None
        self.used = 0.0
        self._id = store_id
        self._taken_up: TakenUp | None = None
        self._backend = backend
        self._tree: OpenTree | None = None
        self._tree_opened = 0.0
        self._opening = Lock()  # one thread at a time opens or closes
        self._noting = Lock()  # guards the making of the records

    @property
    def id(self) -> str:
        """The store's id; until it is known to exist, the one that it will get."""
        if self._id is None:
            from memoranda.stores.log.ids import new_store_id

            self._id = new_store_id(self._backend.clock.now_ns())
        return self._id

    @property
    def records(self) -> Records:
        """What waits for the next commit."""
        found = self._records
        return self._make_records() if found is None else found

    def _make_records(self) -> Records:
        from memoranda.stores.log.records import Records

        with self._noting:
            self._records = self._records or Records()
            return self._records

    @property
    def has_records(self) -> bool:
        """Whether anything waits for the next commit."""
        return self._records is not None and self._records.are_waiting

    # ---- for reading

    def look(self, clock: Clock) -> OpenTree | None:
        """What to read the files by; None if the store does not exist."""
        now = clock.monotonic()
        self.used = now
        writer = self.writer
        if writer is not None:
            return writer.opened
        tree = self._tree
        if tree is None or (
            type(tree) is TreeAsItLies and now - self._tree_opened > LOOK_AGAIN_SECONDS
        ):
            return self._open_tree(now)
        return tree

    def _open_tree(self, now: float) -> OpenTree | None:
        open_places.make_room(now)
        check_not_copied(self._path)
        with self._opening:
            try:
                home = None if self.is_erased else self._backend.home(self.directory, make=False)
                if self.whose.user is not None and not (self.is_erased or is_there(home)):
                    return None
                tree = None if home is None else open_tree(home)
            except OSError as error:
                raise as_unavailable(error) from error
            if tree is not None:
                self._keep(tree, now)
                return tree
        try:
            writer = self.open(self._backend.clock)
        except Unwritable:
            return None if home is None else self._open_as_it_lies(home, now)
        return None if writer is None else writer.opened

    def _open_as_it_lies(self, home: Home, now: float) -> OpenTree | None:
        with self._opening:
            try:
                tree = open_tree_as_it_lies(home)
            except OSError as error:
                raise as_unavailable(error) from error
            if tree is not None:
                self._keep(tree, now)
            return tree

    def _keep(self, tree: OpenTree, now: float) -> None:
        self._tree = tree
        self._tree_opened = now
        open_places.add(self)

    # ---- in full

    def open(self, clock: Clock, *, make: bool = False) -> Writer | None:
        """The writer of the open store; None if the store does not exist.

        Raises ``Unwritable`` where the disk forbids to write.
        """
        writer = self.writer
        if writer is None:
            writer = self._open(make)
        self.used = clock.monotonic()
        return writer

    def take_up(self, store_id: str, taken_up: TakenUp) -> None:
        """Make the store, which another one's history is to come into; raises ``StoreExists``."""
        self._id, self._taken_up = store_id, taken_up
        try:
            writer = self.open(self._backend.clock, make=True)
        finally:
            self._taken_up = None
        if writer is None or not writer.opened.is_new or self.id != store_id:
            raise StoreExists

    def open_anew(self) -> None:
        """Close the store and open it with a database made anew from what is whole in the old
        one."""
        self.close()
        self._open(make=False, anew=True)

    def _open(self, make: bool, *, anew: bool = False, makes_room: bool = True) -> Writer | None:
        if makes_room:
            open_places.make_room(self._backend.clock.monotonic())
        with open_places.gate.passed(), self._opening:
            if self.writer is not None:
                return self.writer
            if self.is_erased:
                raise UnknownId("store")
            opened = self._open_store(make, anew=anew)
            if opened is None:
                if self.whose.user is None:
                    raise UnknownId("store")
                return None
            from memoranda.stores.folder.writer import Writer

            self._id = opened.log.id
            self.writer = Writer(opened, self.records)
            self._drop_tree()
            open_places.add(self)
        if opened.is_new:
            self._backend.made(self, opened.created_at_ns)
        return self.writer

    def _open_store(self, make: bool, *, anew: bool) -> OpenStore | None:
        from apsw import Error as SqliteError

        from memoranda.stores.folder.opening import open_store
        from memoranda.stores.log.database import NONSENSE, as_ours, damaged

        check_not_copied(self._path)
        try:
            home = self._backend.home(self.directory, make=make)
            if home is None:
                return None
            store_id = self.id if make else None
            return open_store(home, store_id, self.whose, anew=anew, taken_up=self._taken_up)
        except OSError as error:
            raise as_unopened(error) from error
        except SqliteError as error:
            raise as_ours(error) from error
        except NONSENSE as error:
            raise damaged() from error

    # ---- closing

    def open_for_records(self) -> None:
        """Open the store in full if audit entries wait: closing it then writes them. Where it can't
        be, there is nowhere to keep them."""
        if self.writer is None and self.records.are_waiting:
            try:
                self._open(make=False, makes_room=False)  # it is closed again at once
            except MemorandaError:
                self.records.take()

    def close(self) -> None:
        """Close the store if it is open; it opens again when it is needed."""
        if not self._backend.is_closed:
            self.open_for_records()
        with self._opening:
            writer = self.writer
            self._drop_tree()
            if writer is not None:
                writer.close()
                self.writer = None
            open_places.discard(self)

    def forget(self, opened: OpenTree) -> None:
        """The store is not what it was when it was opened: another one lies there, or none."""
        with self._opening:
            if self._tree is opened:
                self._drop_tree()
            if self.writer is not None and self.writer.opened is opened:
                self.writer = None
                opened.close_readers()
            if self.writer is None:
                open_places.discard(self)

    def let_go(self, seconds: float) -> bool:
        """Close the databases at once, with all that has to be done left to the next opening;
        whether nobody was at work for longer than so many seconds."""
        if not self._opening.acquire(timeout=seconds):
            return False
        try:
            if self.writer is not None and not self.writer.let_go(seconds):
                return False
            self._drop_tree()
            self.writer = None
            return True
        finally:
            self._opening.release()

    def leave_to_parent(self) -> None:
        """In the child of a fork that came amid work: nothing of it may be used or closed."""
        leave_to_parent(self._path, (self.writer, self._tree))
        self.writer = self._tree = None

    @property
    def _path(self) -> str:
        return os.path.join(self._backend.root, STORES, self.directory)

    def _drop_tree(self) -> None:
        tree, self._tree = self._tree, None
        if tree is not None:
            tree.close_readers()

    def after_fork(self) -> None:
        """In the child: what waits to be written is the parent's to write."""
        self._opening, self._noting = Lock(), Lock()
        self._records = None


def close_together(places: Sequence[Place]) -> None:
    """Close stores, some at a time: each spends its time waiting for the disk, which makes several
    durable at once."""
    waiting = deque(places)

    def work() -> None:
        with suppress(IndexError):
            while True:
                waiting.popleft().close()

    helpers: list[Thread] = []
    with suppress(RuntimeError):  # the interpreter is ending: no more threads
        for _ in range(min(len(places), MOST_CLOSING) - 1):
            helper = Thread(target=work, name="memoranda-closing")
            helper.start()
            helpers.append(helper)
    work()
    for helper in helpers:
        helper.join()


class OpenPlaces:
    """The open stores of this process, of all its backends."""

    def __init__(self) -> None:
        self._lock = Lock()  # guards the set
        self._open: set[Place] = set()
        self._at_work: list[Place] = []
        self._most: int | None = None
        self.gate = ForkGate()

    @property
    def most(self) -> int:
        """How many stores may be open at once."""
        if self._most is None:
            import resource  # who opens a few stores never asks

            soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            share = (soft - _LEFT_TO_OTHERS) // 2 // DESCRIPTORS_A_STORE
            self._most = 512 if soft == resource.RLIM_INFINITY else min(max(share, LEAST_OPEN), 512)
        return self._most

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
            if len(self._open) < LEAST_OPEN or len(self._open) < self.most:
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
        close_together(places)

    def before_fork(self) -> None:
        """Close every database, and let nobody open one until the fork is over."""
        self.gate.shut()
        with self._lock:
            places, self._open = self._open, set()
        deadline = time.monotonic() + forks.LONGEST_WAIT_SECONDS
        for place in places:
            if not place.let_go(max(0.0, deadline - time.monotonic())):
                self._at_work.append(place)

    def after_fork_in_parent(self) -> None:
        """Those at work go on, and all others open again when they are needed."""
        with self._lock:
            self._open.update(self._at_work)
            self._at_work.clear()
        self.gate.open()

    def after_fork_in_child(self) -> None:
        """The parent's threads, which may have held these, are not there."""
        self._lock = Lock()
        self.gate = ForkGate()
        while self._at_work:
            self._at_work.pop().leave_to_parent()


open_places: Final = OpenPlaces()
