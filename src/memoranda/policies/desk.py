"""Where the proposals of a store lie: in a companion of it, each in a directory of its own.

``/<id>/about.json`` is what there is to know, ``/<id>/0``, ``/<id>/1`` and so on the contents of its
changes. Written as one batch; taken away with its history.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memoranda.errors import AlreadyExists, NotFound, TooManyProposals, UnknownId
from memoranda.lazy_pattern import lazy_pattern
from memoranda.light_dataclasses import replace
from memoranda.path import ROOT, MemoryPath
from memoranda.policies.proposal import Proposal, asks_the_same, from_text, to_text
from memoranda.stores.base import Context, Directory, Expect, Put, Remove, Retention, VersionFilter

if TYPE_CHECKING:
    from memoranda.stores.base import Store

MOST: Final = 100
"""How many proposals may wait at one store; a few more where many writers come at once."""

_ABOUT: Final = "about.json"
_ID: Final = lazy_pattern(r"prop_[0-9a-f]{28}")
# What was decided is taken away at once; this is for what a kill leaves amid that.
_RETENTION: Final = Retention(keep_days=1, keep_newest=1)
_VERSIONS: Final = 1000


class ProposalDesk:
    """The proposals of one store. Safe to use from many threads at once."""

    def __init__(self, companion: Store) -> None:
        self._store = companion

    async def add(self, proposal: Proposal) -> str:
        """Keep a proposal, durable on return; its id, or that of an equal one which waits already.

        Raises ``TooManyProposals``.
        """
        waiting = await self.ids()
        for known in waiting:
            if asks_the_same(known, proposal.id):
                return known
        if len(waiting) >= MOST:
            raise TooManyProposals(len(waiting))
        here = ROOT.child(proposal.id)
        puts = [Put(here.child(_ABOUT), to_text(proposal), Expect.ABSENT)]
        puts += [
            Put(here.child(str(number)), change.content, Expect.ABSENT)
            for number, change in enumerate(proposal.changes)
            if change.content is not None
        ]
        context = Context(proposal.actor, "propose", proposal.trace_id, retention=_RETENTION)
        with suppress(AlreadyExists):  # somebody proposed the very same at this moment
            await self._store.apply(puts, context)
        return proposal.id

    async def ids(self) -> tuple[str, ...]:
        """What waits, oldest first. One read."""
        page = await self._store.list(ROOT, depth=1)
        return tuple(one.path.name for one in page.entries if isinstance(one, Directory))

    async def get(self, proposal_id: str, *, contents: bool) -> Proposal:
        """One proposal, with or without the ``contents`` of its changes. Raises ``UnknownId``."""
        here = _place(proposal_id)
        try:
            about = await self._store.read(here.child(_ABOUT))
            proposal = from_text(proposal_id, about.data)
            if not contents:
                return proposal
            changes = [
                change
                if change.size_bytes is None
                else change._replace(content=(await self._store.read(here.child(str(number)))).data)
                for number, change in enumerate(proposal.changes)
            ]
        except NotFound:
            raise UnknownId("proposal") from None
        return proposal._replace(changes=tuple(changes))

    async def remove(self, proposal_id: str, context: Context) -> bool:
        """Take a proposal away with its history, so that nothing of it stays; whether it was there."""
        here = _place(proposal_id)
        was_there = True
        try:
            await self._store.apply((Remove(here),), replace(context, retention=_RETENTION))
        except NotFound:
            was_there = False  # or a kill came between the two: what is left goes now
        if self._store.capabilities.redacts:
            for version in (
                await self._store.versions(VersionFilter(path=here), limit=_VERSIONS)
            ).versions:
                if version.redacted_at_ns is None:
                    await self._store.redact(version.id, context)
        return was_there

    async def close(self) -> None:
        """Let go of the companion."""
        await self._store.close()


def _place(proposal_id: str) -> MemoryPath:
    if not _ID.fullmatch(proposal_id):
        raise UnknownId("proposal")
    return ROOT.child(proposal_id)
