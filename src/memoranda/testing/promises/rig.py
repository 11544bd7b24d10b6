"""What a promise gets to work with: one backend, one user's store, and a way to race."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar
from unittest import SkipTest

from memoranda.drive import run_now
from memoranda.errors import MemorandaError
from memoranda.stores.base import Backend, Store

T = TypeVar("T")

USER = "acme-corp"
START_TOGETHER_SECONDS = 30.0
SWITCH_SECONDS = 1e-5


class Subject(Protocol):
    """What is being proved: how to open it and how to look behind its back."""

    suspends: ClassVar[bool]

    async def open_backend(self, home: Path) -> Backend:
        """The backend whose data lie in ``home``."""
        ...

    def wrap(self, store: Store) -> Store:
        """What to prove instead of ``store``."""
        ...

    def stored_files(self, home: Path, store_id: str, user: str) -> Mapping[str, bytes] | None:
        """Paths and contents as storage holds them; None where nobody can look."""
        ...

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        """All bytes on storage."""
        ...


@dataclass
class Rig:
    """One run's ground: a backend that was opened in ``home``, and the store of ``USER``."""

    subject: Subject
    home: Path
    backend: Backend
    store: Store

    @classmethod
    async def opened(cls, subject: Subject, home: Path) -> Rig:
        """A rig with nothing stored in it."""
        backend = await subject.open_backend(home)
        return cls(subject, home, backend, subject.wrap(await backend.for_user(USER)))

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        """A user's store, wrapped as the subject wraps it."""
        return self.subject.wrap(await self.backend.for_user(user, workspace))

    async def open(self, store_id: str, workspace: str = "default") -> Store:
        """A store by its id, wrapped as the subject wraps it."""
        return self.subject.wrap(await self.backend.open(store_id, workspace))

    async def reopen(self) -> None:
        """Close the backend and open it again, as a new process would find it."""
        await self.close()
        self.backend = await self.subject.open_backend(self.home)
        self.store = await self.for_user(USER)

    async def close(self) -> None:
        """Close store and backend; they may be closed already."""
        await self.store.close()
        await self.backend.close()

    async def together(
        self, jobs: Sequence[Callable[[], Coroutine[Any, Any, T]]]
    ) -> list[T | MemorandaError]:
        """Run ``jobs`` at once and return what each gave: its value or Memoranda's error.

        A store that blocks gets a thread for each job, all let go at one moment; a store that
        suspends gets a task for each. Any other exception is passed on.
        """
        if self.subject.suspends:
            return await asyncio.gather(*(_outcome(job()) for job in jobs))
        gate = threading.Barrier(len(jobs))

        def run(job: Callable[[], Coroutine[Any, Any, T]]) -> T | MemorandaError:
            gate.wait(START_TOGETHER_SECONDS)
            return run_now(_outcome(job()))

        # Python lets a thread run for 5 ms before another one gets its turn: whole commands fit in.
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            with ThreadPoolExecutor(len(jobs)) as pool:
                return list(pool.map(run, jobs))
        finally:
            sys.setswitchinterval(before)

    def needs(self, capability: str) -> None:
        """Leave the promise out where the backend says that it lacks ``capability``."""
        if not getattr(self.backend.capabilities, capability):
            raise SkipTest(f"the backend says that it is not able to: {capability}")


async def _outcome(job: Awaitable[T]) -> T | MemorandaError:
    try:
        return await job
    except MemorandaError as error:
        return error


def values(outcomes: Iterable[T | MemorandaError]) -> list[T]:
    """What the jobs gave that did not fail."""
    return [outcome for outcome in outcomes if not isinstance(outcome, MemorandaError)]


def errors(outcomes: Iterable[object]) -> list[MemorandaError]:
    """What the jobs raised that failed."""
    return [outcome for outcome in outcomes if isinstance(outcome, MemorandaError)]
