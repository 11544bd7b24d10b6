"""Bodies of versions: whole, or as a delta against an older one; large ones in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoranda.stores.log.store_log import StoreLog


def content(log: StoreLog, seq: int) -> bytes:
    """The content of the version with this number, rebuilt from the log alone.

    Costs at most 32 rows. Raises ``Corrupt`` if what it stands on is missing. The caller knows that
    the event has a content (it is no removal, not redacted, not a directory's).
    """
    raise NotImplementedError
