"""How a memory executes what Claude sends, written once; ``programs.py`` has what programs do.

raw input -> parse -> command layers -> tool -> store layers -> store
a program's call -----------------------------^
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from memoranda import reply
from memoranda.arguments import any_text
from memoranda.command import parse
from memoranda.errors import MemorandaError, Misuse, ReadOnly, UnknownId, Unsupported
from memoranda.light_named_tuples import NamedTuple
from memoranda.path import ROOT
from memoranda.policies.handler import Handler
from memoranda.policies.policy import Policy
from memoranda.policies.stack import around_commands, around_store, trail_of, uses_of
from memoranda.reply import Block, Failure, ToolResult
from memoranda.retry import Pause
from memoranda.stores.base import Context, Store
from memoranda.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.by_id import ById
    from memoranda.mounting import MountSource
    from memoranda.path import MemoryPath
    from memoranda.policies.audit import AuditTrail
    from memoranda.policies.desk import ProposalDesk
    from memoranda.policies.expiry import Uses
    from memoranda.programs import Programs
    from memoranda.review import Review
    from memoranda.store_source import StoreSource


class _Opened(NamedTuple):
    """A store inside its layers, the commands over it inside theirs, the store's audit, where uses
    are noted if anything expires, and where what waits for a person lies if anything does."""

    store: Store
    handler: Handler
    trail: AuditTrail
    uses: Uses | None
    desk: ProposalDesk | None


class Core:
    """One memory. Opens its store at the first use. Safe to use from many threads at once.

    ``pause`` waits between two attempts of a write that lost a race, as its store has to be waited
    for. Every coroutine here may raise ``Misuse`` once the memory is closed.
    """

    def __init__(
        self,
        source: StoreSource,
        policy: Policy,
        actor: str,
        pause: Pause,
        mounts: Sequence[MountSource] = (),
    ) -> None:
        self.policy = policy
        self.actor = actor
        self.pause = pause
        self._source = source
        self._mounts = mounts
        self._opened: _Opened | None = None
        self._closed = False
        self._contexts: dict[str, Context] = {}

    # ---- opening and closing

    async def store(self) -> Store:
        """The store inside its layers, opened if it was not yet."""
        return (self._opened or await self._open()).store

    async def own_store(self, path: MemoryPath = ROOT) -> Store:
        """The memory's own store inside its layers, without what is mounted: for what is done with
        the past. Raises ``Unsupported`` for a ``path`` in a mount."""
        store = await self.store()
        if not self._mounts:
            return store
        from memoranda.policies.mounts import MountStores

        assert isinstance(store, MountStores), "it was opened with its mounts"
        return store.own_at(path)

    async def trail(self) -> AuditTrail:
        """Where looks and refusals are noted."""
        return (self._opened or await self._open()).trail

    async def used(self, path: MemoryPath) -> None:
        """A program looked at a memory."""
        uses = (self._opened or await self._open()).uses
        if uses is not None:
            await uses.note(path)

    async def desk(self) -> ProposalDesk:
        """Where what waits for a person lies; also for a policy by which nothing waits any more."""
        desk = (self._opened or await self._open()).desk or await self._find_desk()
        if desk is None:
            raise Unsupported("approval")
        return desk

    async def _find_desk(self) -> ProposalDesk | None:
        from memoranda.policies.desk import ProposalDesk

        companion = await self._source.proposals()
        return None if companion is None else ProposalDesk(companion)

    async def _open(self) -> _Opened:
        if self._closed:
            raise Misuse("The memory is closed.")
        # Two threads that come here at once open the same store twice, which costs only time.
        found = await self._source.find()
        if self.policy.audit.reads == "strict" and not found.capabilities.audits:
            raise Unsupported("an audit of what is read")
        desk = await self._find_desk() if self.policy.asks_people else None
        store = around_store(found, self.policy, desk)
        trail = trail_of(found, self.policy)
        uses = uses_of(found, self.policy)
        if self._mounts:
            from memoranda.mounting import with_mounts

            store, trail, uses = await with_mounts(found, store, trail, uses, self._mounts)
        limits = self.policy.limits
        tool = Tool(
            store,
            on_exists=self.policy.on_exists,
            view_cap_chars=sys.maxsize if limits.view_chars is None else limits.view_chars,
            image_max_bytes=limits.image_bytes,
            frame_views=self.policy.injection.frame_views,
            pause=self.pause,
        )
        handler = around_commands(tool.run, self.policy, trail, uses)
        opened = _Opened(store, handler, trail, uses, desk)
        self._opened = opened
        if self._closed:  # by another thread, while this one looked for the store
            self._opened = None
            raise Misuse("The memory is closed.")
        return opened

    async def close(self) -> None:
        """Let go of the store; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._opened = None
            await self._source.release()
            for mount in self._mounts:
                await mount.source.release()

    async def erase(self, confirm: str) -> None:
        """Erase the store for good; the next use begins a new one."""
        if self._closed:
            raise Misuse("The memory is closed.")
        if self.policy.read_only:
            raise ReadOnly(ROOT)
        await self._source.erase(confirm, self.context("erase"))
        self._opened = None

    # ---- what Claude sends

    async def execute(self, raw: object, trace_id: str | None = None) -> ToolResult:
        """The answer to the input of a tool call, whatever it is."""
        if trace_id is not None:
            trace_id = any_text("trace_id", trace_id)
        try:
            opened = self._opened or await self._open()
            command = parse(raw)
            context = self.context(command.name, trace_id)
            result = await opened.handler(command, context)
            if isinstance(result, Failure) and isinstance(result.error, UnknownId):
                # No command names an id: somebody erased the store. A user's begins anew.
                self._opened = None
                result = await (await self._open()).handler(command, context)
            return result
        except Misuse as error:
            if self._opened is None:  # closed, or it can't be opened: that is the program's doing
                raise
            return _unavailable(error)
        # The outermost edge: nothing that the model sent may raise into the agent's loop.
        except Exception as error:  # noqa: BLE001
            return _unavailable(error)

    async def tool_result(self, block: object) -> Block:
        """The answer to a ``tool_use`` block, as a ``tool_result`` block."""
        from memoranda.tool_block import read_tool_use, tool_result

        use = read_tool_use(block)
        return tool_result(use.id, await self.execute(use.input, use.id))

    def context(self, command: str, trace_id: str | None = None) -> Context:
        """Who does ``command``, for the history."""
        if trace_id is not None:
            from memoranda.tool_block import kept_trace_id

            return Context(self.actor, command, kept_trace_id(trace_id))
        context = self._contexts.get(command)
        if context is None:
            context = self._contexts[command] = Context(self.actor, command)
        return context

    # ---- what programs and people do

    @cached_property
    def programs(self) -> Programs:
        """Everything besides Claude's commands; loaded when it is needed."""
        from memoranda.programs import Programs

        return Programs(self)

    @cached_property
    def review(self) -> Review:
        """What people decide about; loaded when it is needed."""
        from memoranda.review import Review

        return Review(self)

    @cached_property
    def by_id(self) -> ById:
        """What the HTTP API does; loaded when it is needed."""
        from memoranda.by_id import ById

        return ById(self)


def _unavailable(error: Exception) -> ToolResult:
    import logging
    from traceback import walk_tb

    # Neither the message nor the values: they may hold what is remembered, or paths of the host.
    where = [
        f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}:{line}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    logging.getLogger("memoranda").error(
        "A memory command failed: %s at %s", type(error).__name__, " > ".join(where)
    )
    return reply.unavailable(error if isinstance(error, MemorandaError) else None)
