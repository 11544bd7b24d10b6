"""The order of the layers, and why that order.

    raw input -> parse -> Observe -> Audit -> LimitRate -> NoteUse -> tool
        -> RefuseWrites -> NoteUnchanged -> RedactSecrets -> MarkInjection -> AwaitApproval
        -> KeepHistory -> LimitSize -> store

Commands, from the outside in:

1. ``Observe``, where telemetry is on, before all: what it measures is what Claude waits for.
2. ``Audit`` before what refuses: it sees every answer.
3. ``LimitRate``: what is over the rate costs nothing behind it.
4. ``NoteUse``, where memories expire: only what was shown was used.

Around all of it, where a policy names mounts, stands ``MountStores`` (``memoranda.mounting``): each store
in it is inside layers of its own.

Stores, from the outside in:

1. ``RefuseWrites`` before everything that looks at contents: what may not be written is not judged.
2. ``NoteUnchanged`` outside of all that may change a content: it tells what came of it in the end.
3. ``RedactSecrets`` before everything that keeps, counts or passes on contents: behind it there is
   no secret any more.
4. ``MarkInjection`` on what is left: it marks what is stored, and a refused text needs no mark.
5. ``AwaitApproval`` behind both: what waits holds no secret, and has its marks, for which it may
   wait. What is approved goes through all of them once more.
6. ``KeepHistory``, where the policy says other than the stores do by themselves.
7. ``LimitSize`` next to the store: limits are those of what is stored in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Unsupported
from memoranda.policies.audit import Audit, AuditTrail, NoteUnchanged
from memoranda.policies.expiry import Uses
from memoranda.policies.handler import Handler
from memoranda.policies.limits import Limits, LimitSize
from memoranda.policies.mark import MarkInjection
from memoranda.policies.policy import Policy
from memoranda.policies.redact import RedactSecrets, hidden_names
from memoranda.policies.retention import KeepHistory, default_retention
from memoranda.stores.base import Ceiling, Store

if TYPE_CHECKING:
    from memoranda.policies.desk import ProposalDesk

# What local stores keep by themselves; not to say it again spares every call a layer.
_OF_THE_STORES: Final = default_retention(Limits().store_bytes)


def around_store(store: Store, policy: Policy, desk: ProposalDesk | None = None) -> Store:
    """``store`` inside the layers that ``policy`` asks for; ``desk`` is where its proposals lie.

    Raises ``Unsupported`` where writes shall wait and there is no desk.
    """
    trail = trail_of(store, policy)
    ceiling = policy.limits.ceiling
    if ceiling != Ceiling():
        store = LimitSize(store, ceiling)
    retention = policy.retention or default_retention(policy.limits.store_bytes)
    if retention != _OF_THE_STORES:
        store = KeepHistory(store, retention)
    if policy.asks_people:
        from memoranda.policies.await_approval import AwaitApproval

        if desk is None:
            raise Unsupported("approval: a store that you brought has no place for proposals")
        reviews = policy.injection.mode == "review"
        store = AwaitApproval(store, policy.approval, desk, ceiling=ceiling, reviews=reviews)
    if policy.injection.mode != "off":
        store = MarkInjection(store)
    if policy.redaction.looks:
        store = RedactSecrets(store, policy.redaction)
    store = NoteUnchanged(store, trail)
    if policy.read_only:
        from memoranda.policies.read_only import RefuseWrites

        store = RefuseWrites(store)
    return store


def trail_of(store: Store, policy: Policy) -> AuditTrail:
    """Where looks and refusals of a store are noted."""
    return AuditTrail(store, policy.audit.reads, hidden_names(policy.redaction))


def uses_of(store: Store, policy: Policy) -> Uses | None:
    """Where uses of memories are noted; None where no rule asks for them."""
    if all(rule.unused_days is None for rule in policy.expiry):
        return None
    return Uses(store, policy.expiry)


def around_commands(
    handler: Handler, policy: Policy, trail: AuditTrail, uses: Uses | None
) -> Handler:
    """``handler`` inside the layers that ``policy`` asks for."""
    if uses is not None:
        from memoranda.policies.expiry import NoteUse

        handler = NoteUse(handler, uses)
    per_minute = policy.limits.commands_per_minute
    if per_minute is not None:
        from memoranda.policies.rate import LimitRate

        handler = LimitRate(handler, per_minute)
    handler = Audit(handler, trail)
    if policy.telemetry:
        from memoranda.policies.telemetry import Observe

        handler = Observe(handler)
    return handler
