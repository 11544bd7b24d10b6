"""One backend object a URL in this process, however many memories use it.

So all threads of a process share one writer, which commits for them together, and one set of open
files. A backend is counted: the last ``release`` closes it, and the end of the process closes what
was left open.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from memoranda.arguments import is_utf8
from memoranda.drive import BackgroundLoop, SyncDriver, run_now
from memoranda.errors import Misuse
from memoranda.stores.base import Backend

# A backend that lives in memory belongs to whoever opened it: the next one gets an empty one.
_PRIVATE: Final = "memory:"
_SEALED_PRIVATE: Final = "sealed:memory:"


class SharedBackend:
    """A backend, who uses it, and how synchronous callers reach it. Made by ``acquire``."""

    def __init__(self, key: str, backend: Backend) -> None:
        self.key = key
        self.backend = backend
        self.users = 1
        self._loop = BackgroundLoop()

    @property
    def drive(self) -> SyncDriver:
        """How a synchronous caller finishes a coroutine that uses the backend."""
        return self._loop.run if self.backend.suspends else run_now

    def end(self) -> None:
        """Let the thread of synchronous callers end, if nobody uses the backend any more. Not to be
        called from a coroutine that ``drive`` runs."""
        if not self.users:
            self._loop.close()


class _OpenBackends:
    """The backends that this process has open, by key."""

    def __init__(self) -> None:
        self.changed = threading.Condition()  # guards both, and every count of users
        self.open: dict[str, SharedBackend] = {}
        self.closing: set[str] = set()


_backends = _OpenBackends()


def acquire(url: str, open_backend: Callable[[str], Backend], colour: str = "") -> SharedBackend:
    """The backend of ``url``: the one that is open, or what ``open_backend`` makes.

    ``colour`` tells apart backends that meet in the storage only: one that blocks and one that
    suspends.

    ``release`` it once. Waits while another thread is closing the same one. Raises ``Misuse`` for a
    URL that can't be, and what opening raises.
    """
    if type(url) is not str or not url or "\0" in url or not is_utf8(url):
        raise Misuse('A store is named by a path or a URL, for example "./memory".')
    key = _key(url) + colour
    backends = _backends
    with backends.changed:
        # Two objects of one process must not meet at the same files, one of them at its last write.
        backends.changed.wait_for(lambda: key not in backends.closing)
        shared = backends.open.get(key)
        if shared is not None:
            shared.users += 1
            return shared
        shared = SharedBackend(key, open_backend(url))
        if url.lower() not in {_PRIVATE, _SEALED_PRIVATE}:  # schemes have no case
            backends.open[key] = shared
        return shared


async def release(shared: SharedBackend) -> None:
    """Give back what ``acquire`` gave; closes the backend if nobody else has it."""
    backends = _backends
    with backends.changed:
        shared.users -= 1
        if shared.users:
            return
        if backends.open.get(shared.key) is shared:
            del backends.open[shared.key]
        if not shared.backend.suspends:
            backends.closing.add(shared.key)
    try:
        await shared.backend.close()
    finally:
        with backends.changed:
            backends.closing.discard(shared.key)
            backends.changed.notify_all()


def _key(url: str) -> str:
    """What two names of one place have in common, as far as their spelling tells."""
    if "://" in url or url.lower().startswith((_PRIVATE, _SEALED_PRIVATE)):
        return f"{url} seen from {os.getcwd()}"  # sqlite:///memory.db is a relative path
    return os.path.abspath(url)


def _close_all() -> None:
    """Write what is still buffered. Backends that suspend have no loop any more at this time."""
    with ExitStack() as all_of_them:
        for shared in _backends.open.values():
            if not shared.backend.suspends:
                all_of_them.callback(run_now, shared.backend.close())


def _forget() -> None:
    """A forked child has its parent's objects, but neither its threads nor its locks."""
    global _backends  # noqa: PLW0603
    _backends = _OpenBackends()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget)
