"""What people do with writes that wait: look at them, approve, reject and let them expire.

Written once for both facades; ``Memory`` says what each method promises.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memoranda import arguments
from memoranda.errors import (
    AlreadyExists,
    Conflict,
    ContentGone,
    IsADirectory,
    NotADirectory,
    NotApprovable,
    NotFound,
    UnknownId,
    Unsupported,
)
from memoranda.light_dataclasses import replace
from memoranda.noted import noted
from memoranda.operations.diff import unified
from memoranda.policies.proposal import ABSENT, Proposal, ProposalState, ProposedChange
from memoranda.stores.audit import OUTCOME, PATH, PROPOSAL
from memoranda.stores.base import Store, Version

if TYPE_CHECKING:
    from memoranda.core import Core
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Context

PROPOSED_BY: Final = "proposed_by"
PROPOSED_AS: Final = "proposed_as"
REASON: Final = "reason"
"""Keys of an audit draft: who wanted a change, with which command; why it was not to be."""

REJECTED: Final = "rejected"
EXPIRED: Final = "expired"
"""Outcomes of a proposal that came to nothing."""

_EXPIRY: Final = "expiry"

# What a batch raises when the store is no longer as it was when the batch was made.
_OVERTAKEN: Final = (Conflict, NotFound, AlreadyExists, IsADirectory, NotADirectory, UnknownId)
_NOWHERE: Final = "/dev/null"


class Review:
    """The people's side of the writes that wait."""

    def __init__(self, core: Core) -> None:
        self.core = core

    async def proposals(self) -> tuple[Proposal, ...]:
        """What waits, oldest first."""
        desk = await self.core.desk()
        found: list[Proposal] = []
        for proposal_id in await desk.ids():
            try:
                proposal = await desk.get(proposal_id, contents=False)
            except UnknownId:
                continue  # somebody decided meanwhile
            found.append(await self._with_state(proposal))
        return tuple(found)

    async def proposal(self, proposal_id: str) -> Proposal:
        """One of them, with contents."""
        wanted = arguments.text("proposal_id", proposal_id)
        desk = await self.core.desk()
        return await self._with_state(await desk.get(wanted, contents=True))

    @noted("proposal", reads=True)
    async def diff(self, proposal_id: str, context_lines: int) -> str:
        """What a proposal would change."""
        lines = arguments.count("context_lines", context_lines)
        proposal = await self.proposal(proposal_id)
        store = await self.core.store()
        parts = [await _diff(store, change, lines) for change in proposal.changes]
        return "".join(parts)

    @noted("approve")
    async def approve(self, proposal_id: str) -> tuple[Version, ...]:
        """Do what a proposal says."""
        desk = await self.core.desk()
        proposal = await self.proposal(proposal_id)
        if proposal.state != "waits":
            raise NotApprovable(is_stale=proposal.state == "stale")
        store = await self.core.store()
        context = replace(
            self.core.context("approve", proposal.trace_id),
            audit={
                PROPOSAL: proposal.id,
                PROPOSED_BY: proposal.actor,
                PROPOSED_AS: proposal.command,
            },
            approval=proposal.id,
        )
        changes = [change.as_change() for change in proposal.changes]
        try:
            versions = await store.apply(changes, context)
        except _OVERTAKEN as error:
            raise NotApprovable(is_stale=True) from error
        # A kill before this leaves a proposal that is stale: nothing is done twice.
        await desk.remove(proposal.id, context)
        return versions

    async def reject(self, proposal_id: str, reason: str) -> Proposal:
        """Take a proposal away."""
        wanted, why = arguments.text("proposal_id", proposal_id), arguments.text("reason", reason)
        desk = await self.core.desk()
        proposal = await self._with_state(await desk.get(wanted, contents=False))
        await self._take_away(proposal, "reject", REJECTED, why)
        return proposal

    async def expire(self, now_ns: int, dry_run: bool) -> tuple[Proposal, ...]:
        """Take away those whose time is over."""
        only_says = arguments.flag("dry_run", dry_run)
        try:
            holds = await (await self.core.store()).holds()
        except Unsupported:
            holds = ()
        over = [
            proposal
            for proposal in await self.proposals()
            if proposal.expires_ns <= now_ns
            and not any(hold.covers(change.path) for hold in holds for change in proposal.changes)
        ]
        for proposal in over if not only_says else ():
            await self._take_away(proposal, _EXPIRY, EXPIRED, "")
        return tuple(over)

    async def drop(self, path: MemoryPath, context: Context) -> None:
        """Take away what waits about a path or what lies beneath it."""
        try:  # a store that was brought has none
            desk = await self.core.desk()
        except Unsupported:
            return
        for proposal_id in await desk.ids():
            with suppress(UnknownId):
                proposal = await desk.get(proposal_id, contents=False)
                touched = [
                    where
                    for change in proposal.changes
                    for where in (change.path, change.target)
                    if where is not None and (where == path or where.is_below(path))
                ]
                if touched:
                    await desk.remove(proposal_id, context)

    async def _take_away(self, proposal: Proposal, command: str, outcome: str, reason: str) -> None:
        context = self.core.context(command)
        draft = {
            PATH: proposal.path.text,
            OUTCOME: outcome,
            PROPOSAL: proposal.id,
            PROPOSED_BY: proposal.actor,
            **({REASON: reason} if reason else {}),
        }
        # The entry first: what nobody can note does not happen.
        store = await self.core.store()
        if store.capabilities.audits:
            await store.record(replace(context, audit=draft))
            await store.flush()
        await (await self.core.desk()).remove(proposal.id, context)

    async def _with_state(self, proposal: Proposal) -> Proposal:
        store = await self.core.store()
        state: ProposalState = "waits"
        if proposal.expires_ns <= time.time_ns():
            state = "expired"
        for change in proposal.changes:
            if await _is_stale(store, change):
                state = "stale"
                break
        return proposal._replace(state=state)


async def _is_stale(store: Store, change: ProposedChange) -> bool:
    """Whether what a change was made from is not there any more, or its target is taken."""
    if change.base is None:
        return False
    try:
        head = (await store.stat(change.path)).version_id
    except NotFound:
        head = ABSENT
    except IsADirectory:
        return True
    if head != change.base:
        return True
    if change.target is None:
        return False
    try:
        await store.stat(change.target)
    except NotFound:
        return False
    except IsADirectory:
        return True
    return True


async def _diff(store: Store, change: ProposedChange, context_lines: int) -> str:
    name = f"{change.path}\t{change.base}"
    if change.target is not None:
        return f"rename from {change.path}\nrename to {change.target}\n"
    old = await _content_of(store, change.base)
    new_name = _NOWHERE if change.operation == "remove" else f"{change.path}\tproposed"
    if old is None:
        return unified(b"", change.content or b"", _NOWHERE, new_name, context_lines)
    return unified(old, change.content or b"", name, new_name, context_lines)


async def _content_of(store: Store, version_id: str | None) -> bytes | None:
    """What a change was made from; None where there was nothing or another change decides."""
    if version_id is None or version_id == ABSENT:
        return None
    version = await store.version(version_id)
    if version.content is None:
        raise ContentGone
    return version.content
