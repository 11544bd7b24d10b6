"""Writing a backup: each store as of one moment, its whole history, batch by batch."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.errors import Unsupported
from memoranda.operations.backup import frames
from memoranda.operations.copying.copying import holds_of, origin_of, placed, proposals_of
from memoranda.operations.copying.history import Forward
from memoranda.operations.copying.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.operations.backup.frames import FrameWriter, Write
    from memoranda.operations.copying.copying import Progress
    from memoranda.stores.base import Backend, Store, StoreInfo, Version

COMMAND: Final = "backup"
LARGEST_BATCH_BYTES: Final = 256 * 1024 * 1024
"""A batch is restored at once, so it has to fit into memory."""


class Written(NamedTuple):
    """What a backup holds."""

    stores: int
    versions: int


async def write_backup(
    backend: Backend,
    infos: Sequence[StoreInfo],
    write: Write,
    actor: str,
    *,
    progress: Progress | None = None,
) -> Written:
    """Write stores as a backup (``docs/formats/backup.md``); proposals about them too.

    A store is as it was when its turn came, however many write meanwhile. Holds the contents of
    one batch in memory. ``progress`` is told of versions for one store, else of stores. Raises
    ``Unsupported`` for a store that can't be restored.
    """
    out = frames.FrameWriter(write)
    n_stores = n_versions = 0
    for number, info in enumerate(infos, 1):
        n_versions += await _store(backend, info, out, actor, progress if len(infos) == 1 else None)
        n_stores += 1
        waiting = await proposals_of(backend, info)
        if waiting is not None:
            await _store(backend, waiting, out, actor, None)
            n_stores += 1
        if progress is not None and len(infos) > 1:
            progress(number, len(infos))
    out.fields(frames.END, stores=n_stores)
    return Written(len(infos), n_versions)


async def _store(
    backend: Backend, info: StoreInfo, out: FrameWriter, actor: str, progress: Progress | None
) -> int:
    store = await backend.open(info.id, info.workspace)
    try:
        origin = await origin_of(store, info, actor, COMMAND)
        out.fields(
            frames.STORE,
            **{**info._asdict(), "metadata": dict(info.metadata)},
            id_key=origin.id_key.hex(),
            above=origin.above,
            audit=dict(origin.context.audit),
        )
        replay = Replay(())
        reader = Forward(store, None, replay.needs_content)
        done = 0
        while batch := await reader.next():
            if sum(len(each.content or b"") for each in batch) > LARGEST_BATCH_BYTES:
                raise Unsupported(f"batches of more than {LARGEST_BATCH_BYTES} bytes in a backup")
            batch = [await placed(store, each) for each in batch]
            for version in batch:
                _version(out, version)
            replay.changes(batch)
            done += len(batch)
            if progress is not None:
                progress(done, max(done, reader.total))
        await _beside(store, out)
        out.fields(frames.STORE_END, versions=done)
        return done
    finally:
        await store.close()


def _version(out: FrameWriter, version: Version) -> None:
    content = version.content
    out.fields(
        frames.VERSION,
        memory_id=version.memory_id,
        operation=version.operation,
        path=None if version.path is None else version.path.store_path,
        actor=version.actor,
        command=version.command,
        trace_id=version.trace_id,
        created_at_ns=version.created_at_ns,
        batch=version.batch,
        sha256=version.sha256,
        redacted=version.redacted_at_ns is not None,
        redacted_by=version.redacted_by,
        content_bytes=None if content is None else len(content),
    )
    for start in range(0, len(content or b""), frames.LARGEST_FRAME):
        out.frame(frames.CONTENT, (content or b"")[start : start + frames.LARGEST_FRAME])


async def _beside(store: Store, out: FrameWriter) -> None:
    for hold in await holds_of(store):
        path = "" if hold.path.is_root else hold.path.store_path
        out.fields(frames.HOLD, path=path, reason=hold.reason, actor=hold.actor)
    with suppress(Unsupported):
        for used, at_ns in (await store.uses()).items():
            out.fields(frames.USE, path=used.store_path, at_ns=at_ns)
