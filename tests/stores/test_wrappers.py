"""Every layer around a store keeps every promise of the store: a layer is a store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from memoranda.path import MemoryPath
from memoranda.policies.approval import Approval
from memoranda.policies.audit import Auditing, AuditTrail
from memoranda.policies.await_approval import AwaitApproval
from memoranda.policies.desk import ProposalDesk
from memoranda.policies.expiry import Expiry
from memoranda.policies.injection import InjectionMarks
from memoranda.policies.limits import MIB, Limits, LimitSize
from memoranda.policies.mark import MarkInjection
from memoranda.policies.mounted import Mounted
from memoranda.policies.mounts import MountStores
from memoranda.policies.policy import Policy
from memoranda.policies.redact import RedactSecrets
from memoranda.policies.redaction import Redaction
from memoranda.policies.stack import around_store
from memoranda.stores.base import (
    LISTING_CHUNK,
    Backend,
    Ceiling,
    Moment,
    Outline,
    Page,
    Store,
    WrapperStore,
)
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.faults import SuspendingStore, WrappingBackend
from memoranda.testing.store_suite import StoreSuite
from tests.stand_ins import fresh_store

ROOMY = Limits(file_bytes=8 * MIB, store_bytes=64 * MIB, files=100_000)
"""Limits that no promise comes near; those that batches bring have to hold all the same."""


CAREFUL = Redaction(phone="mask", card="refuse", iban="refuse", national_id="mask")
"""Every kind but addresses of mail: a promise has one in a name."""


class Wrapped(StoreSuite):
    """Stores in memory, to be wrapped."""

    async def open_backend(self, home: Path) -> Backend:
        return RamBackend()


class TestAWrapperThatAddsNothing(Wrapped):
    def wrap(self, store: Store) -> Store:
        return WrapperStore(store)


class TestLimits(Wrapped):
    def wrap(self, store: Store) -> Store:
        return LimitSize(store, ROOMY.ceiling)


class TestLiftedLimits(Wrapped):
    def wrap(self, store: Store) -> Store:
        return LimitSize(store, Ceiling())


class TestRedaction(Wrapped):
    def wrap(self, store: Store) -> Store:
        return RedactSecrets(store, CAREFUL)


class TestRedactionOverASQLiteFile(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return SqliteBackend(home / "memory.db")

    def wrap(self, store: Store) -> Store:
        return RedactSecrets(store, CAREFUL)


class TestRedactionOverAFolder(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return FolderBackend(home / "memory")

    def wrap(self, store: Store) -> Store:
        return RedactSecrets(store, CAREFUL)


class TestMarks(Wrapped):
    def wrap(self, store: Store) -> Store:
        return MarkInjection(store)


RULES = (Approval(path="/memories/what-no-promise-writes/*"),)


class TestApproval(Wrapped):
    def wrap(self, store: Store) -> Store:
        return AwaitApproval(store, RULES, ProposalDesk(fresh_store("desk")), reviews=True)


POINT = MemoryPath.of(("\U0010fffd",))
"""A mount point that is listed last and that no promise names."""


class WithoutThePoint(WrapperStore):
    """What a memory shows beside an empty mount, which a store without mounts doesn't have."""

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        found = await self.inner.outline(directory, line_chars)
        if not directory.is_root:
            return found
        items = tuple(item for item in found.items if item[0] != f"{POINT.name}/")
        return Outline(found.size_bytes, items, found.total - 1)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        page = await self.inner.list(prefix, depth=depth, after=after, limit=limit, at=at)
        entries = tuple(one for one in page.entries if one.path != POINT)
        if page.after is not None:  # is there more than the mount?
            rest = await self.inner.list(prefix, depth=depth, after=page.after, limit=1, at=at)
            if all(one.path == POINT for one in rest.entries):
                return Page(entries, None)
        return Page(entries, page.after)


class TestMounts(Wrapped):
    def wrap(self, store: Store) -> Store:
        other = fresh_store("mounted")
        mount = Mounted(POINT, other, AuditTrail(other, "off"), None)
        return WithoutThePoint(MountStores(store, [mount]))


class TestTheWholeStack(Wrapped):
    def wrap(self, store: Store) -> Store:
        return around_store(store, Policy(limits=ROOMY))


class TestTheWholeStackOverAStoreThatSuspends(Wrapped):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        return WrappingBackend(
            RamBackend(),
            lambda store: SuspendingStore(store, lambda: asyncio.sleep(0)),
            suspends=True,
        )

    def wrap(self, store: Store) -> Store:
        return around_store(
            store, Policy(limits=ROOMY, approval=RULES), ProposalDesk(fresh_store("desk"))
        )


AUDITED = Policy(
    limits=ROOMY,
    audit=Auditing(reads="strict"),
    expiry=(Expiry(unused_days=1, age_days=1),),
    redaction=Redaction.off(),
    approval=RULES,
    injection=InjectionMarks(mode="review"),
)


class TestTheWholeStackOverAFile(Wrapped):
    async def open_backend(self, home: Path) -> Backend:
        return SqliteBackend(home / "memory.db")

    def wrap(self, store: Store) -> Store:
        return around_store(store, AUDITED, ProposalDesk(fresh_store("desk")))


class TestTheWholeStackOverAFolder(Wrapped):
    async def open_backend(self, home: Path) -> Backend:
        return FolderBackend(home / "memory")

    def wrap(self, store: Store) -> Store:
        return around_store(store, AUDITED, ProposalDesk(fresh_store("desk")))
