"""Copy what a store holds now, without its past: into any backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt, OtherContents
from memoranda.operations.copying.copying import COMMAND, Copied, Progress, settle_info
from memoranda.operations.listing import list_all
from memoranda.operations.moments import present_moment
from memoranda.path import ROOT
from memoranda.stores.base import Context, Entry, Expect, Put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Backend, Moment, Store, StoreInfo

COPIED_FROM: Final = "memoranda.copied_from"
"""In the metadata of a store that no user has: the id of the one that it is a copy of."""

_AT_ONCE: Final = 100
_AT_ONCE_BYTES: Final = 4 * 1024 * 1024


async def copy_heads(
    source: Backend,
    info: StoreInfo,
    target: Backend,
    actor: str,
    *,
    into_existing: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Copied:
    """Bring the present memories of a store into ``target``, and compare paths, sizes and hashes.

    They are those of one moment; ids, versions and times are the copy's own. What lies in the copy
    already with the same content is passed over, so an interrupted copy goes on. A store with other
    contents raises ``OtherContents``; ``into_existing`` allows other paths beside the copied ones,
    never another content at the same path.
    """
    store = await source.open(info.id, info.workspace)
    try:
        moment = await present_moment(store)
        wanted = await _heads(store, moment)
        into = await _find(target, info)
        there = {} if into is None else await _heads(into)
        _check(wanted, there, into_existing=into_existing)
        n_before = len(wanted.keys() & there.keys())
        if not dry_run:
            into = into or await _make(target, info)
            missing = [entry for path, entry in wanted.items() if path not in there]
            await _put(store, missing, into, Context(actor, COMMAND), progress)
            await _compare(wanted, into, into_existing=into_existing)
            await _settle(target, into, info)
        return Copied(info.id, info.user, len(wanted), n_before)
    finally:
        await store.close()


async def _heads(store: Store, at: Moment | None = None) -> dict[MemoryPath, Entry]:
    entries = await list_all(store, ROOT, at=at)
    return {each.path: each for each in entries if isinstance(each, Entry)}


def _check(
    wanted: dict[MemoryPath, Entry], there: dict[MemoryPath, Entry], *, into_existing: bool
) -> None:
    for path, entry in there.items():
        source = wanted.get(path)
        if source is None:
            if not into_existing:
                raise OtherContents
        elif source.sha256 != entry.sha256:
            raise OtherContents


async def _find(target: Backend, info: StoreInfo) -> Store | None:
    if info.user is not None:
        return await target.for_user(info.user, info.workspace)
    after: str | None = None
    while True:
        page = await target.list(info.workspace, after=after)
        for found in page.stores:
            if found.id == info.id or found.metadata.get(COPIED_FROM) == info.id:
                return await target.open(found.id, found.workspace)
        after = page.after
        if after is None:
            return None


async def _make(target: Backend, info: StoreInfo) -> Store:
    made = await target.create(
        info.name,
        workspace=info.workspace,
        description=info.description,
        metadata={**info.metadata, COPIED_FROM: info.id},
    )
    return await target.open(made.id, made.workspace)


async def _put(
    store: Store,
    entries: Sequence[Entry],
    into: Store,
    context: Context,
    progress: Progress | None,
) -> None:
    puts: list[Put] = []
    size_bytes = done = 0
    for number, entry in enumerate(entries, 1):
        content = (await store.version(entry.version_id)).content
        if content is None:
            raise Corrupt(f"{entry.path} was replaced and redacted meanwhile; copy again.")
        puts.append(Put(entry.path, content, Expect.ABSENT))
        size_bytes += len(content)
        if len(puts) >= _AT_ONCE or size_bytes >= _AT_ONCE_BYTES or number == len(entries):
            await into.apply(puts, context)
            done += len(puts)
            puts, size_bytes = [], 0
            if progress is not None:
                progress(done, len(entries))


async def _compare(wanted: dict[MemoryPath, Entry], into: Store, *, into_existing: bool) -> None:
    there = await _heads(into)
    for path, entry in wanted.items():
        found = there.pop(path, None)
        if found is None or (found.sha256, found.size_bytes) != (entry.sha256, entry.size_bytes):
            raise Corrupt(f"The copy differs from its source at {path}; copy again.")
    if there and not into_existing:
        raise OtherContents
    for problem in (await into.verify()).problems:
        raise Corrupt(f"The copy is damaged: {problem.message}")


async def _settle(target: Backend, into: Store, info: StoreInfo) -> None:
    store_id = into.id
    await into.close()
    if info.user is None:
        metadata = {**info.metadata, COPIED_FROM: info.id}
        await settle_info(target, info._replace(id=store_id, metadata=metadata))
    elif await target.find_user(info.user, info.workspace) is not None:
        await settle_info(target, info._replace(id=store_id))
