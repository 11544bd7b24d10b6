"""Restoring stores out of a backup, never over anything that is there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.digests import sha256
from memoranda.errors import Corrupt, DamagedBackup, MemorandaError, UnknownId, Unsupported
from memoranda.operations.backup.reading import BackupReader
from memoranda.operations.copying.copying import check_able, context_of, settle_info
from memoranda.operations.copying.history import Forward
from memoranda.operations.copying.replay import Replay
from memoranda.stores.base import Context, Origin
from memoranda.stores.companions import RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memoranda.operations.backup.frames import Read
    from memoranda.operations.backup.reading import StoreSaid
    from memoranda.stores.base import Backend, Store, Version

COMMAND: Final = "restore-backup"


class Restored(NamedTuple):
    """What was restored."""

    stores: int
    versions: int


async def restore_backup(
    backend: Backend,
    read: Read,
    actor: str,
    *,
    progress: Callable[[int, int], None] | None = None,
    total: int = 0,
) -> Restored:
    """Restore every store of a backup, each verified before the next one begins.

    A store with its id, or of its user, raises ``StoreExists`` and stays as it is. A store that
    can't be restored whole is erased again; those before it stay. Raises ``Corrupt``, and
    ``Unsupported`` where the backend can't take over a history. ``progress`` is told of versions,
    of which there are ``total``.
    """
    check_able(backend)
    reader = BackupReader(read)
    n_stores = n_versions = 0
    while (said := reader.store()) is not None:
        store = await backend.take_up(said.info, _origin(said, actor))
        try:
            n_here = await _restore(reader, store, said, _Tell(progress, n_versions, total))
            await settle_info(backend, said.info)
        except BaseException:
            await _take_back(backend, store, said, actor)
            raise
        await store.close()
        if said.info.workspace not in RESERVED:
            n_stores += 1
            n_versions += n_here
    return Restored(n_stores, n_versions)


class _Tell(NamedTuple):
    """Whom to tell how far it is: ``before`` versions were done with the stores before this one."""

    progress: Callable[[int, int], None] | None
    before: int
    total: int

    def done(self, n_versions: int) -> None:
        """So many of this store are done."""
        if self.progress is not None:
            self.progress(self.before + n_versions, self.total)


def _origin(said: StoreSaid, actor: str) -> Origin:
    return Origin(said.id_key, said.above, Context(actor, COMMAND, audit=said.audit))


async def _take_back(backend: Backend, store: Store, said: StoreSaid, actor: str) -> None:
    """Erase what this call made of a store."""
    with suppress(MemorandaError):
        for hold in await store.holds():
            await store.lift(hold.path, Context(actor, COMMAND))
    with suppress(MemorandaError):
        await store.close()
        await backend.erase(said.info.id, Context(actor, COMMAND), said.info.workspace)


async def _restore(reader: BackupReader, store: Store, said: StoreSaid, tell: _Tell) -> int:
    replay = Replay(())
    digest = _Digest()
    redacted: list[tuple[str, str | None]] = []
    done = 0
    while batch := reader.batch():
        if not store.capabilities.redacts and any(
            each.redacted_at_ns is not None for each in batch
        ):
            raise Unsupported("redaction, and the backup holds redacted versions")
        versions = await store.apply(replay.changes(batch), context_of(batch[0]))
        made = {each.memory_id: each.id for each in versions}
        redacted += [
            (made.get(each.memory_id, ""), each.redacted_by)
            for each in batch
            if each.redacted_at_ns is not None
        ]
        digest.add(batch)
        done += len(batch)
        tell.done(done)
    for version_id, by in redacted:
        with suppress(UnknownId):  # seen below
            await store.redact(version_id, Context(by or said.info.id, COMMAND))
    while (hold := reader.hold()) is not None:
        await store.hold(hold.path, hold.reason, Context(hold.actor, COMMAND))
    while (use := reader.use()) is not None:
        with suppress(Unsupported):
            await store.touch((use.path,), use.at_ns)
    if reader.store_end() != done:
        raise DamagedBackup("The backup can't be restored: versions are missing.")
    await _compare(store, digest, done)
    return done


async def _compare(store: Store, wanted: _Digest, n_versions: int) -> None:
    """See that the store holds the history that was read, and that it is sound."""
    found = _Digest()
    forward = Forward(store, None, lambda _: False)
    n_found = 0
    while batch := await forward.next():
        found.add(batch)
        n_found += len(batch)
    if (n_found, found.value) != (n_versions, wanted.value):
        raise Corrupt("What was restored differs from the backup; nothing of it was kept.")
    for problem in (await store.verify()).problems:
        raise Corrupt(f"What was restored is damaged: {problem.message}")


class _Digest:
    """A hash over a history: who changed which memory when and to what."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, batch: Iterable[Version]) -> None:
        """One batch, in any order."""
        self._hash.update(repr(sorted(map(_said, batch))).encode())

    @property
    def value(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()


def _said(version: Version) -> tuple[str, ...]:
    is_redacted = version.redacted_at_ns is not None
    path = None if is_redacted or version.path is None else version.path.store_path
    return (
        version.memory_id,
        str(version.operation == "deleted"),
        str(path),
        version.actor,
        version.command,
        str(version.trace_id),
        str(version.created_at_ns),
        str(None if is_redacted else version.sha256),
        str(is_redacted),
    )
