"""Who watches a memory over MCP, and what they are told: own changes at once, all others soon."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)

from memoranda.command import Command, Create, Delete, Insert, RefusedInput, Rename, StrReplace
from memoranda.errors import MemorandaError, Misuse

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

    from memoranda.async_memory import AsyncMemory
    from memoranda.operations.changed import Changed

SCHEME: Final = "memory://"
"""What the address of a resource begins with; the memory's path follows, percent-encoded."""

LOOK_SECONDS: Final = 1.0
"""How often a watched memory is looked at for what others changed."""

_SHARE: Final = 20
"""Looking takes at most one part in so many of the time: large folders are looked at less often."""

_MOST_STREAMS: Final = 64
"""Streams of changes that one memory serves at once."""

_log: Final = logging.getLogger("memoranda")


class Watchers:
    """Who watches one memory: streams of changes, and the session of an older client.

    While anybody does, the memory's history is looked at every second: what came over another way,
    from another process or by a person's hand is told as what came through this server is. Used by
    one event loop.
    """

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._bus = InMemorySubscriptionBus()
        self.handler: Final = ListenHandler(self._bus, max_subscriptions=_MOST_STREAMS)
        self._uris: Counter[str] = Counter()
        self._n_streams = 0
        self._session: ServerSession | None = None
        self._session_uris: set[str] = set()
        self._seq: int | None = None
        self._turn = asyncio.Lock()  # one look after the other, so that nothing is told twice
        self._n_commands = 0
        self._looking: asyncio.Task[None] | None = None

    @property
    def is_watched(self) -> bool:
        """Whether anybody watches."""
        return bool(self._n_streams or self._session_uris)

    # ---- who watches

    async def begin(self) -> None:
        """Look for changes from now on; what is older is not told."""
        async with self._turn:
            if self._looking is None:
                # What is wrong with the memory now is the watcher's to hear.
                self._seq = (await self._memory.changed()).seq
                self._looking = asyncio.create_task(self._look_again_and_again())

    def end(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    @contextmanager
    def stream(self, uris: tuple[str, ...]) -> Generator[None]:
        """A stream that watches these resources, as long as it lasts."""
        self._n_streams += 1
        self._uris.update(uris)
        try:
            yield
        finally:
            self._n_streams -= 1
            self._uris.subtract(uris)
            self._uris += Counter()  # forgets what nobody watches any more

    def subscribe(self, session: ServerSession, uri: str) -> None:
        """An older client, the only one, watches a resource."""
        if session is not self._session:
            self._session_uris.clear()
        self._session = session
        self._session_uris.add(uri)

    def unsubscribe(self, uri: str) -> None:
        """It watches it no more."""
        self._session_uris.discard(uri)

    # ---- what is told

    @contextmanager
    def command(self) -> Generator[None]:
        """Around a command that comes through this server: ``tell_of`` tells what it did."""
        self._n_commands += 1
        try:
            yield
        finally:
            self._n_commands -= 1

    async def tell_of(self, done: Command | RefusedInput) -> None:
        """Tell what a command has changed, with what others did before it."""
        match done:
            case Create(path=path) | Delete(path=path):
                paths, listed = {path.text}, True
            case StrReplace(path=path) | Insert(path=path):
                paths, listed = {path.text}, False
            case Rename(old_path=old_path, new_path=new_path):
                paths, listed = {old_path.text, new_path.text}, True
            case _:
                return
        async with self._turn:
            try:
                found = await self._memory.changed(self._seq, adopt=False)
            except MemorandaError as error:  # the command itself was done, and is told
                _could_not_look(error)
            else:
                self._seq = found.seq
                paths |= found.paths
                listed |= found.listed
            await self._tell(paths, listed=listed)

    async def _look_again_and_again(self) -> None:
        pause = LOOK_SECONDS
        while True:
            await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                await self._look()
            except Misuse:
                return  # the memory is closed: nobody is told anything any more
            except MemorandaError as error:
                _could_not_look(error)
            pause = max(LOOK_SECONDS, _SHARE * (time.monotonic() - began))

    async def _look(self) -> None:
        async with self._turn:
            found: Changed = await self._memory.changed(self._seq)
            if self._n_commands:
                return  # may be their doing: they tell it, and with it whatever else was found
            self._seq = found.seq
            if found.paths:
                await self._tell(found.paths, listed=found.listed)

    async def _tell(self, paths: Iterable[str], *, listed: bool) -> None:
        """Something changed at these paths or beneath them, and ``listed``: also which there are."""
        for uri in sorted({uri for uri in self._uris if _concerns(uri, paths)}):
            await self._bus.publish(ResourceUpdated(uri))
        if listed and self._n_streams:
            await self._bus.publish(ResourcesListChanged())
        if self._session is not None:
            for uri in sorted(uri for uri in self._session_uris if _concerns(uri, paths)):
                await self._session.send_resource_updated(uri)


def uri_of(path: str) -> str:
    """The address of a memory."""
    return f"{SCHEME}{quote(path)}"


def path_of(uri: str) -> str:
    """The path in a resource's address; what is none is refused by the memory like any bad path."""
    return unquote(uri.removeprefix(SCHEME), errors="surrogateescape")


def _concerns(uri: str, changed: Iterable[str]) -> bool:
    """Whether a change at these paths, or beneath them, is one of the resource."""
    path = path_of(uri)
    return any(path == one or path.startswith(f"{one}/") for one in changed)


def _could_not_look(error: MemorandaError) -> None:
    # Not its message: it may name what only the operator should know.
    _log.warning("A watched memory could not be looked at: %s", type(error).__name__)
