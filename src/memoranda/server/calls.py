"""Tool calls that are done once, however often they are sent: by the id of the ``tool_use`` block.

Before a change is made, a record says durably that the call has begun; the change itself carries
the id into the history, in its own transaction. So whoever meets a call that was begun and has no
answer can tell whether it was done: it is in the history or it is not. The record holds hashes, no
contents; an answer is made anew from the history, which erasure and redaction reach.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakValueDictionary

from memoranda.command import parse
from memoranda.errors import Conflict
from memoranda.operations.told_again import CHANGING, Changing, find_done, told_again
from memoranda.server.problems import Problem
from memoranda.server.process import Owner
from memoranda.stores.records import ABSENT
from memoranda.tool_block import ToolUse, kept_trace_id, tool_result

if TYPE_CHECKING:
    from memoranda.core import Core
    from memoranda.reply import Block, ToolResult
    from memoranda.server.hosted import Hosted
    from memoranda.server.keys import Key
    from memoranda.stores.records import Record, Records

KIND: Final = "call"

LEASE_SECONDS: Final = 60
"""How long a call may take that another process has begun, before it counts as broken off."""
KEPT_SECONDS: Final = 24 * 3600
"""How long a call is remembered. Who retries does so within minutes."""
ANSWERS_SECONDS: Final = 120
"""How long an answer is kept in memory, for the usual retry."""

_MOST_ANSWERS: Final = 4_096
_SLACK_NS: Final = 600 * 10**9  # clocks of two machines may differ by this much
_SECOND_NS: Final = 10**9


class _Begun(NamedTuple):
    """What a record says: of which input, when and by whom the call was begun."""

    input: str
    at_ns: int
    by: Owner


class ToolCalls:
    """The tool calls of one server. Used by one event loop."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted
        self._owner = Owner.new()
        self._answers: OrderedDict[str, tuple[str, ToolResult, float]] = OrderedDict()
        # A lock is there as long as anybody holds it or waits for it.
        self._running: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def _records(self) -> Records:
        return self._hosted.records(KIND)

    async def answer(self, key: Key, store_id: str, use: ToolUse) -> Block:
        """The ``tool_result`` for a ``tool_use``; the same change is made once.

        Raises a ``Problem``: 400 for an id that came with another input before, 409 while another
        process is at it.
        """
        core = await self._hosted.core(key, store_id, mounted=True)
        command = parse(use.input)
        if not isinstance(command, CHANGING) or core.policy.read_only:
            result = await self._hosted.do(core.execute(use.input, use.id))
            return tool_result(use.id, result)
        name = sha256(f"{key.workspace}\0{store_id}\0{use.id}".encode()).hexdigest()
        # A client that goes away, or whose time is over, must not leave a change without its
        # answer; nor may it come again and find the same call free while it still runs.
        result = await asyncio.shield(self._alone(core, name, use, command))
        return tool_result(use.id, result)

    async def _alone(self, core: Core, name: str, use: ToolUse, command: Changing) -> ToolResult:
        lock = self._running.setdefault(name, asyncio.Lock())
        async with lock:
            return await self._once(core, name, use, command)

    async def _once(self, core: Core, name: str, use: ToolUse, command: Changing) -> ToolResult:
        given = _fingerprint(use.input)
        known = self._answers.get(name)
        if known is not None and time.monotonic() < known[2]:
            if known[0] != given:
                raise _another_input()
            return known[1]
        result = await self._hosted.do(self._begin(core, name, given, use, command))
        if result is None:
            result = await self._hosted.do(core.execute(use.input, use.id))
        self._answers[name] = (given, result, time.monotonic() + ANSWERS_SECONDS)
        if len(self._answers) > _MOST_ANSWERS:
            self._answers.popitem(last=False)
        return result

    async def _begin(
        self, core: Core, name: str, given: str, use: ToolUse, command: Changing
    ) -> ToolResult | None:
        """Note that the call begins; the answer if it was done before."""
        now = time.time_ns()
        mine = json.dumps(_Begun(given, now, self._owner))
        try:
            await self._records.put(name, mine, ABSENT)
            return None
        except Conflict:
            found = await self._records.get(name)
        if found is None:
            raise _in_progress(1)  # it was swept away between the two looks
        before = _read(found)
        if before.input != given:
            raise _another_input()
        left = LEASE_SECONDS - (now - before.at_ns) // _SECOND_NS
        if before.by != self._owner and left > 0 and not before.by.is_gone():
            raise _in_progress(left)
        store = await core.store()
        version = await find_done(store, kept_trace_id(use.id), before.at_ns - _SLACK_NS)
        if version is not None:
            cap = core.policy.limits.view_chars
            return await told_again(store, command, version, cap or 2**31)
        try:
            # Of several who find it broken off, one takes it up.
            again = json.dumps(_Begun(given, now, self._owner))
            await self._records.put(name, again, found.revision)
        except Conflict:
            raise _in_progress(1) from None
        return None

    def close(self) -> None:
        """Nothing is in flight any more."""
        self._owner.ends()

    async def sweep(self) -> int:
        """Forget calls that nobody will repeat any more; of how many."""
        until = time.time_ns() - KEPT_SECONDS * _SECOND_NS
        after, n_gone = "", 0
        while page := await self._hosted.do(self._records.list(after)):
            for record in page:
                if _read(record).at_ns < until:
                    n_gone += await self._hosted.do(self._records.remove(record.key))
            after = page[-1].key
        return n_gone


def _fingerprint(given: Any) -> str:
    """The hash of an input, the same however its JSON was written."""
    return sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def _read(record: Record) -> _Begun:
    given, at_ns, by = json.loads(record.value)
    return _Begun(given, at_ns, Owner(*by))


def _another_input() -> Problem:
    return Problem(400, "Another input came with this tool_use id before; ids are used once.")


def _in_progress(seconds: int) -> Problem:
    return Problem(
        409,
        "This tool_use was begun and is not finished yet; try again.",
        headers={"retry-after": str(max(seconds, 1))},
    )
