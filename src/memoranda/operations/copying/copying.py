"""Copy one store into another backend: its whole history, and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from memoranda.errors import Corrupt, OtherContents, StoreExists, UnknownId, Unsupported
from memoranda.light_named_tuples import NamedTuple
from memoranda.operations.copying.comparing import Compared, compare
from memoranda.operations.copying.history import Backward, Forward
from memoranda.operations.copying.replay import Replay
from memoranda.operations.listing import memories_at, newest_versions
from memoranda.path import ROOT
from memoranda.stores.base import Context, Origin, Retention, VersionFilter
from memoranda.stores.companions import PROPOSALS, RESERVED, label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Backend, Hold, Store, StoreInfo, Version

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many versions are done, and how many there are."""

COMMAND: Final = "copy"
ROOM: Final = 2**24
"""So many versions may come in the store that is copied until a copy of it can't go on."""

_FOR_EVER: Final = Retention(keep_days=0)
_CHANGING: Final = "The store was changed all the time while it was copied; copy it again."
_TRIES: Final = 10


class Copied(NamedTuple):
    """What became of one store: how many versions its copy holds, and how many of them were there
    before (an interrupted copy went on after them). ``versions`` are memories where only heads
    were copied."""

    store_id: str
    user: str | None
    versions: int
    before: int
    left_out: int = 0
    """Late versions: text that was saved into a file that was already replaced."""


async def copy_store(
    source: Backend,
    info: StoreInfo,
    target: Backend,
    actor: str,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Copied:
    """Bring the store that ``info`` tells of into ``target``, with its history, and verify it.

    Memories keep their ids, versions their actors, commands, trace ids, times and hashes; versions
    get ids of the copy. Redacted versions stay redacted. Names, metadata, holds, last uses, being
    archived and proposals come along; the audit begins anew, with an entry that says whence.

    Interrupted at any moment, the next call goes on where it was. What was written to the source
    meanwhile, or since an earlier copy, comes too. A store that holds anything else raises
    ``OtherContents``. Raises ``Unsupported`` where one of the two can't, before anything is changed,
    and ``Corrupt`` where the copy differs in the end. Costs a read and a durable write a batch.
    """
    check_able(target)
    store = await source.open(info.id, info.workspace)
    try:
        if not target.capabilities.audits and await holds_of(store):
            raise Unsupported(
                "holds, and the store is held (lift them, or copy to another backend)"
            )
        if not target.capabilities.redacts and await _has_redacted(store):
            raise Unsupported("redaction, and the history holds redacted versions")
        copy = _Copy(store, info, target, actor)
        done = await copy.run(dry_run=dry_run, progress=progress)
    finally:
        await store.close()
    waiting = await proposals_of(source, info)
    if waiting is not None:
        await copy_store(source, waiting, target, actor, dry_run=dry_run)
    return done


async def _has_redacted(store: Store) -> bool:
    reader = Backward(store)
    while batch := await reader.next():
        if any(each.redacted_at_ns is not None for each in batch):
            return True
    return False


async def proposals_of(source: Backend, info: StoreInfo) -> StoreInfo | None:
    """The store of what waits for a person about a store."""
    if info.workspace in RESERVED:
        return None
    return await source.find_user(label_of(info), PROPOSALS)


async def holds_of(store: Store) -> Sequence[Hold]:
    """What is held; nothing where a store has no holds."""
    try:
        return await store.holds()
    except Unsupported:
        return ()


async def origin_of(store: Store, info: StoreInfo, actor: str, command: str) -> Origin:
    """What the copy of a store begins with: the key of its ids, and whence it comes."""
    newest = (await store.versions(limit=1)).versions
    usage = await store.usage()
    said = {"from": info.id, "versions": usage.versions, "files": usage.files}
    if store.capabilities.audits:
        head = (await store.verify_audit()).head
        said |= {"audit_entry": head.seq, "audit_chain": head.chain}
    above = (newest[0].seq if newest else 0) + ROOM
    return Origin(await store.id_key(), above, Context(actor, command, audit=said))


async def placed(store: Store, version: Version) -> Version:
    """The version; a redacted one with its path, if the memory was removed from there next."""
    if version.redacted_at_ns is None or version.operation == "deleted":
        return version
    where = VersionFilter(memory_id=version.memory_id, from_ns=version.created_at_ns)
    next_path: MemoryPath | None = None
    for each in await newest_versions(store, where):
        if each.id == version.id:
            return version._replace(path=next_path)
        if not each.late:
            next_path = each.path if each.operation == "deleted" else None
    return version


def check_able(target: Backend) -> None:
    """Raise ``Unsupported`` where a backend can't take over a history."""
    if not target.capabilities.takes_history:
        raise Unsupported("taking over a history (heads can be copied: --heads-only)")


class _Copy:
    def __init__(self, store: Store, info: StoreInfo, target: Backend, actor: str) -> None:
        self._store = store
        self._info = info
        self._target = target
        self._actor = actor

    async def run(self, *, dry_run: bool, progress: Progress | None) -> Copied:
        into = await find_copy(self._target, self._info)
        if into is not None:
            await self._place_in(into)
        if dry_run:
            done = 0 if into is None else (await into.usage()).versions
            return Copied(*self._info_of, (await self._store.usage()).versions, done)
        if into is None:
            into = await self._target.take_up(
                self._info, await origin_of(self._store, self._info, self._actor, COMMAND)
            )
        try:
            brought = await self._bring(into, progress)
            compared = await self._settle(into)
        finally:
            await into.close()
        n_before = compared.versions - brought
        return Copied(*self._info_of, compared.versions, n_before, compared.late)

    @property
    def _info_of(self) -> tuple[str, str | None]:
        return self._info.id, self._info.user

    # ---- the history

    async def _bring(self, into: Store, progress: Progress | None) -> int:
        """Bring batches over until there are no more; of how many versions."""
        done = 0
        for _ in range(_TRIES):
            place = await self._place_in(into)
            replay = Replay((await memories_at(into, ROOT)).values())
            reader = Forward(self._store, place.from_ns, replay.needs_content)
            skip = place.n_then
            moved = False
            while batch := await reader.next():
                if skip:
                    skip -= len(batch)
                    continue
                changes = replay.changes([await placed(self._store, each) for each in batch])
                await into.apply(changes, context_of(batch[0]))
                moved = True
                done += len(batch)
                if progress is not None:
                    progress(done, max(reader.total - place.n_then, done))
            if not moved:
                return done
        raise Corrupt(_CHANGING)

    async def _place_in(self, into: Store) -> _Place:
        """Up to where the copy holds the history; raises ``OtherContents`` where it holds anything
        else."""
        if await into.id_key() != await self._store.id_key():
            raise OtherContents
        newest = (await into.versions(limit=1)).versions
        if not newest:
            return _Place(None, 0)
        at_ns = newest[0].created_at_ns
        then = VersionFilter(from_ns=at_ns, to_ns=at_ns)
        here = await _signs(into, then, None)
        there = await _signs(self._store, then, len(here))
        if here != there:
            raise OtherContents
        return _Place(at_ns, len(here))

    # ---- what belongs to it

    async def _settle(self, into: Store) -> Compared:
        compared = await compare(self._store, into, self._actor)
        held = {each.path for each in await holds_of(into)}
        for hold in await holds_of(self._store):
            if hold.path not in held:
                await into.hold(hold.path, hold.reason, Context(hold.actor, COMMAND))
        with suppress(Unsupported):  # one of the two doesn't note them
            for path, at_ns in (await self._store.uses()).items():
                await into.touch((path,), at_ns)
            await into.flush()
        await settle_info(self._target, self._info)
        report = await into.verify()
        for problem in report.problems:
            raise Corrupt(f"The copy is damaged: {problem.message}")
        return compared


class _Place(NamedTuple):
    """Where a copy is: the time of its newest version, and how many versions it has of that time."""

    from_ns: int | None
    n_then: int


async def find_copy(target: Backend, info: StoreInfo) -> Store | None:
    """The store that is the copy of this one, or will be when it is whole; None if there is none.

    Raises ``StoreExists`` where the user has another store.
    """
    if info.user is not None:
        found = await target.find_user(info.user, info.workspace)
        if found is not None and found.id != info.id:
            raise StoreExists
    try:
        found = await target.info(info.id, info.workspace)
    except UnknownId:
        return None
    if found.user != info.user:
        raise StoreExists
    return await target.open(info.id, info.workspace)


async def settle_info(target: Backend, info: StoreInfo) -> None:
    """Have names, metadata and being archived be those of the source."""
    await target.update(
        info.id,
        info.workspace,
        name=info.name,
        description=info.description,
        metadata=info.metadata,
    )
    if info.archived_at_ns is not None:
        await target.archive(info.id, info.workspace)


def context_of(version: Version) -> Context:
    """The context of a batch that is taken over, from one of its versions."""
    return Context(
        version.actor,
        version.command,
        version.trace_id,
        retention=_FOR_EVER,
        at_ns=version.created_at_ns,
    )


async def _signs(store: Store, then: VersionFilter, most: int | None) -> list[tuple[str, str, str]]:
    """What tells versions of one time apart, the oldest ``most`` of them, sorted."""
    reader = Forward(store, then.from_ns, lambda _: False)
    found: list[tuple[str, str, str]] = []
    while batch := await reader.next():
        if batch[0].created_at_ns != then.from_ns or (most is not None and len(found) >= most):
            break
        found += [(each.memory_id, each.actor, each.command) for each in batch]
    return sorted(found)
