"""Points in a store's history, as people name them: by a version, or by a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from memoranda.errors import Corrupt, Misuse, Unsupported
from memoranda.operations.listing import newest_versions
from memoranda.stores.base import Moment, Store, Version, VersionFilter

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_END_OF_TIME_NS: Final = 2**63 - 1


async def present_moment(store: Store) -> Moment | None:
    """The present moment, with what people did to the files taken in; None if the store keeps no
    past."""
    if not store.capabilities.time_travel:
        return None
    return await store.moment(_END_OF_TIME_NS)


async def moment_of(store: Store, to: str | datetime) -> Moment:
    """The state right after the batch of a version (``memver_...``), or at an aware time.

    Raises ``UnknownId`` for no version of this store, ``Misuse`` for a time without a zone and
    ``Unsupported`` where the store keeps no past states.
    """
    if not store.capabilities.time_travel:
        raise Unsupported("looking back")
    if isinstance(to, datetime):
        return await store.moment(_ns_of(to))
    version = await store.version(to)
    return Moment(max(one.seq for one in await batch_of(store, version)))


async def batch_of(store: Store, version: Version) -> list[Version]:
    """All versions that the batch of ``version`` made, newest first."""
    at_ns = version.created_at_ns
    then = await newest_versions(store, VersionFilter(from_ns=at_ns, to_ns=at_ns))
    batch = [one for one in then if one.batch == version.batch]
    if not batch:
        raise Corrupt("The history does not hang together; memoranda verify tells more.")
    return batch


def _ns_of(time: datetime) -> int:
    if time.tzinfo is None:
        raise Misuse("The time needs a time zone, for example datetime.now(UTC).")
    # A datetime ends at microseconds; all of the one that is named belongs to it.
    return (time - _EPOCH) // _MICROSECOND * 1000 + 999
