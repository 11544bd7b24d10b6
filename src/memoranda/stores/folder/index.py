"""``control.db``: what is known of the stores of a folder, and the backend's own audit.

For stores made through the API it is the truth; for users' stores only an index, made again from
their directories where it lacks any, so that such rows need not wait for the disk.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from memoranda.stores import control
from memoranda.stores.folder.faults import as_unavailable
from memoranda.stores.log.database import FOREIGN, as_ours, connect
from memoranda.stores.log.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Generator

    from memoranda.stores.log.connection import Connection

CONTROL: Final = "control.db"

_FULL: Final = 2
_NORMAL: Final = 1


class Index:
    """The database of a folder's stores; one connection, one thread at a time."""

    def __init__(self, root: str, vfs: str | None) -> None:
        self._path = os.path.join(root, CONTROL)
        self._vfs = vfs
        self._lock = Lock()  # guards the connection
        self._db: Connection | None = None

    @contextmanager
    def reading(self) -> Generator[Connection | None]:
        """The connection in a transaction; None while there is no database."""
        with self._lock, _ours():
            db = self._connect(make=False)
            if db is None:
                yield None
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    @contextmanager
    def writing(self, *, durable: bool) -> Generator[Connection]:
        """A transaction; ``durable`` waits for the disk."""
        with self._lock, _ours():
            db = self._connect(make=True)
            assert db is not None
            db.pragma("synchronous", _FULL if durable else _NORMAL)
            with Transaction(db):
                yield db

    def _connect(self, *, make: bool) -> Connection | None:
        if self._db is None:
            if not make and not os.path.exists(self._path):
                return None
            # Private from the first moment: SQLite would let the umask decide.
            made = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not os.fstat(made).st_size:
                os.fchmod(made, 0o600)
            os.close(made)
            db = connect(self._path, vfs=self._vfs)
            try:
                with Transaction(db):
                    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'control'").get:
                        db.execute(control.TABLES)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def close(self) -> None:
        """Close the connection; it opens again when it is needed."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def before_fork(self) -> None:
        """Close the connection, and let nobody use it until the fork is over."""
        self._lock.acquire()
        if self._db is not None:
            self._db.close()
            self._db = None

    def after_fork(self, *, in_child: bool) -> None:
        """Go on; in the child with a lock that none of the parent's threads waits for."""
        if in_child:
            self._lock = Lock()
        else:
            self._lock.release()


@contextmanager
def _ours() -> Generator[None]:
    try:
        yield
    except FOREIGN as error:
        raise as_ours(error) from error
    except OSError as error:
        raise as_unavailable(error) from error
