"""What a store begins with that is to take over another one's history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.light_named_tuples import NamedTuple

if TYPE_CHECKING:
    from memoranda.stores.changes import Context

MOST_ABOVE: Final = 2**35
"""Half of a store's numbers: the other half is for what comes after the copy."""


class Origin(NamedTuple):
    """Where a store's history comes from; see ``Backend.take_up``.

    ``id_key`` is the other store's (``Store.id_key``). ``above`` (0 to ``MOST_ABOVE``) is at least the
    ``seq`` of each version that will come in: numbers of this store begin after it. ``context``
    becomes the first entry of the audit.
    """

    id_key: bytes
    above: int
    context: Context
