"""The order of the layers, and why that order.

    raw input -> parse -> LimitRate -> tool -> RefuseWrites -> LimitSize -> store

Commands, from the outside in:

1. ``LimitRate`` comes first: what is over the rate costs nothing behind it.

Stores, from the outside in:

1. ``RefuseWrites`` before everything that looks at contents: what may not be written is not judged.
2. ``LimitSize`` next to the store: limits are those of what is stored in the end.
"""

from __future__ import annotations

from memoranda.policies.handler import Handler
from memoranda.policies.limits import LimitSize
from memoranda.policies.policy import Policy
from memoranda.policies.rate import LimitRate
from memoranda.policies.read_only import RefuseWrites
from memoranda.stores.base import Ceiling, Store


def around_store(store: Store, policy: Policy) -> Store:
    """``store`` inside the layers that ``policy`` asks for; itself where it asks for none."""
    ceiling = policy.limits.ceiling
    if ceiling != Ceiling():
        store = LimitSize(store, ceiling)
    if policy.read_only:
        store = RefuseWrites(store)
    return store


def around_commands(handler: Handler, policy: Policy) -> Handler:
    """``handler`` inside the layers that ``policy`` asks for; itself where it asks for none."""
    per_minute = policy.limits.commands_per_minute
    if per_minute is not None:
        handler = LimitRate(handler, per_minute)
    return handler
