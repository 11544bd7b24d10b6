"""Whether a copy is equal to what it was copied from: every version, every head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt
from memoranda.light_named_tuples import NamedTuple
from memoranda.operations.copying.history import Backward
from memoranda.operations.listing import memories_at
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import Context, Moment

if TYPE_CHECKING:
    from memoranda.stores.base import Store, Version

_DIFFERS: Final = (
    "The copy differs from its source at a version of {at}: {what}. Somebody changed one of the two "
    "meanwhile, or one is damaged: run memoranda verify on both, erase the copy, copy again."
)
_COMMAND: Final = "copy"


class _Shown(NamedTuple):
    """What has to be the same of a version, wherever it is."""

    operation: str
    path: MemoryPath | None
    actor: str
    command: str
    trace_id: str | None
    created_at_ns: int
    size_bytes: int | None
    sha256: str | None
    is_redacted: bool


class Compared(NamedTuple):
    """How many versions are the same in both, and how many late ones the copy lacks."""

    versions: int
    late: int


async def compare(source: Store, copy: Store, actor: str) -> Compared:
    """Compare all versions and heads; redact in the copy what is redacted in the source.

    What was written to the source after the copy's newest version counts for nothing. Raises ``Corrupt`` that names the first difference. Reads both
    histories, without contents.
    """
    theirs, ours = Backward(source), Backward(copy)
    check = _Check(copy, actor)
    ours_now = await ours.next()
    theirs_now = await theirs.next()
    while theirs_now and ours_now and not _is_same_batch(theirs_now, ours_now):
        theirs_now = await theirs.next()
    moment = Moment(max(each.seq for each in theirs_now)) if theirs_now else Moment(0)
    n_versions = 0
    while theirs_now or ours_now:
        await check.batch(theirs_now, ours_now)
        n_versions += len(ours_now)
        theirs_now, ours_now = await theirs.next(), await ours.next()
    await _compare_heads(source, copy, moment)
    return Compared(n_versions, theirs.n_late)


def _is_same_batch(theirs: list[Version], ours: list[Version]) -> bool:
    return theirs[0].created_at_ns == ours[0].created_at_ns and {
        each.memory_id for each in theirs
    } == {each.memory_id for each in ours}


class _Check:
    """Compares batches, newest first."""

    def __init__(self, copy: Store, actor: str) -> None:
        self._copy = copy
        self._actor = actor
        self._begun: set[str] = set()
        """Memories of which nothing older is kept: the oldest version that is makes the memory in the
        copy, whatever it did in the source."""

    async def batch(self, theirs: list[Version], ours: list[Version]) -> None:
        """One batch of both."""
        of_ours = {each.memory_id: each for each in ours}
        if len(theirs) != len(ours) or of_ours.keys() != {each.memory_id for each in theirs}:
            raise _differs((theirs or ours)[0], "not the same memories were changed")
        for their in theirs:
            await self._version(their, of_ours[their.memory_id])

    async def _version(self, their: Version, our: Version) -> None:
        if their.memory_id in self._begun:
            raise _differs(their, "a memory began with it")
        if their.redacted_at_ns is not None and our.redacted_at_ns is None:
            by = Context(their.redacted_by or self._actor, _COMMAND)
            our = await self._copy.redact(our.id, by)
        if (their.operation, our.operation) == ("modified", "created"):
            self._begun.add(their.memory_id)
            our = our._replace(operation="modified")
        mine, other = _shown(our), _shown(their)
        for name, a, b in zip(_Shown._fields, mine, other, strict=True):
            if a != b:
                raise _differs(their, name)


def _shown(version: Version) -> _Shown:
    return _Shown(
        version.operation,
        version.path,
        version.actor,
        version.command,
        version.trace_id,
        version.created_at_ns,
        version.size_bytes,
        version.sha256,
        version.redacted_at_ns is not None,
    )


async def _compare_heads(source: Store, copy: Store, moment: Moment) -> None:
    at = moment if source.capabilities.time_travel else None
    theirs = await memories_at(source, ROOT, at)
    ours = await memories_at(copy, ROOT)
    if theirs.keys() != ours.keys():
        raise Corrupt("The copy has not the same memories as its source; erase it, copy again.")
    for memory_id, their in theirs.items():
        our = ours[memory_id]
        if (our.path, our.sha256, our.size_bytes) != (their.path, their.sha256, their.size_bytes):
            raise Corrupt(f"The copy differs from its source at {their.path}; copy again.")


def _differs(version: Version, what: str) -> Corrupt:
    return Corrupt(_DIFFERS.format(at=version.created_at.isoformat(), what=what))
