"""Opening the stores that a memory shows under paths of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memoranda.errors import Misuse, Unsupported
from memoranda.policies.mounted import Mounted
from memoranda.policies.mounted_audit import MountedTrail, MountedUses
from memoranda.policies.mounts import MountStores
from memoranda.policies.policy import Policy
from memoranda.policies.stack import around_store, trail_of, uses_of

if TYPE_CHECKING:
    from memoranda.policies.audit import AuditTrail
    from memoranda.policies.expiry import Uses
    from memoranda.policies.mount import Mount
    from memoranda.store_source import StoreSource
    from memoranda.stores.base import Store


class MountSource(NamedTuple):
    """A mount, and where its store comes from."""

    mount: Mount
    source: StoreSource


class WithMounts(NamedTuple):
    """A memory's store, its audit and its uses, each with those of the mounts."""

    store: MountStores
    trail: AuditTrail
    uses: Uses


async def with_mounts(
    found: Store,
    store: Store,
    trail: AuditTrail,
    uses: Uses | None,
    sources: Sequence[MountSource],
) -> WithMounts:
    """Open all mounted stores and show them; ``found`` is the memory's own store, ``store`` the
    same inside its layers.

    Raises ``Misuse`` for a store that is mounted twice or into itself, one that blocks where the
    memory's own suspends or the other way round, and a mount in whose place memories lie already.
    """
    mounts = [await _mounted(source, found) for source in sources]
    ids = [found.id, *(mount.store.id for mount in mounts)]
    for number, mount in enumerate(mounts, 1):
        if ids[number] in ids[:number]:
            raise Misuse(f"The store at the mount {mount.point} is shown in this memory already.")
    shown = MountStores(store, mounts)
    for problem in await shown.hidden():
        raise Misuse(f"{problem.message} {problem.remedy}")
    every_use = MountedUses(uses, mounts)
    return WithMounts(shown, MountedTrail(trail, mounts), every_use)


async def _mounted(source: MountSource, own: Store) -> Mounted:
    mount = source.mount
    policy = mount.policy or Policy()
    found = await source.source.find()
    if found.suspends != own.suspends:
        raise Misuse(
            f"The store at the mount {mount.point} is waited for in another way than the memory's "
            "own; use a backend of the same kind, or Memory in place of AsyncMemory."
        )
    desk = None
    if policy.asks_people:
        from memoranda.policies.desk import ProposalDesk

        companion = await source.source.proposals()
        desk = None if companion is None else ProposalDesk(companion)
    if policy.audit.reads == "strict" and not found.capabilities.audits:
        raise Unsupported("an audit of what is read")
    store = around_store(found, policy, desk)
    if mount.access == "read_only" and not policy.read_only:
        from memoranda.policies.read_only import RefuseWrites

        store = RefuseWrites(store)
    return Mounted(mount.point, store, trail_of(found, policy), uses_of(found, policy))
